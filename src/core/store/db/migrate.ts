import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';
import { InnboundError } from '../../../errors.ts';
import { systemClock } from '../../../kit/clock.ts';
import { isSqlState } from '../../../kit/sql-state.ts';
import { makePartitions } from './partitions.ts';
import { type Pool, serviceSchema, withLongStatements } from './pool.ts';

interface Migration {
  readonly file: string;
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

/** What a database is brought to: a new one runs the schema, an older one the migrations that it lacks. */
export interface SchemaVersion {
  readonly schema: string;
  readonly migrations: readonly Migration[];
}

const folder = new URL('../migrations/', import.meta.url);
const schemaFile = new URL('../schema.sql', import.meta.url);
/**
 * The schema of 0.2.0, the first release, by its hash. Every database has it as its first migration, also one that was created later; a
 * database that begins otherwise is of a state before the release.
 */
export const baseline = {
  number: 1,
  name: '0.2.0',
  hash: 'e90fd4caefb632d27c16903aa50221fd1bb3e3816e3b257c6efb54a7e6444f90',
} as const;
/** The advisory lock of migrations: an arbitrary constant. */
const migrationLock = 4_180_180_001;
/** Ten minutes of attempts: a backup or a report may hold its locks for that long. */
const lockAttempts = 120;

/** The schema of this version, and the migrations since the baseline, which start at number 2. */
export async function readVersion(): Promise<SchemaVersion> {
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

export const hashOf = (sql: string): string => hash('sha256', sql);

export interface AppliedMigration {
  readonly number: number;
  readonly name: string;
  readonly hash: string;
  readonly additive: boolean;
}

/** Why this version cannot work with a database that has these migrations. */
export function refusal(
  migrations: readonly Migration[],
  done: readonly AppliedMigration[],
): InnboundError | undefined {
  const first = done.find(({ number }) => number === baseline.number);
  if (done.length > 0 && first?.hash !== baseline.hash) {
    return new InnboundError('store.older_schema', `The database does not begin with the schema of ${baseline.name}.`);
  }
  const newest = Math.max(1, ...migrations.map(({ number }) => number));
  const unknown = done.find(({ number, additive }) => number > newest && !additive);
  if (unknown !== undefined) {
    const message = `The database is at migration ${unknown.number} (${unknown.name}); this version knows up to ${newest}.`;
    return new InnboundError('store.newer_schema', message);
  }
  const hashes = new Map(done.map(({ number, hash }) => [number, hash]));
  const changed = migrations.find(({ number, sql }) => (hashes.get(number) ?? hashOf(sql)) !== hashOf(sql));
  if (changed === undefined) return undefined;
  const message = `Migration ${changed.number} (${changed.name}) was applied with different contents than this version has.`;
  return new InnboundError('store.changed_migration', message);
}

/**
 * Returns a check that reports when a newer version has migrated the database so that this version must stop. After additive
 * migrations it may continue. Reads this version's migrations now, because an upgrade may replace the files while the process runs.
 */
export async function newerSchemaCheck(pool: Pool): Promise<() => Promise<InnboundError | undefined>> {
  const { migrations } = await readVersion();
  return async () => {
    const { rows } = await pool.query<AppliedMigration>('select * from migrations');
    return refusal(migrations, rows);
  };
}

/**
 * Creates the schema in a new database, or migrates an older one: forward only, each migration in its own transaction, one node at a
 * time. Nodes that start together wait for the first. A database from before the first release is refused, and one that a newer version
 * has migrated, unless all newer migrations are additive.
 */
export async function migrate(pool: Pool, version?: SchemaVersion): Promise<{ applied: string[] }> {
  const to = version ?? (await readVersion());
  const done = await withLongStatements(pool, async (separate) => {
    const client = await separate.connect();
    return migrateWith(client, to).finally(() => client.release());
  });
  await makePartitions(pool);
  return done;
}

async function migrateWith(
  client: pg.PoolClient,
  { schema, migrations }: SchemaVersion,
): Promise<{ applied: string[] }> {
  const applied: string[] = [];
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(`create schema if not exists ${serviceSchema}`);
    await client.query(`create table if not exists migrations (
      number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now(),
      additive boolean not null default false)`);
    const { rows } = await client.query<AppliedMigration>('select * from migrations');
    const refused = refusal(migrations, rows);
    if (refused) throw refused;
    if (rows.length === 0) {
      await client.query('begin');
      await client.query(schema);
      for (const one of [{ ...baseline, additive: false }, ...migrations.map(appliedBy)]) await record(client, one);
      await client.query('commit');
      return { applied: ['schema'] };
    }
    const done = new Set(rows.map(({ number }) => number));
    for (const one of migrations) {
      if (done.has(one.number)) continue;
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

const appliedBy = (one: Migration): AppliedMigration => ({ ...one, hash: hashOf(one.sql), additive: isAdditive(one) });

async function record(client: pg.PoolClient, { number, name, hash, additive }: AppliedMigration): Promise<void> {
  await client.query('insert into migrations (number, name, hash, additive) values ($1, $2, $3, $4)', [
    number,
    name,
    hash,
    additive,
  ]);
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
      await record(client, appliedBy(migration));
      await client.query('commit');
      return;
    } catch (error) {
      if (!isSqlState(error, 'lockNotAvailable') || attempt === lockAttempts) throw error;
      await client.query('rollback');
      await systemClock.wait(2_000);
    }
  }
}
