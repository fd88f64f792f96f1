import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { drainOnce } from '../../../../src/core/deliver/deliveries.ts';
import { folderStore } from '../../../../src/core/deliver/destinations/files/destination.ts';
import { findKeys } from '../../../../src/core/deliver/lake/writer.ts';
import { systemClock } from '../../../../src/kit/clock.ts';
import { config, delivery, lane, openStore, ports, reservation, takeIn } from '../../support.ts';
import { limits, query, setUp } from './support.ts';

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
  const starts = 'ib_'.repeat(1_000);
  const filler = Buffer.concat([Buffer.alloc((4 << 20) - first.length - starts.length - 7, '.'), Buffer.from(starts)]);
  await writeFile(path.join(root, 'a.ndjson'), Buffer.concat([Buffer.from(first), filler, Buffer.from(`${across}"`)]));
  await writeFile(path.join(root, 'b.ndjson'), older);
  await writeFile(path.join(root, '.c.ndjson.tmp'), 'ib_in_no_file');
  await utimes(path.join(root, 'b.ndjson'), 1_000, 1_000);
  const store = folderStore(root, systemClock);
  const since = { changedAt: Date.now(), late: new AbortController().signal };
  const files = await store.list('');
  assert.deepEqual([...(await findKeys(store, files, '.ndjson', new Set(keys), since))], [first, across]);
  assert.deepEqual(
    [...(await findKeys(store, files, '.ndjson', new Set(keys), { ...since, changedAt: 0 }))].sort(),
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
  // Without a pause: a quick disk writes it all within one.
  for (let names = await list(); names.length < 2; names = await list())
    assert.equal(await Promise.race([writing, 'writing']), 'writing');
  const replaced = await quick.replace('a.ndjson', 'without the guest\n', tag);
  assert.equal(replaced.kind, 'written');
  assert.equal((await writing).kind, 'changed');
  assert.equal(await readFile(path.join(root, 'a.ndjson'), 'utf8'), 'without the guest\n');
  assert.deepEqual(await list(), ['a.ndjson']);
});

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

test('a row of a record that left says so in both formats', async (t) => {
  for (const format of ['ndjson', 'parquet'] as const) {
    const { root, open } = await setUp(t, { format });
    const left = { version: 2, event: 'removed', removed: true, data: { id: 'a' } } as const;
    await open().deliver([delivery(reservation('a')), delivery(reservation('a'), left)], limits);
    const source =
      format === 'parquet' ? `id, version, removed from read_parquet` : `data.id, version, removed from read_ndjson`;
    const rows = await query(`select ${source}('${root}/**/*.${format}') order by version`);
    assert.deepEqual(
      rows.map(({ id, removed }) => [id, removed]),
      [
        ['a', null],
        ['a', true],
      ],
    );
  }
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
