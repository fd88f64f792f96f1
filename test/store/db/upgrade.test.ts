import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { timelineOf } from '../../../src/operations/timeline.ts';
import { activate } from '../../../src/runtime/active.ts';
import { hashOf, migrate, readMigrations } from '../../../src/store/db/migrate.ts';
import { openPool, type Pool, transaction } from '../../../src/store/db/pool.ts';
import { currentDocuments } from '../../../src/store/documents/documents.ts';
import { applyPrepared } from '../../../src/store/records/apply.ts';
import type { JsonObject } from '../../../src/terms.ts';
import { testDatabase } from '../../support/database.ts';

/**
 * Databases written by released versions, a few reservations each, with all rows as text. Their migrations are frozen, so migrating up
 * to the version's last one and loading the rows gives that version's database.
 */
interface Dump {
  readonly version: string;
  readonly migrations: readonly { readonly number: number; readonly name: string; readonly hash: string }[];
  readonly tables: { readonly [table: string]: { readonly columns: string[]; readonly rows: (string | null)[][] } };
}

const folder = new URL('../upgrade/', import.meta.url);
const dumps = readdirSync(folder).map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as Dump);

async function load(pool: Pool, { tables }: Dump): Promise<void> {
  for (const [table, { columns, rows }] of Object.entries(tables)) {
    const places = columns.map((_, i) => `$${i + 1}`).join(', ');
    for (const row of rows) {
      await pool.query(
        `insert into ${table} (${columns.join(', ')}) overriding system value values (${places}) on conflict do nothing`,
        row,
      );
    }
  }
}

for (const dump of dumps) {
  test(`a database of version ${dump.version} is upgraded with its data`, async () => {
    const { connection } = await testDatabase({ empty: true });
    const pool = openPool({ connection, applicationName: 'test' });
    try {
      const byNumber = new Map((await readMigrations()).map((one) => [one.number, hashOf(one)]));
      for (const { number, name, hash } of dump.migrations) {
        assert.equal(byNumber.get(number), hash, `${name} differs from the one that version ${dump.version} applied`);
      }
      await migrate(pool, Math.max(...dump.migrations.map(({ number }) => number)));
      await load(pool, dump);
      await migrate(pool);

      const active = activate(await currentDocuments(pool));
      assert.deepEqual(active.broken, []);
      const { records, changes } = dump.tables;
      assert.ok(records && changes);
      for (const [integration = '', type, id = '', version] of records.rows) {
        if (type !== 'reservation' || integration === null || id === null) continue;
        const found = await timelineOf(pool, integration, 'reservation', id);
        const kept = found?.timeline.filter((entry) => 'version' in entry && 'diff' in entry) ?? [];
        const expected: readonly unknown[] = changes.rows.filter((row) => row[0] === integration && row[2] === id);
        assert.equal(kept.length, expected.length, `versions of ${id}`);

        const { rows } = await pool.query<{ raw: JsonObject }>(
          `select raw from receipts where integration = $1 and type = 'reservation' and id = $2 and cause = 'run' limit 1`,
          [integration, id],
        );
        const brand = active.integrations.get(integration);
        const raw = rows[0]?.raw;
        if (brand === undefined || raw === undefined) continue;
        const effectiveAt = Date.now();
        const shaped = brand.path.singleShaper.single({ ...raw, confirmation_number: 'AFTER-UPGRADE' });
        assert.equal(shaped.kind, 'ok');
        if (shaped.kind !== 'ok') continue;
        const prepared = brand.path.prepare(shaped.record, { mode: 'pull', effectiveAt, cause: 'run', causeId: 'run' });
        const tally = await transaction(pool, (tx) => applyPrepared(tx, brand.target, [prepared]));
        assert.deepEqual(
          tally.outcomes.map(({ outcome, version: made }) => [outcome, made]),
          [['updated', Number(version) + 1]],
          `the next change of ${id}`,
        );
      }
    } finally {
      await pool.end();
    }
  });
}

test('every released version before this one has a database to upgrade from', () => {
  const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  const released = [...changelog.matchAll(/^## (\d+\.\d+\.\d+)/gm)].map(([, version]) => version);
  const current = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
    version: string;
  };
  assert.deepEqual(
    released.filter((version) => version !== current.version && !dumps.some((dump) => dump.version === version)),
    [],
  );
});
