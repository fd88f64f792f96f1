import assert from 'node:assert/strict';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { type Simulator, sampleAuth, startSimulator } from '../../packages/partner-kit/src/simulate/index.ts';
import { connectorsDir, readCases } from '../connectors/cases.ts';
import { mews, type Row } from '../connectors/mews.ts';
import { type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { innbound } from '../support/process.ts';

/** A changed mapping, applied to everything that is stored, as an operator does it. */
let dir: string;
let database: TestDatabase;
let hotel: Simulator;
let partner: ScriptedPartner;
const golden = readCases('mews').find(({ name }) => name.includes('with-tables')) ?? assert.fail();

const desk = `connector: desk
pull:
  request:
    path: /api/reservations
    query: { dateFrom: "{window.from}", dateTo: "{window.to}" }
  pagination: { type: offset, offset: query.offset, limit: query.limit, page_size: 100 }
shape:
  root_path: reservations
values:
  board: { half_board: [HB], room_only: [RO], bed_and_breakfast: [BB], full_board: [FB], all_inclusive: [AI] }
`;

before(async () => {
  database = await testDatabase();
  hotel = await startSimulator({ seed: 5, reservations: 300, auth: sampleAuth.bearer });
  partner = await startPartner(mews(golden.response as Record<string, Row[]>, 1000));
  dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-reprocess-'));
  // Without a lag, a repeated row counts as of its newest poll: the state after half an hour of polling.
  await write('innbound.yaml', 'network: { allow_private: true }\n');
  await write('connectors/desk.yaml', desk);
  await write(
    'integrations/lisbon-grand.yaml',
    `integration: lisbon-grand
connector: desk
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: ${hotel.baseUrl}
  auth: { type: bearer, token: sim-token }
  lag: 0s
  syncs:
    pre_stay: { every: 30m, range: [+1d, +14d] }
transforms:
  - when: 'channel == "BDC"'
    set: { source: '"booking site"' }
`,
  );
  await write('connectors/mews.yaml', await mewsConnector());
  await write(
    'integrations/prague.yaml',
    `integration: prague
connector: mews
brand_id: PRG01
timezone: ${golden.timezone}
pull:
  base_url: ${partner.url}
  lag: 0s
  auth: { type: custom, body: { ClientToken: client, AccessToken: access, Client: Innbound 1.0 } }
`,
  );
});
after(async () => {
  await hotel.stop();
  await partner.close();
  await database.drop();
  await rm(dir, { recursive: true, force: true });
});

const mewsConnector = () => readFile(path.join(connectorsDir, 'mews', 'connector.yaml'), 'utf8');

async function write(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
  await writeFile(path.join(dir, file), text);
}

async function command(...args: string[]) {
  const done = await innbound([...args, '--workspace', dir, '--json'], { env: { DATABASE_URL: database.url } });
  const [answer] = done.json();
  assert.ok(answer, done.stderr);
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers by name
  return answer as any;
}

async function applied(file: string, text: string): Promise<void> {
  await write(file, text);
  const done = await innbound(['apply', '--workspace', dir], { env: { DATABASE_URL: database.url } });
  assert.equal(done.code, 0, done.stderr);
}

test('after a reprocess, a dry run of the same windows finds nothing to change', async () => {
  const sync = (...more: string[]) => command('sync', 'lisbon-grand', '--type', 'pre_stay', ...more);
  const first = await sync();
  assert.ok(first.changed > 50, JSON.stringify(first));
  assert.equal((await sync()).changed, 0, 'the second poll shows every booking unchanged');
  await applied('connectors/desk.yaml', `${desk}map: { segment: { const: leisure } }\n`);
  const done = await command('reprocess', 'lisbon-grand', '--apply');
  assert.deepEqual([done.records, done.changed, done.refused], [first.changed, first.changed, 0], JSON.stringify(done));
  assert.deepEqual(done.refusals, []);
  assert.equal((await sync('--dry-run')).changed, 0);
  assert.equal((await sync()).changed, 0);
});

test('all brands of a connector are reprocessed at once', async () => {
  const done = await command('reprocess', '--connector', 'desk');
  assert.deepEqual([done.integration, done.changed, done.refused], ['lisbon-grand', 0, 0], JSON.stringify(done));
  for (const names of [[], ['lisbon-grand', '--connector', 'desk']]) {
    assert.equal((await command('reprocess', ...names)).error.code, 'operate.invalid_input');
  }
});

test('refused bookings are named with the reason', async () => {
  const strict = `${desk}map: { segment: { const: leisure }, check_in: arrival_day }\n`;
  await applied('connectors/desk.yaml', strict);
  const { changed, refused, refusals } = await command('reprocess', 'lisbon-grand', '--apply');
  assert.deepEqual([changed, refusals.length], [0, refused]);
  assert.ok(refused > 50);
  for (const { id, reason } of refusals) {
    assert.ok(id.length > 0);
    assert.match(reason, /check_in/);
  }
  const text = await innbound(['reprocess', 'lisbon-grand', '--workspace', dir], {
    env: { DATABASE_URL: database.url },
  });
  assert.ok(text.stdout.includes(`id ${refusals[0].id}, reason `), text.stdout);
  await applied('connectors/desk.yaml', desk);
});

const range = ['--from', '2026-05-06', '--to', '2026-05-08'];
const pull = (...more: string[]) => command('sync', 'prague', ...range, ...more);

const withTongue = async () =>
  (await mewsConnector()).replace('extra: &more { language: LanguageCode }', 'extra: &more { tongue: LanguageCode }');

test('a mapping that reads tables of the response is applied to stored bookings', async () => {
  const first = await pull();
  assert.equal(first.changed, golden.records.length, JSON.stringify(first));
  assert.equal((await pull()).changed, 0);
  await applied('connectors/mews.yaml', await withTongue());
  const done = await command('reprocess', 'prague', '--apply');
  assert.deepEqual([done.records, done.refused], [first.changed, 0], JSON.stringify(done));
  assert.ok(done.changed > 0);
  assert.equal((await pull('--dry-run')).changed, 0);
  const again = await command('reprocess', 'prague', '--apply');
  assert.deepEqual([again.changed, again.refused], [0, 0], 'a second time there is nothing to do');
});

test('a mapping that reads a table which was not stored is refused, and --refetch requests the bookings again', async () => {
  const before = partner.requests.length;
  await applied(
    'connectors/mews.yaml',
    (await withTongue()).replace('  source: Origin\n', '  source: { first: [$body.Source.Name, Origin] }\n'),
  );
  const preview = await command('reprocess', 'prague');
  assert.deepEqual([preview.changed, preview.refused], [0, golden.records.length], JSON.stringify(preview));
  assert.match(preview.refusals[0].reason, /\$body\.Source\.Name/);
  assert.equal(partner.requests.length, before);
  const done = await command('reprocess', 'prague', '--apply', '--refetch');
  assert.equal(done.refetched, golden.records.length, JSON.stringify(done));
  assert.equal((await pull('--dry-run')).changed, 0);
});
