import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrate } from '../../../src/core/store/db/migrate.ts';
import { InnboundError } from '../../../src/errors.ts';
import { laterVersion, shapeOf, withPool } from './empty-database.ts';

test('a new database of a later version and an upgraded one have the same schema', async () => {
  const later = await laterVersion();
  const fresh = await withPool(async (pool) => {
    assert.deepEqual((await migrate(pool, later)).applied, ['schema']);
    assert.deepEqual((await migrate(pool, later)).applied, [], 'a second call does nothing');
    return shapeOf(pool);
  });
  const upgraded = await withPool(async (pool) => {
    await migrate(pool);
    await pool.query(`insert into records (integration, type, id, version, effective_at, seq, data)
                      values ('lisbon', 'reservation', 'R1', 1, now(), 1, '{"id":"R1"}')`);
    assert.deepEqual((await migrate(pool, later)).applied, ['later']);
    const { rows } = await pool.query('select id, data, later_note from records');
    assert.deepEqual(rows, [{ id: 'R1', data: { id: 'R1' }, later_note: null }]);
    return shapeOf(pool);
  });
  assert.deepEqual(upgraded, fresh);
});

test('a migration that fails leaves the database as it was', async () => {
  const { schema, migrations } = await laterVersion();
  await withPool(async (pool) => {
    await migrate(pool);
    const before = await shapeOf(pool);
    const broken = migrations.map((one) => (one.name === 'later' ? { ...one, sql: `${one.sql}select 1 / 0;` } : one));
    await assert.rejects(migrate(pool, { schema, migrations: broken }), /division by zero/);
    assert.deepEqual(await shapeOf(pool), before);
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

for (const [number, code, what] of [
  [
    1,
    'store.older_schema',
    'a database from before the first release, also one with more migrations than this version',
  ],
  [2, 'store.changed_migration', 'a database whose migrations had different contents'],
] as const) {
  test(`refuses ${what}`, async () => {
    const later = await laterVersion();
    await withPool(async (pool) => {
      await migrate(pool, later);
      await pool.query(`update migrations set hash = 'another' where number = $1`, [number]);
      if (number === 1) await pool.query(`insert into migrations (number, name, hash) values (40, 'earlier', '')`);
      await assert.rejects(migrate(pool, later), (error) => error instanceof InnboundError && error.code === code);
    });
  });
}
