/**
 * Writes the next migration of the warehouse if the table of canonical fields has columns that no migration creates;
 * test/canonical/fields.test.ts says when to run it. Review the file before it lands: it is frozen afterwards.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { kinds } from '../src/core/canonical/fields.ts';
import { canonicalOf, type Table, versionColumns } from '../src/core/deliver/destinations/postgres/tables.ts';

const folder = new URL('../src/core/deliver/destinations/postgres/migrations/', import.meta.url);
const files = () =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort();

/** `table.column` for each column that the migrations create. */
function createdColumns(): ReadonlySet<string> {
  const text = files()
    .map((file) => readFileSync(new URL(file, folder), 'utf8'))
    .join('\n');
  const tables = [...text.matchAll(/^create table (\w+) \(\n(.*?)\n\);/gms)].flatMap(([, table, body = '']) =>
    [...body.matchAll(/^ {2}(\w+) /gm)].map(([, column]) => `${table}.${column}`),
  );
  const added = [...text.matchAll(/^alter table (\w+) add column (\w+)/gm)].map(
    ([, table, column]) => `${table}.${column}`,
  );
  return new Set([...tables, ...added]);
}

/** The statements that add what is missing; empty if nothing is. */
export function missingColumns(): string {
  const created = createdColumns();
  const placed = (Object.keys(canonicalOf) as Table[]).flatMap((table) => {
    const own = canonicalOf[table].map((entry) => [table, ...entry] as const);
    const kept = own.filter(([, name]) => versionColumns.includes(name));
    return table === 'reservations'
      ? [...own, ...kept.map(([, ...entry]) => ['reservation_versions', ...entry] as const)]
      : own;
  });
  return placed
    .filter(([table, name]) => !created.has(`${table}.${name}`))
    .map(
      ([table, name, { kind, about }]) => `alter table ${table} add column ${name} ${kinds[kind].sql};
comment on column ${table}.${name} is '${about.replaceAll("'", "''")}';
`,
    )
    .join('');
}

if (import.meta.main) {
  const sql = missingColumns();
  const number = String(files().length + 1).padStart(4, '0');
  if (sql !== '') writeFileSync(new URL(`${number}-canonical-fields.sql`, folder), sql);
}
