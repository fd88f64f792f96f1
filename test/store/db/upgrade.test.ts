import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { baseline, migrate } from '../../../src/core/store/db/migrate.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { laterVersion, shapeOf, withPool } from './empty-database.ts';

/** A database as 0.2.0 creates it. */
async function create020(pool: Pool): Promise<void> {
  const schema = await readFile(new URL('baseline-0.2.0.sql', import.meta.url), 'utf8');
  await migrate(pool, { schema, migrations: [] });
}

interface Column {
  readonly name: string;
  readonly type: string;
  readonly allowed: string | null;
  readonly isFilled: boolean;
}

const samples: Readonly<Record<string, string>> = {
  text: `'a'`,
  'text[]': `'{a}'`,
  boolean: 'true',
  json: `'{"a": 1}'`,
  jsonb: `'{"a": 1}'`,
  bytea: `'\\x01'`,
  'bytea[]': `'{}'`,
  date: `'2026-05-01'`,
  tsvector: `'a'`,
  'timestamp with time zone': 'now()',
  'integer[]': `'{1}'`,
  datemultirange: `'{}'`,
};

/** A row in every table, with a value in every column. */
async function fill(pool: Pool): Promise<string[]> {
  const { rows: tables } = await pool.query<{ name: string; columns: Column[] }>(`
    select c.relname as name, json_agg(json_build_object('name', a.attname, 'type', format_type(a.atttypid, null),
             'isFilled', a.attidentity <> '' or (c.relname = 'store_state'),
             'allowed', (select (regexp_match(pg_get_constraintdef(k.oid), '''([^'']*)''::text'))[1] from pg_constraint k
                          where k.conrelid = c.oid and k.contype = 'c' and k.conkey = array[a.attnum])) order by a.attnum) as columns
      from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
     where c.relnamespace = 'innbound_service'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
       and c.relname <> 'migrations'
     group by c.oid, c.relname
     order by (select count(*) from pg_constraint k where k.conrelid = c.oid and k.contype = 'f'), c.relname`);
  for (const { name, columns } of tables) {
    const own = columns.filter(({ isFilled }) => !isFilled);
    const values = own.map(({ name: column, type, allowed }) =>
      column === 'other' ? `'b'` : allowed === null ? (samples[type] ?? '1') : `'${allowed}'`,
    );
    if (own.length === 0) continue;
    await pool.query(`insert into ${name} (${own.map((one) => `"${one.name}"`)}) values (${values})`);
  }
  return tables.map(({ name }) => name);
}

const rowsOf = async (pool: Pool, table: string) =>
  (await pool.query<{ row: Record<string, unknown> }>(`select to_jsonb(t) as row from ${table} t`)).rows.map(
    ({ row }) => row,
  );

test('an upgrade from 0.2.0 keeps every row of every table and ends with the schema of the later version', async () => {
  const later = await laterVersion();
  const fresh = await withPool(async (pool) => {
    await migrate(pool, later);
    return shapeOf(pool);
  });
  await withPool(async (pool) => {
    await create020(pool);
    const tables = await fill(pool);
    assert.ok(tables.length > 35);
    const before = new Map<string, Record<string, unknown>[]>();
    for (const table of tables) before.set(table, await rowsOf(pool, table));
    assert.deepEqual(
      (await migrate(pool, later)).applied,
      later.migrations.map(({ name }) => name),
    );
    for (const [table, rows] of before) {
      assert.ok(rows.length > 0, table);
      const after = await rowsOf(pool, table);
      assert.partialDeepStrictEqual(after, rows, table);
      assert.equal(after.length, rows.length, table);
    }
    assert.deepEqual(await shapeOf(pool), fresh);
    const { rows } = await pool.query('select name, hash from migrations where number = 1');
    assert.deepEqual(rows, [{ name: baseline.name, hash: baseline.hash }], 'a backup of it fits a new database');
  });
});

test('0.2.0 and a later version work on one database, whichever migrates while the other runs', async () => {
  const later = await laterVersion();
  await withPool(async (pool) => {
    await create020(pool);
    const insert = (id: string) =>
      pool.query(
        `insert into jobs (job_id, operation, integrations, request, requested_by, total) values ($1, 'resend', null, '{}', 'a', 1)`,
        [id],
      );
    await insert('before');
    const busy = await pool.connect();
    await busy.query('begin');
    await busy.query(`update jobs set done = done + 1 where job_id = 'before'`);
    const migrated = Promise.all([migrate(pool, later), migrate(pool, later)]);
    await busy.query('commit');
    busy.release();
    await migrated;
    await insert('after');
    const { rows } = await pool.query('select job_id, done, later_count from jobs order by job_id desc');
    assert.deepEqual(rows, [
      { job_id: 'before', done: 1, later_count: 0 },
      { job_id: 'after', done: 0, later_count: 0 },
    ]);
  });
});
