import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { drainOnce } from '../../src/deliver/deliveries.ts';
import type { DeliverLimits } from '../../src/deliver/destination.ts';
import { destinationType as files } from '../../src/deliver/destinations/files/destination.ts';
import { folderStore } from '../../src/deliver/destinations/files/folder.ts';
import { findKeys } from '../../src/deliver/lake/find-keys.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { until } from '../support/process.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn, temporaryFolder } from './support.ts';

const limits: DeliverLimits = {
  batch: 1_000,
  deadlineMs: 30_000,
  leaseLeftMs: () => 60_000,
  signal: new AbortController().signal,
};

async function setUp(t: TestContext, settings: object = {}) {
  const { folder, remove } = await temporaryFolder();
  const offered = services(folder);
  t.after(async () => {
    await offered.close();
    await remove();
  });
  const open = (change: object = {}) =>
    files.open(files.settings.parse({ path: 'out', ...settings, ...change }), offered);
  const list = async () => (await readdir(path.join(folder, 'out'), { recursive: true })).sort();
  const lines = async (file = '') =>
    (await readFile(path.join(folder, 'out', file), 'utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as { data: { id: string } });
  return { root: path.join(folder, 'out'), open, list, lines };
}

test('a reader sees complete lines at every moment, and never fewer than before', async (t) => {
  const { root, open } = await setUp(t, { file_size: '64KiB' });
  const destination = open();
  let writing = true;
  let looks = 0;
  const reader = (async () => {
    let most = 0;
    while (writing) {
      const names = await readdir(root, { recursive: true }).catch(() => []);
      let lines = 0;
      for (const name of names.filter((one) => one.endsWith('.ndjson'))) {
        const text = await readFile(path.join(root, name), 'utf8');
        assert.ok(text.endsWith('\n'));
        for (const line of text.trimEnd().split('\n')) JSON.parse(line);
        lines += text.trimEnd().split('\n').length;
      }
      // Files are listed first and read later: only rows written in between may be missing.
      assert.ok(lines >= most || names.length === 0, `${lines} lines after ${most}`);
      most = Math.max(most, lines - 60);
      looks += 1;
    }
  })();
  for (let i = 0; i < 60; i++) {
    const batch = Array.from({ length: 20 }, (_, n) => delivery(reservation(`r${i}-${n}`)));
    assert.ok((await destination.deliver(batch, limits)).every(({ kind }) => kind === 'delivered'));
  }
  writing = false;
  await reader;
  await destination.close();
  assert.ok(looks > 3);
});

test('partitioned by the day of the change; files stop growing at their size', async (t) => {
  const { open, list } = await setUp(t, { file_size: '2KiB' });
  const destination = open();
  const early = { ...delivery(reservation('early')), changedAt: Date.UTC(2026, 10, 14, 23, 59, 59, 999) };
  for (let i = 0; i < 8; i++)
    await destination.deliver([delivery(reservation(`r${i}`)), ...(i === 0 ? [early] : [])], limits);
  const names = await list();
  assert.equal(names.filter((name) => /^date=2026-11-14\/changes_\w+\.ndjson$/.test(name)).length, 1);
  const today = names.filter((name) => /^date=2026-11-15\/changes_\w+\.ndjson$/.test(name));
  assert.ok(today.length >= 2 && today.length < 8, `${today.length} files`);
  assert.ok(names.every((name) => !name.includes('.tmp')));
});

test('half-written files of a killed writer are never seen, and removed later', async (t) => {
  const { root, open, list } = await setUp(t);
  await mkdir(path.join(root, 'date=2026-11-15'), { recursive: true });
  const left = path.join(root, 'date=2026-11-15', '.changes_x.ndjson.tmp');
  const fresh = path.join(root, 'date=2026-11-15', '.changes_y.ndjson.tmp');
  await writeFile(left, '{"half":');
  await writeFile(fresh, '{"half":');
  const hourAgo = Date.now() / 1_000 - 3_600;
  await utimes(left, hourAgo, hourAgo);
  await open().deliver([delivery(reservation('r'))], limits);
  const names = (await list()).filter((name) => name.includes('.tmp'));
  assert.deepEqual(names, ['date=2026-11-15/.changes_y.ndjson.tmp']);
});

test('a late write is not made: another node may be writing by now', async (t) => {
  const { open, list, lines } = await setUp(t);
  const destination = open();
  const cut = new AbortController();
  const first = destination.deliver([delivery(reservation('in time'))], limits);
  const second = destination.deliver([delivery(reservation('late'))], { ...limits, signal: cut.signal });
  cut.abort();
  assert.deepEqual(await first, [{ kind: 'delivered' }]);
  assert.equal((await second)[0]?.kind, 'retry');
  const third = await destination.deliver([delivery(reservation('later'))], limits);
  assert.deepEqual(third, [{ kind: 'delivered' }]);
  const [file, ...more] = (await list()).filter((name) => name.includes('.ndjson'));
  assert.deepEqual(more, []);
  assert.deepEqual(
    (await lines(file)).map(({ data }) => data.id),
    ['in time', 'later'],
  );
});

test('keys are found anywhere in the files that may hold them', async (t) => {
  const { root } = await setUp(t);
  await mkdir(root, { recursive: true });
  const keys = ['ib_first_key_of_all', 'ib_across_two_reads', 'ib_in_an_older_file', 'ib_in_no_file'];
  const [first = '', across = '', older = ''] = keys;
  const filler = Buffer.alloc((4 << 20) - first.length - 7, 'ib_');
  await writeFile(path.join(root, 'a.ndjson'), Buffer.concat([Buffer.from(first), filler, Buffer.from(`${across}"`)]));
  await writeFile(path.join(root, 'b.ndjson'), older);
  await writeFile(path.join(root, '.c.ndjson.tmp'), 'ib_in_no_file');
  await utimes(path.join(root, 'b.ndjson'), 1_000, 1_000);
  const store = folderStore(root, systemClock);
  const since = { changedAt: Date.now(), late: new AbortController().signal };
  assert.deepEqual([...(await findKeys(store, '', '.ndjson', new Set(keys), since))], [first, across]);
  assert.deepEqual(
    [...(await findKeys(store, '', '.ndjson', new Set(keys), { ...since, changedAt: 0 }))].sort(),
    [across, first, older].sort(),
  );
});

test('a folder that cannot be written is a retry, not a throw', async (t) => {
  const { root, open } = await setUp(t);
  await mkdir(path.dirname(root), { recursive: true });
  await writeFile(root, 'in the way');
  const [outcome] = await open().deliver([delivery(reservation('r'))], limits);
  assert.equal(outcome?.kind, 'retry');
  assert.ok(outcome && 'code' in outcome && outcome.code === 'deliver.write_failed');
});

test('an erasure removes the guest from older lines, and from nothing else', async (t) => {
  const { root, open } = await setUp(t, { file_size: '1KiB' });
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const rui = { first_name: 'Rui', email: 'rui@guests.example' };
  const exact = '12345678901234567.89';
  const first = open();
  const other = open();
  await first.deliver([delivery(reservation('r', { guests: [ana, rui], total_amount: exact }))], limits);
  await other.deliver([delivery(reservation('r2', { guests: [ana] }))], limits);
  await other.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 })], limits);
  const gone = {
    ...delivery(reservation('r', { guests: [rui] }), { version: 3, event: 'erased' }),
    erased: [{ email: ana.email }],
  };
  const [outcome] = await first.deliver([gone], limits);
  assert.equal(outcome?.kind, 'delivered');
  // The other node's growing file was rewritten: the node must not write the guest again.
  await other.deliver([delivery(reservation('r3', { guests: [rui] }))], limits);
  const names = (await readdir(root, { recursive: true })).filter((name) => name.endsWith('.ndjson'));
  const lines = (await Promise.all(names.map((name) => readFile(path.join(root, name), 'utf8'))))
    .join('')
    .trimEnd()
    .split('\n');
  const of = (id: string) => lines.filter((line) => line.includes(`"id":"${id}"`));
  assert.equal(lines.length, 5);
  assert.ok(of('r').every((line) => !line.includes('ana@guests')));
  assert.ok(of('r').some((line) => line.includes('rui@guests') && line.includes(`"total_amount":${exact}`)));
  assert.ok(of('r2').every((line) => line.includes('ana@guests')));
});

test('Parquet: an erasure rewrites the files that hold the guest, and changes nothing else', async (t) => {
  const { root, open } = await setUp(t, { format: 'parquet', file_size: '1KiB' });
  const ana = { guest_id: 'a', first_name: 'Ana', email: 'ana@guests.example', date_of_birth: '1990-02-03' };
  const extra = { loyalty_number: 'L-77120' };
  const rui = { first_name: 'Rui', email: 'rui@guests.example', marketing_consent: true, extra };
  const exact = '-12345678901234567.89';
  const rich = {
    total_amount: exact,
    guests: [ana, rui],
    extra: { tier: 'gold', nested: { list: [1, 'zwei', null] } },
    charges: [{ code: 'ROOM', amount: '0.000000001', quantity: 2 }, { description: 'Ö' }],
  };
  const first = open();
  const other = open();
  await first.deliver([delivery(reservation('r', rich))], limits);
  await other.deliver([delivery(reservation('r2', { guests: [ana] }))], limits);
  await other.deliver([delivery(reservation('r', { guests: [ana] }), { version: 2 })], limits);
  const profile = delivery(reservation('g'));
  const guest = { ...profile.message, type: 'guest' as const, data: { id: 'g', ...ana } };
  await other.deliver([{ ...profile, message: guest }], limits);
  const columns =
    'r.* exclude (guests), list_transform(guests, x -> x.email) as emails, guest.email as profile, total_amount::varchar as money';
  const read = () =>
    query(`select ${columns} from read_parquet('${root}/**/*.parquet') r order by id, version, idempotency_key`);
  const before = await read();
  const gone = {
    ...delivery(reservation('r', { guests: [rui] }), { version: 3, event: 'erased' }),
    erased: [{ email: ana.email }],
  };
  const forgotten = { ...guest, event: 'erased' as const, version: 2, data: { id: 'g' } };
  const outcomes = await first.deliver([gone, { ...profile, message: forgotten, erased: [ana] }], limits);
  assert.deepEqual(
    outcomes.map(({ kind }) => kind),
    ['delivered', 'delivered'],
  );
  await other.deliver([delivery(reservation('r3', { guests: [rui] }))], limits);
  const after = await read();
  assert.deepEqual(
    after.map(({ id, version, emails, profile: email }) => [id, version, emails, email]),
    [
      ['g', 1, null, null],
      ['g', 2, null, null],
      ['r', 1, ['rui@guests.example'], null],
      ['r', 2, [], null],
      ['r', 3, ['rui@guests.example'], null],
      ['r2', 1, ['ana@guests.example'], null],
      ['r3', 1, ['rui@guests.example'], null],
    ],
  );
  // All other columns of the older rows are unchanged, to the digit. `extra` is removed: it may repeat guest data.
  const others = (rows: Record<string, unknown>[]) =>
    rows.map(({ emails: _, profile: __, guest: ___, extra: ____, ...rest }) => rest);
  assert.ok(after.every(({ id, extra }) => id !== 'r' || extra === null));
  const older = after.filter(({ id, version }) => id !== 'r3' && version !== 3 && !(id === 'g' && version === 2));
  assert.deepEqual(others(older), others(before));
  assert.ok(before.some(({ money }) => money === `${exact}0000000`));
  const loyal = await query(
    `select distinct guests[1].extra ->> 'loyalty_number' as number from read_parquet('${root}/**/*.parquet') where id in ('r', 'r3') and len(guests) = 1`,
  );
  assert.deepEqual(loyal, [{ number: 'L-77120' }], 'of those who stay');
});

for (const format of ['ndjson', 'parquet'] as const) {
  test(`${format}: an erasure after a restore removes the guest from versions of the earlier epoch`, async (t) => {
    const { root, open } = await setUp(t, { format });
    const destination = open();
    const ana = { first_name: 'Ana', email: 'ana@guests.example' };
    await destination.deliver([delivery(reservation('r', { guests: [ana] }), { version: 7 })], limits);
    const gone = delivery(reservation('r', { guests: [] }), { version: 3, epoch: 2, event: 'erased' });
    assert.deepEqual(await destination.deliver([{ ...gone, erased: [ana] }], limits), [{ kind: 'delivered' }]);
    assert.deepEqual(await filesNaming(root, ana.email), []);
  });
}

test('an erasure of many files continues where the last try ended, in any batch, without using tries', async (t) => {
  const { root, open, list, lines } = await setUp(t);
  const destination = open();
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  const days = Array.from({ length: 8 }, (_, day) => Date.UTC(2026, 10, 1 + day));
  for (const changedAt of days) {
    const batch = ['a', 'b'].map((id) => delivery(reservation(id, { guests: [ana] }), { version: changedAt % 997 }));
    await destination.deliver(
      batch.map((one) => ({ ...one, changedAt })),
      limits,
    );
  }
  const gone = ['a', 'b'].map((id) => ({
    ...delivery(reservation(id, { guests: [] }), { version: 1_000, event: 'erased' }),
    erased: [ana],
  }));
  let waiting = gone;
  for (let tries = 0; waiting.length > 0; tries++) {
    assert.ok(tries < 40, 'it makes progress');
    const batch = tries % 3 === 0 ? waiting : waiting.slice(0, 1);
    const outcomes = await destination.deliver(batch, { ...limits, deadlineMs: 1 });
    const isRight = outcomes.every(
      (one) => one.kind === 'delivered' || (one.kind === 'retry' && one.free && one.mayHaveArrived),
    );
    assert.ok(isRight);
    const isDone = (one: (typeof gone)[number]) => outcomes[batch.indexOf(one)]?.kind === 'delivered';
    waiting = waiting.filter((one) => !isDone(one)).map((one) => ({ ...one, mayHaveArrived: true }));
  }
  assert.deepEqual(await filesNaming(root, ana.email), []);
  const last = (await list()).filter((name) => name.startsWith('date=2026-11-15/'));
  assert.equal((await Promise.all(last.map(lines))).flat().length, 2, 'the erasures themselves are written once');
});

test('an erasure also cleans files of the format that the destination had before', async (t) => {
  const { root, open } = await setUp(t);
  const ana = { first_name: 'Ana', email: 'ana@guests.example' };
  await open().deliver([delivery(reservation('r', { guests: [ana] }))], limits);
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  const outcomes = await open({ format: 'parquet' }).deliver([{ ...gone, erased: [ana] }], limits);
  assert.deepEqual(outcomes, [{ kind: 'delivered' }]);
  assert.deepEqual(await filesNaming(root, ana.email), []);
});

test('an erasure removes the half-written files of killed writers in every folder', async (t) => {
  const { root, open } = await setUp(t);
  const left = path.join(root, 'date=2026-10-01', '.changes_x.ndjson.tmp');
  await mkdir(path.dirname(left), { recursive: true });
  await writeFile(left, '{"guests":[{"email":"ana@guests.example"');
  const hourAgo = Date.now() / 1_000 - 3_600;
  await utimes(left, hourAgo, hourAgo);
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  assert.deepEqual(await open().deliver([gone], limits), [{ kind: 'delivered' }]);
  assert.deepEqual(await filesNaming(root, 'ana@guests.example'), []);
});

test('an erasure that cannot read a file is not delivered', async (t) => {
  const { root, open, list } = await setUp(t);
  const destination = open();
  await destination.deliver([delivery(reservation('r'))], limits);
  const [written = ''] = (await list()).filter((name) => name.endsWith('.ndjson'));
  // A link that leads to itself is an error of the file system for every user, also for root.
  await rm(path.join(root, written));
  await symlink(path.join(root, written), path.join(root, written));
  const gone = delivery(reservation('r', { guests: [] }), { version: 2, event: 'erased' });
  const [outcome] = await destination.deliver([gone], limits);
  assert.ok(outcome?.kind === 'retry' && outcome.code === 'deliver.write_failed');
});

test('a folder reports what it cannot read; only what does not exist is absent', async (t) => {
  const { root } = await setUp(t);
  const store = folderStore(root, systemClock);
  assert.deepEqual([await store.list(''), await store.read('a.ndjson')], [[], undefined]);
  await mkdir(path.join(root, 'a.ndjson'), { recursive: true });
  await assert.rejects(store.read('a.ndjson'), { code: 'EISDIR' });
  await writeFile(path.join(root, 'file'), '');
  await assert.rejects(folderStore(path.join(root, 'file'), systemClock).list(''), { code: 'ENOTDIR' });
});

test('a file whose content was replaced is not continued, even under its old inode', async (t) => {
  const { root, open, list, lines } = await setUp(t);
  const destination = open();
  await destination.deliver([delivery(reservation('first'))], limits);
  const [written = ''] = (await list()).filter((name) => name.endsWith('.ndjson'));
  // File systems give the inode of a replaced file to the next one; writing in place keeps it too.
  await writeFile(path.join(root, written), '{"data":{"id":"erased"}}\n');
  await destination.deliver([delivery(reservation('second'))], limits);
  const names = (await list()).filter((name) => name.endsWith('.ndjson'));
  const ids = (await Promise.all(names.map(lines))).flat().map(({ data }) => data.id);
  assert.deepEqual(ids, ['erased', 'second']);
});

test('of two nodes that replace a file at the same time, the slower one changes nothing', async (t) => {
  const { root, list } = await setUp(t);
  await mkdir(root, { recursive: true });
  const [slow, quick] = [folderStore(root, systemClock), folderStore(root, systemClock)];
  const first = await slow.replace('a.ndjson', 'first\n', 'absent');
  const tag = first.kind === 'written' ? first.tag : '';
  const writing = slow.replace('a.ndjson', Buffer.alloc(64 << 20, 'slow\n'), tag);
  await until('the slow node writes', async () => (await list()).length > 1);
  const replaced = await quick.replace('a.ndjson', 'without the guest\n', tag);
  assert.equal(replaced.kind, 'written');
  assert.equal((await writing).kind, 'changed');
  assert.equal(await readFile(path.join(root, 'a.ndjson'), 'utf8'), 'without the guest\n');
  assert.deepEqual(await list(), ['a.ndjson']);
});

/** The files under a folder, also hidden ones, that hold a text. */
async function filesNaming(root: string, text: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const found = entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
  const contents = await Promise.all(found.map((name) => readFile(name, 'latin1')));
  return found.filter((_, i) => contents[i]?.includes(text));
}

async function query(sql: string): Promise<Record<string, unknown>[]> {
  const duck = await DuckDBInstance.create(':memory:');
  const connection = await duck.connect();
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJson();
  connection.closeSync();
  duck.closeSync();
  return rows;
}

test('an amount or a count that Parquet cannot hold is refused, alone', async (t) => {
  const { open } = await setUp(t, { format: 'parquet' });
  for (const wrong of [{ total_amount: '0.12345678901' }, { charges: [{ code: 'ROOM', quantity: 3_000_000_000 }] }]) {
    const [outcome] = await open().deliver([delivery(reservation('r', wrong))], limits);
    assert.ok(outcome?.kind === 'dead' && outcome.code === 'deliver.refused');
  }
});

test('in a batch only the record with such an amount is dead', async (t) => {
  const { open } = await setUp(t, { format: 'parquet' });
  const { pool, close } = await openStore();
  t.after(close);
  const records = Array.from({ length: 16 }, (_, i) =>
    reservation(`r${i}`, i === 7 ? { total_amount: '0.12345678901' } : {}),
  );
  await takeIn(pool, records, ['lake']);
  const counts = await drainOnce(ports(pool, [lane(config('lake', { batch: 100 }))], { lake: open() }));
  assert.deepEqual(counts, { delivered: 15, skipped: 0, retry: 0, dead: 1 });
  const { rows } = await pool.query('select id from dead_letters');
  assert.deepEqual(rows, [{ id: 'r7' }]);
});

test('DuckDB reads both formats: partitions, dates, decimals, lists', async (t) => {
  for (const format of ['ndjson', 'parquet'] as const) {
    const { root, open } = await setUp(t, { format });
    const destination = open();
    const batch = ['a', 'b', 'c'].map((id) => delivery(reservation(id, { total_amount: '12345678901234567.89' })));
    await destination.deliver(batch, limits);
    const source =
      format === 'parquet'
        ? `select * from read_parquet('${root}/**/*.parquet', hive_partitioning = true)`
        : `select data.*, version, date from read_ndjson('${root}/**/*.ndjson', hive_partitioning = true)`;
    const duck = await DuckDBInstance.create(':memory:');
    const connection = await duck.connect();
    const result = await connection.runAndReadAll(
      `select count(*)::int as n, min(date)::varchar as day, max(check_in)::date::varchar as arrival,
              max(len(guests))::int as guests, max(guests[1].email) as email,
              max(total_amount)${format === 'parquet' ? '::varchar' : '::double::varchar'} as money from (${source})`,
    );
    const [row] = result.getRowObjectsJson();
    const { money, ...rest } = row ?? {};
    assert.deepEqual(rest, { n: 3, day: '2026-11-15', arrival: '2026-12-01', guests: 1, email: 'c@guests.example' });
    if (format === 'parquet') assert.equal(money, '12345678901234567.890000000');
    connection.closeSync();
    duck.closeSync();
  }
});
