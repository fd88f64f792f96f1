import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bytes, float8s, int4s, int8s, texts } from '../../../src/store/db/columns.ts';
import { openPool, together, transaction } from '../../../src/store/db/pool.ts';
import { testDatabase } from '../../support/database.ts';

test('columns round-trip unchanged', async () => {
  const { connection } = await testDatabase();
  const pool = openPool({ connection, applicationName: 'test' });
  const read = async (type: string, column: Buffer) =>
    (await pool.query(`select value from unnest($1::${type}[]) as value`, [column])).rows.map(({ value }) => value);
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
    assert.deepEqual(await read('text', texts(words)), words);
    assert.deepEqual(await read('text', texts([undefined])), [null]);
    assert.deepEqual(await read('text', texts([])), []);
    const ints = [0, 1, -1, 2 ** 31 - 1, -(2 ** 31), null];
    assert.deepEqual(await read('int', int4s(ints)), ints);
    const safe = [0, Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, null];
    assert.deepEqual(await read('bigint', int8s(safe)), safe);
    const reals = [0.1, -1.5e300, 1_799_999_999_999.25, null];
    assert.deepEqual(await read('float8', float8s(reals)), reals);
    const blobs = [Buffer.from([0, 255, 92]), Buffer.alloc(0), null];
    assert.deepEqual(await read('bytea', bytes(blobs)), blobs);
    assert.throws(() => int4s([2 ** 31]), { code: 'ERR_OUT_OF_RANGE' });
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
