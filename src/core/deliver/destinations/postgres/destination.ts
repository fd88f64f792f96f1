import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isSqlState } from '../../../../kit/sql-state.ts';
import { brandWriter } from '../../brands.ts';
import type { BrandFacts, Destination, DestinationType, Outcome, Prepared, PreparedStep } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { failureOf, mayBeMistyped, mistypedColumns } from './failure.ts';
import { postgresHoldings } from './holdings.ts';
import { eraseFromVersions, mergeProfilesSql, mergeReservationsSql, stageName, stageSql } from './merge.ts';
import { inTransaction, migrateWarehouse, openWarehouse } from './schema.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';
import { children, columns, copyText, type Rows, rowsOf, type Table } from './tables.ts';

/** A warehouse: COPY into staging, then one merge that keeps the newer version, in one transaction per batch. */
export const destinationType: DestinationType<Settings> = {
  type: 'postgres',
  settings: settingsSchema,
  batch: () => ({ standard: 1_000, most: 10_000 }),
  timeoutMs,
  holdings: (settings, { allowPrivate }) =>
    postgresHoldings(
      openWarehouse(settings, allowPrivate, timeoutMs(settings)),
      `"${settings.schema}"`,
      timeoutMs(settings),
    ),
  prepare: (settings, { allowPrivate }, { dryRun }) => prepare(settings, allowPrivate, dryRun),
  open(settings, { allowPrivate, clock, brandOf }): Destination {
    const limitMs = timeoutMs(settings);
    const pool = openWarehouse(settings, allowPrivate, limitMs);
    // Quoted, because a plain lower-case name may be a keyword of SQL.
    const schema = `"${settings.schema}"`;
    const mergeReservations = mergeReservationsSql(schema, { asNew: true });
    const mergeOverLeftovers = mergeReservationsSql(schema, { asNew: false });
    const mergeProfiles = mergeProfilesSql(schema);
    let writeBrands = brandWriter(brandOf);
    let migrated: Promise<void> | undefined;

    /** Once per opening; a failure is retried. */
    function migrateOnce(): Promise<void> {
      migrated ??= inTransaction(pool, limitMs, (client) => migrateWarehouse(client, schema)).catch(
        (error: unknown) => {
          migrated = undefined;
          throw error;
        },
      );
      return migrated;
    }

    async function write(batch: readonly Delivery[], rows: Rows, merge = mergeReservations): Promise<void> {
      await migrateOnce();
      const isErasure = ({ message }: Delivery) => message.event === 'erased' && message.type === 'reservation';
      // Whether the server committed before a failure does not matter: the merge compares versions.
      const written = await inTransaction(pool, limitMs, async (client) => {
        const done = await writeBrands(batch, (name, facts) => writeBrand(client, schema, name, facts));
        if (rows.reservations.length > 0) {
          await stage(client, rows, ['reservations', ...children]);
          await client.query(merge);
        }
        if (rows.guest_profiles.length > 0) {
          await stage(client, rows, ['guest_profiles']);
          await client.query(mergeProfiles);
        }
        await eraseFromVersions(client, schema, batch.filter(isErasure));
        return done;
      });
      written();
    }

    async function stage(client: pg.PoolClient, rows: Rows, tables: readonly Table[]): Promise<void> {
      await client.query(stageSql(schema, tables));
      for (const table of tables) {
        if (rows[table].length === 0) continue;
        const sql = `copy ${stageName(table)} (${columns[table].join(', ')}) from stdin`;
        await pipeline([copyText(rows[table])], client.query(copyFrom(sql)));
      }
    }

    async function failed(error: unknown): Promise<Outcome> {
      // Somebody dropped our tables, to load them again: the next try creates them.
      if (isSqlState(error, 'undefinedTable') || isSqlState(error, 'undefinedSchema')) {
        migrated = undefined;
        writeBrands = brandWriter(brandOf);
      }
      const mistyped = mayBeMistyped(error) ? await mistypedColumns(pool, schema).catch(() => []) : [];
      return failureOf(error, mistyped);
    }

    return {
      async deliver(batch: readonly Delivery[]): Promise<readonly Outcome[]> {
        const startedAt = clock.uptimeMs();
        const rows = rowsOf(batch);
        const written = write(batch, rows).catch((error: unknown) => {
          if (isSqlState(error, 'uniqueViolation')) return write(batch, rows, mergeOverLeftovers);
          throw error;
        });
        const outcome = await written.then((): Outcome => ({ kind: 'delivered' }), failed);
        const durationMs = Math.round(clock.uptimeMs() - startedAt);
        return batch.map(() => ({ ...outcome, durationMs }));
      },
      async close() {
        await pool.end();
      },
    };
  },
};

/** Creates what is missing, then proves the rights with a merge of no rows. */
async function prepare(settings: Settings, allowPrivate: boolean, dryRun: boolean): Promise<Prepared> {
  const limitMs = timeoutMs(settings);
  const schema = `"${settings.schema}"`;
  const grants = [
    `CREATE SCHEMA ${schema} AUTHORIZATION <the user of url>;`,
    'GRANT TEMPORARY ON DATABASE <the database of url> TO <the user of url>;',
  ];
  const steps: PreparedStep[] = [];
  const pool = openWarehouse(settings, allowPrivate, limitMs);
  const tablesIn = async (client: pg.PoolClient) =>
    (await client.query(`select from pg_tables where schemaname = $1`, [settings.schema])).rowCount ?? 0;
  try {
    await inTransaction(pool, limitMs, async (client) => {
      const before = await tablesIn(client);
      steps.push({ what: 'login', result: 'exists' });
      if (!dryRun) await migrateWarehouse(client, schema);
      const isMissing = dryRun ? before === 0 : (await tablesIn(client)) > before;
      const created = dryRun ? 'would_create' : 'created';
      steps.push({ what: `tables of ${settings.schema}`, result: isMissing ? created : 'exists' });
      if (dryRun && isMissing) return;
      await client.query(stageSql(schema, ['reservations', ...children]));
      await client.query(mergeReservationsSql(schema, { asNew: false }));
      steps.push({ what: 'rights and columns', result: 'exists' });
    });
  } catch (error) {
    const outcome = failureOf(error);
    const message = 'message' in outcome ? outcome.message : '';
    steps.push({ what: ['login', 'tables', 'rights and columns'][steps.length] ?? '', result: 'failed', message });
  } finally {
    await pool.end();
  }
  return { steps, settings: {}, grants };
}

function writeBrand(client: pg.PoolClient, schema: string, integration: string, facts: BrandFacts) {
  const { brandId, timezone, country = null, roomsAvailable } = facts;
  return client.query(
    `insert into ${schema}.brands as b (integration, brand_id, timezone, country, capacity_from, capacity_rooms)
     values ($1, $2, $3, $4, $5, $6)
         on conflict (integration) do update set brand_id = excluded.brand_id, timezone = excluded.timezone,
            country = excluded.country, capacity_from = excluded.capacity_from, capacity_rooms = excluded.capacity_rooms
      where b is distinct from excluded`,
    [integration, brandId, timezone, country, ...[0, 1].map((i) => roomsAvailable.map((step) => step[i]))],
  );
}
