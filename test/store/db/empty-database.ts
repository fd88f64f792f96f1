import { readVersion, type SchemaVersion } from '../../../src/core/store/db/migrate.ts';
import { openPool, type Pool } from '../../../src/core/store/db/pool.ts';
import { testDatabase } from '../../support/database.ts';

export async function withPool<T>(work: (pool: Pool) => Promise<T>): Promise<T> {
  const { connection } = await testDatabase({ empty: true });
  const pool = openPool({ connection, applicationName: 'test' });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

/** The schema as text: columns, indexes, constraints and comments. */
export async function shapeOf(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<{ line: string }>(`
    select format('%s.%s %s %s %s', table_name, column_name, data_type, is_nullable, column_default) as line
      from information_schema.columns where table_schema = 'innbound_service'
    union all
    select indexdef from pg_indexes where schemaname = 'innbound_service'
    union all
    select format('%s %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
     where connamespace = 'innbound_service'::regnamespace
    union all
    select format('%s: %s', objoid::regclass, description) from pg_description
     where classoid = 'pg_class'::regclass and objoid in
           (select oid from pg_class where relnamespace = 'innbound_service'::regnamespace)
     order by 1`);
  return rows.map(({ line }) => line);
}

/** What a later version adds: a table, and columns of tables that it had. */
const second = `-- additive
create table later_notes (integration text primary key, note text not null);
alter table records add column later_note text;
alter table jobs add column later_count int not null default 0;
`;

/** This version with one more migration. */
export async function laterVersion(): Promise<SchemaVersion> {
  const { schema, migrations } = await readVersion();
  const number = Math.max(1, ...migrations.map((one) => one.number)) + 1;
  return {
    schema: schema + second,
    migrations: [...migrations, { file: 'later.sql', number, name: 'later', sql: second }],
  };
}
