import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pool, type Tx, transaction } from '../../../src/core/store/db/pool.ts';
import { searchRecords } from '../../../src/core/store/records/search.ts';
import { testStore } from '../../support/store.ts';

let pool: Pool;
before(async () => {
  pool = await testStore();
  await pool.query(`
    insert into records (integration, type, id, version, effective_at, seq, data, keys)
    select 'grand', 'reservation', 'R-' || n, 1, now(), n,
           json_build_object('id', 'R-' || n, 'guests', json_build_array(json_build_object('last_name', 'Guest' || n))),
           array_to_tsvector(array['reservation last_name:guest' || n, 'reservation confirmation_number:cn-' || n,
                                   'reservation email:g' || n || '@mail.example'])
      from generate_series(1, 20000) as n`);
  await pool.query('analyze');
});
after(() => pool.end());

const integrations = ['grand'];

/** Of this connection; earlier statements may be included. */
async function scansSoFar(tx: Tx): Promise<number> {
  const { rows } = await tx.query<{ scans: number }>(`select pg_stat_get_xact_numscans('records'::regclass) as scans`);
  return rows[0]?.scans ?? 0;
}

test('no search reads a whole table', async () => {
  for (const [text, matched] of [
    ['guest12345', 'last_name'],
    ['CN-12345', 'confirmation_number'],
    ['R-12345', 'id'],
  ] as const) {
    const { found, scans } = await transaction(pool, async (tx) => {
      const before = await scansSoFar(tx);
      const result = await searchRecords(tx as unknown as Pool, { type: 'reservation', text, limit: 10, integrations });
      return { found: result, scans: (await scansSoFar(tx)) - before };
    });
    assert.deepEqual(
      found.map((one) => [one.id, one.matched]),
      [['R-12345', matched]],
    );
    assert.equal(scans, 0, `${text}: a table was read from its beginning`);
  }
});

test('wildcard characters in a search match themselves', async () => {
  for (const text of ['guest_2345', 'guest%', 'cn_12345', '\\']) {
    assert.deepEqual(await searchRecords(pool, { type: 'reservation', text, limit: 10 }), [], text);
  }
  const found = await searchRecords(pool, { type: 'reservation', text: 'guest1234', limit: 20 });
  assert.equal(found.length, 11, 'the name itself and the ten that begin with it');
});
