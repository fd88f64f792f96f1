import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { innbound } from '../../support/process.ts';
import { listPage, replyOf } from './support/list.ts';
import { type Asked, arriving, bookings, type Reply, type ScriptedPartner, startPartner } from './support/partner.ts';

/** The commands as people and scripts call them. */
const book = bookings(25, '2026-03-01', 5);
let dir: string;
let database: TestDatabase;
let partner: ScriptedPartner;
let instead: Reply | ((asked: Asked) => Reply) | undefined;

/** One account with two properties. */
const chain = {
  'connectors/chain.yaml': `connector: chain
pull:
  request: { path: /chain, query: { from: "{window.from}", to: "{window.to}" } }
  property: hotel
`,
  'integrations/first.yaml': `integration: first
connector: chain
brand_id: H1
timezone: Europe/Lisbon
pull: { base_url: BASE_URL, auth: { type: none } }
deliver: [folder]
`,
  'integrations/second.yaml': `integration: second
connector: chain
brand_id: H2
timezone: Europe/Lisbon
pulled_by: first
deliver: [folder]
`,
  'connectors/events-only.yaml': `connector: events-only
pull: { single: { path: "/bookings/{id}" } }
push: { thin: { id: id } }
`,
  'integrations/hooked.yaml': `integration: hooked
connector: events-only
brand_id: H3
timezone: Europe/Lisbon
pull: { base_url: BASE_URL, auth: { type: none } }
push: { enabled: true }
`,
  'destinations/folder.yaml': `destination: folder
type: files
path: delivered
`,
};

before(async () => {
  database = await testDatabase();
  partner = await startPartner((asked) => {
    if (typeof instead === 'function') return instead(asked);
    return instead ?? replyOf(listPage('offset', arriving(book, asked), asked));
  });
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-cli-'));
  const files: Record<string, string> = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/hotel.yaml': `connector: hotel
pull:
  request: { path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: offset, offset: query.offset, limit: query.limit, page_size: 10 }
shape: { root_path: reservations }
`,
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
pull:
  base_url: ${partner.url}
  auth: { type: bearer, token: letmein }
  syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } }
`,
  };
  for (const [name, text] of Object.entries({ ...files, ...chain })) {
    await mkdir(path.dirname(path.join(dir, name)), { recursive: true });
    await writeFile(path.join(dir, name), text.replace('BASE_URL', partner.url));
  }
});
after(async () => {
  await partner.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

async function call(...args: string[]): Promise<{ code: number | null; out: string; said: string }> {
  const ran = await innbound([...args, '--workspace', dir], { env: { DATABASE_URL: database.url } });
  return { code: ran.code, out: ran.stdout, said: ran.stderr };
}

const range = ['--from', '2026-03-01', '--to', '2026-03-05'];

test('sync reports its result, exits 0 only if complete, and appears in runs', async () => {
  const dry = await call('sync', 'grand', ...range, '--dry-run', '--json');
  assert.equal(dry.code, 0, dry.said);
  assert.deepEqual(pick(dry.out), {
    status: 'complete',
    fetched: 25,
    changed: 25,
    unchanged: 0,
    dead_lettered: 0,
    dry_run: true,
  });

  const first = await call('sync', 'grand', ...range, '--json');
  assert.equal(first.code, 0, first.said);
  assert.deepEqual(pick(first.out), { status: 'complete', fetched: 25, changed: 25, unchanged: 0, dead_lettered: 0 });

  const spoken = await call('sync', 'grand', '--type', 'pre_stay', ...range);
  assert.equal(spoken.code, 0, spoken.said);
  assert.match(spoken.out, / complete, .*\n.* 25 records\n {2}changed 0, unchanged or listed again 25,/);
  assert.match(spoken.said, /^pulling 2026-03-01 to 2026-03-05\n/);
  assert.doesNotMatch(spoken.said, / 0 %|░/);

  instead = {
    json: {
      reservations: [...bookings(2, '2026-03-01'), ...book.slice(2)].map((row, i) =>
        i < 2 ? { ...row, check_in: 'soon' } : row,
      ),
    },
  };
  const wrong = await call('sync', 'grand', ...range, '--dry-run');
  assert.match(
    wrong.out,
    /code record\.\w+, message .*check_in.*, records 2/,
    'a dry run leaves no dead letters to list',
  );

  instead = { status: 400, json: { message: 'dateFrom is not a date' } };
  const failed = await call('sync', 'grand', ...range, '--json');
  assert.equal(failed.code, 1);
  const result = JSON.parse(failed.out);
  assert.equal(result.status, 'failed');
  assert.equal(result.error.code, 'pull.bad_request');
  assert.match(result.last_request.url, /\/api\/reservations\?dateFrom=2026-03-01&dateTo=2026-03-05/);
  assert.equal(result.last_request.headers.Authorization, '***');
  const shown = await call('runs', result.run_id);
  assert.match(
    shown.out,
    /last request:\n +url +http.*dateFrom=2026-03-01[\s\S]*status +400[\s\S]*Authorization +\*\*\*/,
  );
  assert.equal(result.error.message, 'the partner answered 400');
  assert.equal(result.error.has_partner_text, true);

  const dryFailure = await call('sync', 'grand', ...range, '--dry-run', '--partner-text');
  assert.match(dryFailure.said, /own words: dateFrom is not a date/, 'a dry run leaves no run to look them up in');

  const list = await call('runs', '--json');
  const runs = list.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual(
    runs.map((run) => [run.status, run.sync, run.fetched]),
    [
      ['failed', 'backfill', 0],
      ['complete', 'pre_stay', 25],
      ['complete', 'backfill', 25],
    ],
  );
  const detail = await call('runs', runs[2].run_id);
  assert.match(detail.out, /requested by +cli/);
  assert.match(detail.out, /from 2026-03-01, to 2026-03-05, passes 2, pages 6, requests 6/);
});

test('an impossible request is refused with the possible values', async () => {
  const unknown = await call('sync', 'gran', '--type', 'stay', '--json');
  assert.equal(unknown.code, 1);
  assert.match(JSON.parse(unknown.out).error.message, /in force: .*grand/);
  const none = await call('sync', 'grand', '--type', 'stay', '--json');
  assert.equal(JSON.parse(none.out).error.code, 'pull.no_such_sync');
  const unlisted = await call('sync', 'hooked', '--from', '2026-03-01', '--to', '2026-03-05', '--json');
  assert.equal(JSON.parse(unlisted.out).error.code, 'pull.no_such_sync');
  assert.match(JSON.parse(unlisted.out).error.message, /describes no list of reservations/);
  const backwards = await call('sync', 'grand', '--from', '2026-03-05', '--to', '2026-03-01', '--json');
  assert.equal(JSON.parse(backwards.out).error.code, 'pull.bad_range');
  const malformed = await call('sync', 'grand', '--from', '1.2.2026');
  assert.equal(malformed.code, 1);
  assert.match(malformed.said, /Write the date as YYYY-MM-DD/);
  const impossible = await call('sync', 'grand', '--from', '2026-11-31', '--to', '2026-12-01', '--json');
  assert.equal(impossible.code, 1);
  assert.deepEqual([JSON.parse(impossible.out).error.code, impossible.said], ['operate.usage', '']);
  assert.match(JSON.parse(impossible.out).error.message, /'--from <date>'.*2026-11-31 does not exist in the calendar/);
  const half = await call('sync', 'grand', '--from', '2026-03-01', '--json');
  assert.equal(half.code, 1);
  assert.match(JSON.parse(half.out).error.message, /both --from and --to/);
  const misspelled = await call('sync', 'grand', '--form', '2026-03-01', '--json');
  assert.match(JSON.parse(misspelled.out).error.message, /unknown option '--form'.*Did you mean --from/);
  const kind = await call('sync', 'grand', '--type', 'poststay', '--json');
  assert.match(JSON.parse(kind.out).error.message, /Allowed choices are pre_stay, stay, post_stay/);
  const command = await call('sinc', '--json');
  assert.match(JSON.parse(command.out).error.message, /unknown command 'sinc'/);
  const state = await call('runs', '--status', 'done', '--json');
  assert.match(
    JSON.parse(state.out).error.message,
    /Allowed choices are queued, running, complete, incomplete, failed/,
  );
  const missing = await call('runs', 'run_nowhere', '--json');
  assert.equal(JSON.parse(missing.out).error.code, 'operate.not_found');
});

test('a dry run counts like a real one, also if windows list the same reservations', async () => {
  instead = { json: { reservations: book.slice(0, 7) } };
  const month = ['--from', '2026-04-01', '--to', '2026-04-28', '--json'];
  await call('sync', 'grand', ...range);
  instead = { json: { reservations: book.slice(0, 7).map((one) => ({ ...one, channel: 'DIRECT' })) } };
  const dry = JSON.parse((await call('sync', 'grand', ...month, '--dry-run')).out);
  const real = JSON.parse((await call('sync', 'grand', ...month)).out);
  const counts = ({ fetched, changed, unchanged, requests }: Record<string, number>) => [
    fetched,
    changed,
    unchanged,
    requests,
  ];
  // A short first page without a total is confirmed by one more request per window.
  assert.deepEqual(counts(dry), [28, 7, 21, 8]);
  assert.deepEqual(counts(real), counts(dry));
});

test('a dry run of a sync warns of a partner that leaves out the ends of each range', async () => {
  const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
  const long = bookings(7, inDays(1), 1).map((one, i) => ({ ...one, check_out: inDays(i + 6) }));
  instead = (asked) => {
    const [from, to] = [asked.query.get('dateFrom') ?? '', asked.query.get('dateTo') ?? ''];
    const between = long.filter(({ check_in: day }) => day > from && day < to);
    return replyOf(listPage('offset', between, asked));
  };
  const dry = await call('sync', 'grand', '--type', 'pre_stay', '--dry-run', '--json');
  assert.match(JSON.parse(dry.out).warning ?? '', /window\.before.*window\.after/, dry.out);
});

test('sync names the files whose edits are not in force', async () => {
  const file = path.join(dir, 'connectors', 'hotel.yaml');
  const text = await readFile(file, 'utf8');
  const range = ['--from', '2026-03-01', '--to', '2026-03-01', '--dry-run'];
  assert.doesNotMatch((await call('sync', 'grand', ...range)).said, /not applied/);
  await writeFile(file, `${text}# edited\n`);
  assert.match(
    (await call('sync', 'grand', ...range)).said,
    /connectors\/hotel\.yaml is not applied yet.*innbound apply/,
  );
  assert.equal((await call('apply')).code, 0);
  assert.doesNotMatch((await call('sync', 'grand', ...range)).said, /not applied/);
  await writeFile(file, text);
  await call('apply');
});

test('without a service, sync delivers for every brand that the poll serves', async () => {
  instead = { json: book.slice(0, 4).map((row, i) => ({ ...row, hotel: i % 2 === 0 ? 'H1' : 'H2' })) };
  const pulled = await call('sync', 'first', ...range, '--json');
  assert.equal(JSON.parse(pulled.out).changed, 4, pulled.out);
  const files = await readdir(path.join(dir, 'delivered'), { recursive: true });
  const texts = files
    .filter((file) => file.endsWith('.ndjson'))
    .map((file) => readFile(path.join(dir, 'delivered', file), 'utf8'));
  const lines = (await Promise.all(texts)).join('').trim().split('\n');
  assert.deepEqual(lines.map((line) => JSON.parse(line).integration).toSorted(), [
    'first',
    'first',
    'second',
    'second',
  ]);
});

function pick(out: string): object {
  const { status, fetched, changed, unchanged, dead_lettered, dry_run } = JSON.parse(out);
  return { status, fetched, changed, unchanged, dead_lettered, ...(dry_run && { dry_run }) };
}

test('a bad connector stops only the sync of brands that use it', async () => {
  const own = await testDatabase();
  const broken = path.join(dir, 'connectors', 'broken.yaml');
  const user = path.join(dir, 'integrations', 'unlucky.yaml');
  await writeFile(broken, 'connector: broken\npull: { request: { path: list } }\n');
  await writeFile(user, 'integration: unlucky\nconnector: broken\nbrand_id: X\ntimezone: UTC\n');
  const sync = (name: string) =>
    innbound(['sync', name, ...range, '--workspace', dir, '--json'], { env: { DATABASE_URL: own.url } });
  try {
    instead = undefined;
    const bad = await sync('unlucky');
    assert.equal(JSON.parse(bad.stdout).error.code, 'documents.invalid');
    const good = await sync('grand');
    assert.equal(JSON.parse(good.stdout).status, 'complete', good.stderr);
    assert.match(good.stderr, /connectors\/broken\.yaml.* left out because of mistakes/);
  } finally {
    await own.drop();
    await rm(broken);
    await rm(user);
  }
});
