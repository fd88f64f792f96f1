import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { InnboundError } from '../../errors.ts';
import { systemClock } from '../../kit/clock.ts';
import { isSqlState } from '../../kit/sql-state.ts';
import { makePartitions } from './partitions.ts';
import { type Pool, serviceSchema, withLongStatements } from './pool.ts';

export interface Migration {
  readonly file: string;
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** What a database is brought to: a new one runs the schema, an older one the migrations that it lacks. */
export interface Version {
  readonly schema: string;
  readonly migrations: readonly Migration[];
}

const folder = new URL('../migrations/', import.meta.url);
const schemaFile = new URL('../schema.sql', import.meta.url);
/** The advisory lock of migrations: an arbitrary constant. */
const migrationLock = 4_180_180_001;
/** Ten minutes of attempts: a backup or a report may hold its locks for that long. */
const lockAttempts = 120;
const lockPauseMs = 2_000;

/** The schema of this version, and the migrations since the first release, which start at number 2. */
export async function readVersion(): Promise<Version> {
  const files = await readdir(folder).catch((): string[] => []);
  const migrations = files
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map(async (file) => ({
      file,
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: await readFile(new URL(file, folder), 'utf8'),
    }));
  return { schema: await readFile(schemaFile, 'utf8'), migrations: await Promise.all(migrations) };
}

/** Declared in the first line of the file; `test/store/db/previous-version.test.ts` checks the claim. */
export const isAdditive = ({ sql }: Pick<Migration, 'sql'>): boolean => sql.startsWith('-- additive');

export const hashOf = (sql: string): string => createHash('sha256').update(sql).digest('hex');

function newerThan(
  migrations: readonly Migration[],
  done: readonly (Pick<Migration, 'number' | 'name'> & { readonly additive?: boolean })[],
): InnboundError | undefined {
  const newest = Math.max(1, ...migrations.map(({ number }) => number));
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
  const { migrations } = await readVersion();
  return async () => {
    const { rows } = await pool.query<{ number: number; name: string; additive: boolean }>(
      'select number, name, additive from migrations',
    );
    return newerThan(migrations, rows);
  };
}

/**
 * Creates the schema in a new database, or migrates an older one: forward only, each migration in its own transaction, one node at a
 * time. Nodes that start together wait for the first. A database migrated by a newer version is refused, unless all newer migrations
 * are additive.
 */
export async function migrate(pool: Pool, version?: Version): Promise<{ applied: string[] }> {
  const to = version ?? (await readVersion());
  const done = await withLongStatements(pool, async (separate) => {
    const client = await separate.connect();
    return migrateWith(client, to).finally(() => client.release());
  });
  await makePartitions(pool);
  return done;
}

async function migrateWith(client: pg.PoolClient, { schema, migrations }: Version): Promise<{ applied: string[] }> {
  const applied: string[] = [];
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(`create schema if not exists ${serviceSchema}`);
    await client.query(`create table if not exists migrations (
      number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now(),
      additive boolean not null default false)`);
    const { rows } = await client.query<{ number: number; name: string; hash: string; additive: boolean }>(
      'select * from migrations order by number',
    );
    const done = new Map(rows.map((row) => [row.number, row]));
    const newer = newerThan(migrations, rows);
    if (newer) throw newer;
    const baseline = { number: 1, name: 'schema', sql: schema };
    if (rows.length === 0) {
      await client.query('begin');
      await client.query(schema);
      for (const one of [baseline, ...migrations]) await recordApplied(client, one);
      await client.query('commit');
      return { applied: [baseline.name] };
    }
    // Until the first migration, the schema itself must be the one that the database was created with.
    for (const one of migrations.length === 0 ? [baseline] : migrations) {
      const before = done.get(one.number);
      if (before && before.hash !== hashOf(one.sql)) {
        throw new InnboundError(
          'store.changed_migration',
          `Migration ${one.number} (${one.name}) was applied with different contents than this version has.`,
        );
      }
      if (before) continue;
      await applyOne(client, one);
      applied.push(one.name);
    }
    return { applied };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
  }
}

async function recordApplied(client: pg.PoolClient, one: Pick<Migration, 'number' | 'name' | 'sql'>): Promise<void> {
  await client.query('insert into migrations (number, name, hash, additive) values ($1, $2, $3, $4)', [
    one.number,
    one.name,
    hashOf(one.sql),
    isAdditive(one),
  ]);
}

/**
 * A migration that changes a busy table sets a lock timeout: later statements queue behind its lock request, so it must not wait
 * long for a statement that reads for minutes. It is retried until it gets the lock.
 */
async function applyOne(client: pg.PoolClient, migration: Pick<Migration, 'number' | 'name' | 'sql'>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await client.query('begin');
      await client.query(migration.sql);
      await recordApplied(client, migration);
      await client.query('commit');
      return;
    } catch (error) {
      if (!isSqlState(error, 'lockNotAvailable') || attempt === lockAttempts) throw error;
      await client.query('rollback');
      await systemClock.wait(lockPauseMs);
    }
  }
}
