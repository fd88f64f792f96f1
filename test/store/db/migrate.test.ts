import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InnboundError } from '../../../src/errors.ts';
import { migrate, readMigrations } from '../../../src/store/db/migrate.ts';
import { openPool, type Pool } from '../../../src/store/db/pool.ts';
import { testDatabase } from '../../support/database.ts';

async function withPool<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const { connection } = await testDatabase({ empty: true });
  const pool = openPool({ connection, applicationName: 'test' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** The schema as text: columns, indexes, constraints and comments. */
async function shapeOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'innbound_service'
    union all
    select indexdef from pg_indexes where schemaname = 'innbound_service'
    union all
    select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
     where connamespace = 'innbound_service'::regnamespace
    union all
    select format('%s: %s', objoid::regclass, description) from pg_description
     where classoid = 'pg_class'::regclass and objoid in
           (select oid from pg_class where relnamespace = 'innbound_service'::regnamespace)
     order by 1`);
  return rows.map(({ line }) => line);
}

test('migrating an empty database and migrating from an earlier version give the same schema', async () => {
  const migrations = await readMigrations();
  const fresh = await withPool(async (pool) => {
    assert.deepEqual(
      (await migrate(pool)).applied,
      migrations.map(({ name }) => name),
    );
    assert.deepEqual((await migrate(pool)).applied, [], 'a second call does nothing');
    return shapeOf(pool);
  });
  // Each start costs half a second: every sixth version and the last three are tested.
  const starts = migrations.slice(0, -1).filter((_, i, all) => i % 6 === 0 || i >= all.length - 3);
  for (const earlier of starts) {
    const upgraded = await withPool(async (pool) => {
      await migrate(pool, earlier.number);
      await migrate(pool);
      return shapeOf(pool);
    });
    assert.deepEqual(upgraded, fresh, `from ${earlier.name}`);
  }
});

test('a migration keeps the data of the previous version', async () => {
  const numbers = (await readMigrations()).map(({ number }) => number);
  await withPool(async (pool) => {
    await migrate(pool, numbers.at(-2));
    await pool.query(`insert into records (integration, type, id, version, effective_at, seq, hash, data)
                      values ('lisbon', 'reservation', 'R1', 1, now(), 1, 'x', '{"id":"R1"}')`);
    await migrate(pool);
    const { rows } = await pool.query('select integration, id, version, data from records');
    assert.deepEqual(rows, [{ integration: 'lisbon', id: 'R1', version: 1, data: { id: 'R1' } }]);
  });
});

test('search keys survive the migration, and an e-mail address is one key', async () => {
  await withPool(async (pool) => {
    await migrate(pool, 9);
    const guest = { email: 'ana@mail.example', email_raw: 'Ana@mail.example', first_name: 'Ana', last_name: 'Sá' };
    const other = { email: 'rui@mail.example', email_raw: 'mailto:rui@mail.example' };
    const data = JSON.stringify({ id: 'R1', guests: [guest, other] });
    await pool.query(
      `insert into records (integration, type, id, version, effective_at, seq, hash, data)
       values ('lisbon', 'reservation', 'R1', 1, now(), 1, 'x', $1)`,
      [data],
    );
    await migrate(pool);
    const { rows } = await pool.query<{ key: string }>(`select key from guest_keys where id = 'R1' order by key`);
    assert.deepEqual(
      rows.map(({ key }) => key),
      ['email:ana@mail.example', 'email:rui@mail.example', 'email_raw:mailto:rui@mail.example', 'last_name:sa, ana'],
    );
    assert.deepEqual((await pool.query('select data from records')).rows, [{ data: JSON.parse(data) }]);
  });
});

test('nodes that start together migrate once', async () => {
  await withPool(async (pool) => {
    const applied = await Promise.all(Array.from({ length: 5 }, () => migrate(pool)));
    assert.equal(applied.filter((one) => one.applied.length > 0).length, 1);
  });
});

test('refuses a database that a newer version has migrated', async () => {
  await withPool(async (pool) => {
    await migrate(pool);
    await pool.query(`insert into migrations (number, name, hash) values (9999, 'tomorrow', '')`);
    await assert.rejects(
      migrate(pool),
      (error) => error instanceof InnboundError && error.code === 'store.newer_schema',
    );
  });
});

test('migration numbers start at 1 and are unique', async () => {
  const numbers = (await readMigrations()).map(({ number }) => number);
  assert.equal(numbers[0], 1);
  assert.deepEqual(numbers, [...new Set(numbers)]);
});

test('refuses a database whose migrations had different contents', async () => {
  await withPool(async (pool) => {
    await migrate(pool);
    await pool.query(`update migrations set hash = 'another' where number = 1`);
    await assert.rejects(
      migrate(pool),
      (error) => error instanceof InnboundError && error.code === 'store.changed_migration',
    );
  });
});
