import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { InnboundError } from '../../errors.ts';
import { systemClock } from '../../kit/clock.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { makePartitions } from './partitions.ts';
import { type Pool, serviceSchema, withPatience } from './pool.ts';

export interface Migration {
  readonly file: string;
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

const folder = new URL('../migrations/', import.meta.url);
/** The advisory lock of migrations: an arbitrary constant. */
const migrationLock = 4_180_180_001;
/** Ten minutes of attempts: a backup or a report may hold its locks for that long. */
const lockAttempts = 120;
const lockPauseMs = 2_000;

export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => ({
      file,
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: await readFile(new URL(file, folder), 'utf8'),
    })),
  );
}

/** Declared in the first line of the file; `test/store/db/previous-version.test.ts` checks the claim. */
export const isAdditive = ({ sql }: Pick<Migration, 'sql'>): boolean => sql.startsWith('-- additive');

export const hashOf = ({ sql }: Pick<Migration, 'sql'>): string => createHash('sha256').update(sql).digest('hex');

function newerThan(
  migrations: readonly Migration[],
  done: readonly (Pick<Migration, 'number' | 'name'> & { readonly additive?: boolean })[],
): InnboundError | undefined {
  const newest = Math.max(0, ...migrations.map(({ number }) => number));
  const unknown = done.find(({ number, additive }) => number > newest && additive !== true);
  if (unknown === undefined) return undefined;
  const message = `The database is at migration ${unknown.number} (${unknown.name}); this version knows up to ${newest}.`;
  return new InnboundError('store.newer_schema', message);
}

/**
 * Returns a check that reports when a newer version has migrated the database so that this version must stop. After additive
 * migrations it may continue. Reads this version's migrations now, because an upgrade may replace the files while the process runs.
 */
export async function newerSchemaCheck(pool: Pool): Promise<() => Promise<InnboundError | undefined>> {
  const migrations = await readMigrations();
  return async () => {
    const { rows } = await pool.query<{ number: number; name: string; additive: boolean }>(
      'select number, name, additive from migrations',
    );
    return newerThan(migrations, rows);
  };
}

/**
 * Migrates the database to this version: forward only, each migration in its own transaction, one node at a time. Nodes that start
 * together wait for the first. A database migrated by a newer version is refused, unless all newer migrations are additive.
 */
export async function migrate(pool: Pool, upTo = Number.POSITIVE_INFINITY): Promise<{ applied: string[] }> {
  const migrations = (await readMigrations()).filter(({ number }) => number <= upTo);
  const done = await withPatience(pool, async (patient) => {
    const client = await patient.connect();
    return migrateWith(client, migrations, upTo).finally(() => client.release());
  });
  if (upTo === Number.POSITIVE_INFINITY) await makePartitions(pool);
  return done;
}

async function migrateWith(
  client: pg.PoolClient,
  migrations: readonly Migration[],
  upTo: number,
): Promise<{ applied: string[] }> {
  const applied: string[] = [];
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(`create schema if not exists ${serviceSchema}`);
    await client.query(`create table if not exists migrations (
      number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ number: number; name: string; hash: string; additive?: boolean }>(
      'select * from migrations order by number',
    );
    const done = new Map(rows.map((row) => [row.number, row]));
    const newer = upTo === Number.POSITIVE_INFINITY ? newerThan(migrations, rows) : undefined;
    if (newer) throw newer;
    for (const migration of migrations) {
      const before = done.get(migration.number);
      if (before && before.hash !== hashOf(migration)) {
        throw new InnboundError(
          'store.changed_migration',
          `Migration ${migration.number} (${migration.name}) was applied with different contents than this version has.`,
        );
      }
      if (before) continue;
      await applyOne(client, migration);
      applied.push(migration.name);
    }
    return { applied };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
  }
}

/**
 * A migration that changes a busy table sets a lock timeout: later statements queue behind its lock request, so it must not wait
 * long for a statement that reads for minutes. It is retried until it gets the lock.
 */
async function applyOne(client: pg.PoolClient, migration: Migration): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into migrations (number, name, hash) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        hashOf(migration),
      ]);
      if (isAdditive(migration))
        await client.query('update migrations set additive = true where number = $1', [migration.number]);
      await client.query('commit');
      return;
    } catch (error) {
      if (!isSqlState(error, 'lockNotAvailable') || attempt === lockAttempts) throw error;
      await client.query('rollback');
      await systemClock.wait(lockPauseMs);
    }
  }
}
