import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowsTable, texts } from '../../../src/core/store/db/columns.ts';
import { openPool, together, transaction } from '../../../src/core/store/db/pool.ts';
import { testDatabase } from '../../support/database.ts';

test('columns round-trip unchanged', async () => {
  const { connection } = await testDatabase();
  const pool = openPool({ connection, applicationName: 'test' });
  const read = async (type: 'text' | 'int' | 'bigint' | 'float8' | 'bytea', values: readonly unknown[]) => {
    const table = rowsTable(1, { [type]: ['value'] });
    const { rows } = await pool.query(
      `select value from ${table.sql} where value is null or value = any(${table.array('value' as never)})`,
      table.values(values.map((value) => ({ value }) as never)),
    );
    return rows.map(({ value }) => value);
  };
  try {
    const words = [
      '',
      'plain',
      '{"a":"\\"b\\\\","c":[1,null]}',
      'NULL',
      null,
      'İstanbul ς 日本 🏨',
      "it's {,}",
      '\n\t',
    ];
    assert.deepEqual(await read('text', words), words);
    assert.deepEqual(await read('text', [undefined]), [null]);
    assert.deepEqual(await read('text', []), []);
    const ints = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), null];
    assert.deepEqual(await read('int', ints), ints);
    const safe = [0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
    assert.deepEqual(await read('bigint', safe), safe);
    const reals = [0.1, -1.5e300, 1_799_999_999_999.25, null];
    assert.deepEqual(await read('float8', reals), reals);
    const blobs = [Buffer.from([0, 255, 92]), Buffer.alloc(0), null];
    assert.deepEqual(await read('bytea', blobs), blobs);
    await assert.rejects(read('int', [2 ** 31]), { code: 'ERR_OUT_OF_RANGE' });
    const both = rowsTable(2, { text: ['name'], int: ['count'] });
    const { rows } = await pool.query(`select $1::text as own, name, count from ${both.sql} where $${both.next} = 1`, [
      'own',
      ...both.values([{ name: 'a', count: 1 }, { name: 'b' }]),
      1,
    ]);
    assert.deepEqual(rows, [
      { own: 'own', name: 'a', count: 1 },
      { own: 'own', name: 'b', count: null },
    ]);
    const { rows: listed } = await pool.query('select $1::text[] as texts', [texts(['a', ''])]);
    assert.deepEqual(listed, [{ texts: ['a', ''] }]);
  } finally {
    await pool.end();
  }
});

test('a failure among pipelined statements rolls all back and reports the first one', async () => {
  const { connection } = await testDatabase();
  const pool = openPool({ connection, applicationName: 'test', maxConnections: 1 });
  try {
    await pool.query('create table public.flights (n int check (n < 3))');
    const insert = (n: number) => `insert into public.flights values (${n})`;
    await assert.rejects(
      transaction(pool, (tx) => together([1, 3, 2].map((n) => tx.query(insert(n))))),
      { code: '23514' },
    );
    assert.deepEqual((await pool.query('select n from public.flights')).rows, []);
    await transaction(pool, (tx) => together([1, 2].map((n) => tx.query(insert(n)))));
    assert.deepEqual((await pool.query('select n from public.flights')).rows, [{ n: 1 }, { n: 2 }]);
  } finally {
    await pool.end();
  }
});
