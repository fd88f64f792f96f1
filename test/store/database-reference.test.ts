import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { databaseFile, databaseReference, schemaFile, tablesOf } from '../../scripts/database-reference.ts';
import { testStore } from '../support/store.ts';

const schema = readFileSync(schemaFile, 'utf8');

test('the page of the database is drawn from the schema (npm run generate)', () => {
  assert.equal(readFileSync(databaseFile, 'utf8'), databaseReference(schema));
});

test('every table says what it is for', () => {
  const silent = tablesOf(schema).filter(({ comment = '' }) => comment.length < 20);
  assert.deepEqual(
    silent.map(({ name }) => name),
    [],
  );
});

test('the page shows every table, column and index that PostgreSQL has', async () => {
  const pool = await testStore();
  try {
    const { rows } = await pool.query<{ name: string; columns: string[]; indexes: number }>(
      `select c.relname as name,
              array(select a.attname::text from pg_attribute a where a.attrelid = c.oid and a.attnum > 0 order by a.attnum) as columns,
              (select count(*)::int from pg_index i where i.indrelid = c.oid
                  and not exists (select from pg_constraint k where k.conindid = i.indexrelid)) as indexes
         from pg_class c
        where c.relnamespace = 'innbound_service'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
          and c.relname <> 'migrations'
        order by 1`,
    );
    const drawn = tablesOf(schema).map(({ name, columns, indexes }) => ({
      name,
      columns: columns.map((column) => column.name),
      indexes: indexes.length,
    }));
    assert.deepEqual(
      drawn.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      rows,
    );
  } finally {
    await pool.end();
  }
});
