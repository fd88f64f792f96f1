import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Recorded } from '../../../scripts/record-statements.ts';
import { isAdditive, migrate, newerSchemaCheck, readVersion } from '../../../src/core/store/db/migrate.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { InnboundError } from '../../../src/errors.ts';
import { withPool } from './empty-database.ts';

/**
 * Workers of the previous version keep running beside a newer one as long as its migrations are additive. Each version is recorded as the
 * statements that it sends (scripts/record-statements.ts); PostgreSQL must still accept each of them.
 */

const folder = new URL('../beside/', import.meta.url);

/** The statements that PostgreSQL refuses, with the reason. */
async function refused(pool: Pool, statements: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const [i, text] of statements.entries()) {
    await pool
      .query(`prepare recorded_${i} as ${text}`)
      .then(() => pool.query(`deallocate recorded_${i}`))
      .catch((error: Error) => found.push(`${error.message}: ${text}`));
  }
  return found;
}

for (const file of existsSync(folder) ? readdirSync(folder) : []) {
  test(`the statements of ${file.slice(0, -5)} work after every additive migration that came later`, async () => {
    const { migration, statements } = JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Recorded;
    assert.ok(statements.length > 100);
    const { migrations } = await readVersion();
    const later = migrations.filter(({ number }) => number > migration);
    if (later.some((one) => !isAdditive(one))) return;
    await withPool(async (pool) => {
      await migrate(pool);
      assert.deepEqual(await refused(pool, statements), []);
    });
  });
}

test('a statement that a later schema no longer accepts is found', async () => {
  await withPool(async (pool) => {
    await migrate(pool);
    const statements = ['select fence from outbox', 'select id from records'];
    assert.deepEqual(await refused(pool, statements), []);
    await pool.query('alter table outbox rename column fence to fence_number');
    assert.equal((await refused(pool, statements)).length, 1);
  });
});

test('an older version keeps running after additive migrations of a newer one, and stops after others', async () => {
  await withPool(async (pool) => {
    await migrate(pool);
    const check = await newerSchemaCheck(pool);
    const record = (number: number, additive: boolean) =>
      pool.query(`insert into migrations (number, name, hash, additive) values ($1, 'later', '', $2)`, [
        number,
        additive,
      ]);
    await record(9001, true);
    assert.equal(await check(), undefined);
    assert.deepEqual((await migrate(pool)).applied, [], 'it may also be started again');
    await record(9002, false);
    assert.equal((await check())?.code, 'store.newer_schema');
    await assert.rejects(
      migrate(pool),
      (error) => error instanceof InnboundError && error.code === 'store.newer_schema',
    );
  });
});
