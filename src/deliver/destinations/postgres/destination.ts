import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { isSqlState } from '../../../kit/sql-state.ts';
import type { Destination, DestinationType, Outcome } from '../../destination.ts';
import type { Delivery } from '../../message.ts';
import { openWarehouse } from './connection.ts';
import { eraseFromVersions } from './erase-versions.ts';
import { failureOf } from './failure.ts';
import { mergeProfilesSql, mergeReservationsSql, stageName, stageSql } from './merge.ts';
import { migrateWarehouse } from './schema.ts';
import { type Settings, settingsSchema, timeoutMs } from './settings.ts';
import { columns, copyText, type Rows, rowsOf, type Table } from './tables.ts';

/** A warehouse: COPY into staging, then one merge that keeps the newer version, in one transaction per batch. */
export const destinationType: DestinationType<Settings> = {
  type: 'postgres',
  settings: settingsSchema,
  batch: () => ({ standard: 1_000, most: 10_000 }),
  timeoutMs,
  open(settings, { allowPrivate, clock }): Destination {
    const pool = openWarehouse(settings, allowPrivate, timeoutMs(settings));
    // Quoted, because a plain lower-case name may be a keyword of SQL.
    const schema = `"${settings.schema}"`;
    const mergeReservations = mergeReservationsSql(schema, { asNew: true });
    const mergeOverLeftovers = mergeReservationsSql(schema, { asNew: false });
    const mergeProfiles = mergeProfilesSql(schema);
    const stage = stageSql(schema);
    const staged = new WeakSet<pg.PoolClient>();
    let migrated: Promise<void> | undefined;

    /** Once per opening; a failure is retried. */
    function migrateOnce(client: pg.PoolClient): Promise<void> {
      migrated ??= migrateWarehouse(client, schema).catch((error: unknown) => {
        migrated = undefined;
        throw error;
      });
      return migrated;
    }

    async function write(batch: readonly Delivery[], rows: Rows, merge = mergeReservations): Promise<void> {
      const client = await pool.connect();
      let broken: Error | undefined;
      try {
        await migrateOnce(client);
        if (!staged.has(client)) {
          await client.query(stage);
          staged.add(client);
        }
        await client.query('begin');
        for (const table of Object.keys(columns) as Table[]) {
          if (rows[table].length === 0) continue;
          const sql = `copy ${stageName(table)} (${columns[table].join(', ')}) from stdin`;
          await pipeline([copyText(rows[table])], client.query(copyFrom(sql)));
        }
        if (rows.reservations.length > 0) await client.query(merge);
        if (rows.guest_profiles.length > 0) await client.query(mergeProfiles);
        const isErasure = ({ message }: Delivery) => message.event === 'erased' && message.type === 'reservation';
        await eraseFromVersions(client, schema, batch.filter(isErasure));
        await client.query('commit');
      } catch (error) {
        // A connection in doubt is not used again. Whether the server committed does not matter: the merge compares versions.
        broken = error as Error;
        // Somebody dropped our tables, to load them again: the next try creates them.
        if (isSqlState(error, 'undefinedTable') || isSqlState(error, 'undefinedSchema')) migrated = undefined;
        throw error;
      } finally {
        client.release(broken);
      }
    }

    return {
      async deliver(batch: readonly Delivery[]): Promise<readonly Outcome[]> {
        const startedAt = clock.uptimeMs();
        const rows = rowsOf(batch);
        const written = write(batch, rows).catch((error: unknown) => {
          if (isSqlState(error, 'uniqueViolation')) return write(batch, rows, mergeOverLeftovers);
          throw error;
        });
        const outcome = await written.then((): Outcome => ({ kind: 'delivered' }), failureOf);
        const durationMs = Math.round(clock.uptimeMs() - startedAt);
        return batch.map(() => ({ ...outcome, durationMs }));
      },
      async close() {
        await pool.end();
      },
    };
  },
};
