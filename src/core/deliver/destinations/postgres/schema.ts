import { readdir, readFile } from 'node:fs/promises';
import pg from 'pg';
import { guardedSocket } from '../../../outbound/socket.ts';
import { WarehouseClient } from '../../warehouse/pg.ts';
import type { Settings } from './settings.ts';

const folder = new URL('./migrations/', import.meta.url);

/**
 * Creates our tables in the schema, or migrates them to this version; forward only, one writer at a time. Other objects in the
 * schema are not touched.
 */
export async function migrateWarehouse(client: pg.ClientBase, schema: string): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('innbound warehouse ' || $1, 0))`, [schema]);
  // `if not exists` would need the right to create, also where there is nothing to create.
  const {
    rows: [existing],
  } = await client.query<{ schema: string | null; list: string | null }>(
    `select to_regnamespace($1)::text as schema, to_regclass($1 || '.innbound_migrations')::text as list`,
    [schema],
  );
  if (!existing?.schema) await client.query(`create schema ${schema}`);
  await client.query(`set local search_path = ${schema}`);
  if (!existing?.list) {
    await client.query(
      'create table innbound_migrations (file text primary key, applied_at timestamptz not null default now())',
    );
  }
  const { rows } = await client.query<{ file: string }>('select file from innbound_migrations order by file');
  const done = rows.map(({ file }) => file);
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  await restoreDropped(
    client,
    files.filter((file) => done.includes(file)),
  );
  for (const file of files) {
    if (done.includes(file)) continue;
    await client.query(await readMigration(file));
    await client.query('insert into innbound_migrations (file) values ($1)', [file]);
  }
}

const readMigration = (file: string): Promise<string> => readFile(new URL(file, folder), 'utf8');

/** The table or view that a statement of a migration creates or completes. */
const subject =
  /^(?:create (?:or replace )?(?:table|view)|alter table|insert into|comment on (?:table|view|column)|create index \w+ on) (\w+)/;

/**
 * Creates tables that somebody dropped alone, and the views that were dropped with them, by the statements that created them. A table whose
 * primary key or views still exist was not dropped but renamed or moved: it is left to its owner. So are views that were dropped on purpose.
 */
async function restoreDropped(client: pg.ClientBase, done: readonly string[]): Promise<void> {
  const statements = (await Promise.all(done.map(readMigration)))
    .flatMap((text) => text.split(/;\n/))
    .map((statement) => statement.replace(/^(?:\s|--.*\n)+/, ''));
  const named = (kind: 'table' | 'view') =>
    new Map(
      statements
        .filter((statement) => statement.startsWith(`create ${kind} `))
        .map((statement) => [subject.exec(statement)?.[1] ?? '', statement]),
    );
  const [tables, views] = [named('table'), named('view')];
  const { rows } = await client.query<{ name: string }>(
    `select name from unnest($1::text[]) as name where to_regclass(name) is null and to_regclass(name || '_pkey') is null`,
    [[...tables.keys(), ...views.keys()]],
  );
  const missing = new Set(rows.map(({ name }) => name));
  const isRead = (table: string) =>
    [...views].some(([view, sql]) => !missing.has(view) && new RegExp(`(?:from|join) ${table}\\b`).test(sql));
  const dropped = [...tables.keys()].filter((table) => missing.has(table) && !isRead(table));
  if (dropped.length === 0) return;
  const restored = new Set([...dropped, ...[...views.keys()].filter((view) => missing.has(view))]);
  for (const statement of statements) {
    if (restored.has(subject.exec(statement)?.[1] ?? '')) await client.query(statement);
  }
}

/**
 * A pool to the warehouse. Unless private addresses are allowed, it connects to public ones only, like every destination. The warehouse may be
 * behind a pooler that gives each transaction another connection: no start-up parameters, no settings or tables of a session.
 */
export function openWarehouse(settings: Settings, allowPrivate: boolean, statementTimeoutMs: number): pg.Pool {
  const pool = new pg.Pool({
    connectionString: settings.url,
    Client: WarehouseClient,
    application_name: 'innbound',
    max: 16,
    connectionTimeoutMillis: 10_000,
    idleTimeoutMillis: 60_000,
    query_timeout: statementTimeoutMs + 1_000,
    keepAlive: true,
    ...(!allowPrivate && { stream: guardedSocket }),
  } as pg.PoolConfig);
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}

/** Work in one transaction. It is rolled back if the work fails, and the connection is not used again: it may be in doubt. */
export async function inTransaction<T>(
  pool: pg.Pool,
  statementTimeoutMs: number,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`begin; set local statement_timeout = ${statementTimeoutMs}`);
    const result = await work(client);
    await client.query('commit');
    return result;
  } catch (error) {
    broken = error as Error;
    throw error;
  } finally {
    client.release(broken);
  }
}
