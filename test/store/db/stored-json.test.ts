import assert from 'node:assert/strict';
import { test } from 'node:test';
import { copiedTables } from '../../../src/core/store/db/copy.ts';
import { storedJson } from '../../../src/core/store/db/stored-json.ts';
import { testStore } from '../../support/store.ts';

test('every JSON column of the schema says what a file may bring into it', async () => {
  const pool = await testStore();
  const tables = await copiedTables(pool);
  await pool.end();
  const found = tables.flatMap(({ table, columns, types }) =>
    columns.filter((_, at) => /^jsonb?$/.test(types[at] ?? '')).map((column) => `${table}.${column}`),
  );
  assert.ok(found.length > 20);
  assert.deepEqual([...storedJson.keys()].sort(), found.sort());
});
