import { readdir, readFile } from 'node:fs/promises';
import type pg from 'pg';

const folder = new URL('./migrations/', import.meta.url);

/**
 * Creates our tables in the schema, or migrates them to this version; forward only, one writer at a time. Other objects in the
 * schema are not touched.
 */
export async function migrateWarehouse(client: pg.ClientBase, schema: string): Promise<void> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  await client.query('begin');
  try {
    await client.query(`select pg_advisory_xact_lock(hashtextextended('innbound warehouse ' || $1, 0))`, [schema]);
    // `if not exists` would need the right to create, also where there is nothing to create.
    const {
      rows: [found],
    } = await client.query<{ schema: string | null; list: string | null }>(
      `select to_regnamespace($1)::text as schema, to_regclass($1 || '.innbound_migrations')::text as list`,
      [schema],
    );
    if (!found?.schema) await client.query(`create schema ${schema}`);
    await client.query(`set local search_path = ${schema}`);
    if (!found?.list) {
      await client.query(
        'create table innbound_migrations (file text primary key, applied_at timestamptz not null default now())',
      );
    }
    const { rows } = await client.query<{ file: string }>('select file from innbound_migrations');
    const done = new Set(rows.map(({ file }) => file));
    for (const file of files) {
      if (done.has(file)) continue;
      await client.query(await readFile(new URL(file, folder), 'utf8'));
      await client.query('insert into innbound_migrations (file) values ($1)', [file]);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => {});
    throw error;
  }
}
