import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { InnboundError } from '../../errors.ts';
import { type Pool, serviceSchema } from './pool.ts';

interface Migration {
  readonly number: number;
  readonly name: string;
  readonly sql: string;
}

const folder = new URL('../migrations/', import.meta.url);
/** Any constant will do; it says "innbound" in no other database of the cluster. */
const migrationLock = 4_180_180_001;

export async function readMigrations(): Promise<Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return Promise.all(
    files.map(async (file) => ({
      number: Number(file.slice(0, 4)),
      name: file.slice(5, -4),
      sql: await readFile(new URL(file, folder), 'utf8'),
    })),
  );
}

const hashOf = ({ sql }: Migration): string => createHash('sha256').update(sql).digest('hex');

function newerThan(
  migrations: readonly Migration[],
  done: readonly Pick<Migration, 'number' | 'name'>[],
): InnboundError | undefined {
  const newest = Math.max(0, ...migrations.map(({ number }) => number));
  const unknown = done.find(({ number }) => number > newest);
  if (unknown === undefined) return undefined;
  const message = `The database is at migration ${unknown.number} (${unknown.name}); this version knows up to ${newest}.`;
  return new InnboundError('store.newer_schema', message);
}

/**
 * Tells, whenever it is asked, why this version may no longer work with the database: a node of a newer one has brought it further.
 * What this version knows is read now, since its files may be replaced while it runs.
 */
export async function newerSchemaCheck(pool: Pool): Promise<() => Promise<InnboundError | undefined>> {
  const migrations = await readMigrations();
  return async () => {
    const { rows } = await pool.query<{ number: number; name: string }>('select number, name from migrations');
    return newerThan(migrations, rows);
  };
}

/**
 * Brings the database to this version: forward only, each migration in a transaction of its own, one node at a time.
 * Nodes that start together wait for the first; a database from a newer version is refused.
 */
export async function migrate(pool: Pool, upTo = Number.POSITIVE_INFINITY): Promise<{ applied: string[] }> {
  const migrations = (await readMigrations()).filter(({ number }) => number <= upTo);
  const client = await pool.connect();
  const applied: string[] = [];
  try {
    await client.query('select pg_advisory_lock($1)', [migrationLock]);
    await client.query(`create schema if not exists ${serviceSchema}`);
    await client.query(`create table if not exists migrations (
      number int primary key, name text not null, hash text not null, applied_at timestamptz not null default now())`);
    const { rows } = await client.query<{ number: number; name: string; hash: string }>(
      'select number, name, hash from migrations order by number',
    );
    const done = new Map(rows.map((row) => [row.number, row]));
    const newer = upTo === Number.POSITIVE_INFINITY ? newerThan(migrations, rows) : undefined;
    if (newer) throw newer;
    for (const migration of migrations) {
      const before = done.get(migration.number);
      if (before && before.hash !== hashOf(migration)) {
        throw new InnboundError(
          'store.changed_migration',
          `Migration ${migration.number} (${migration.name}) was applied in another form than this version has it.`,
        );
      }
      if (before) continue;
      await client.query('begin');
      await client.query(migration.sql);
      await client.query('insert into migrations (number, name, hash) values ($1, $2, $3)', [
        migration.number,
        migration.name,
        hashOf(migration),
      ]);
      await client.query('commit');
      applied.push(migration.name);
    }
    return { applied };
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  } finally {
    await client.query('select pg_advisory_unlock($1)', [migrationLock]).catch(() => {});
    client.release();
  }
}
