import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type Pool, transaction } from '../../src/core/store/db/pool.ts';
import { settle } from '../../src/core/store/events/work-events.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { settleDeadLetters } from '../../src/core/store/records/dead-letters.ts';
import { knownRows } from '../../src/core/store/records/listed.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { openStore, reservation, takeIn } from '../deliver/support.ts';
import { testBrand } from '../support/brand.ts';

/**
 * A brand that is new since the last analyze. The planner expects none of its rows, so that any plan that reads them all looks as cheap as
 * a look at the key.
 */
const brand = 'new' as IntegrationName;
const count = 2_000;
const tables = ['records', 'outbox', 'events', 'dead_letters'];

let pool: Pool;
let close: () => Promise<void>;
before(async () => {
  ({ pool, close } = await openStore());
  for (const table of tables) await pool.query(`alter table ${table} set (autovacuum_enabled = false)`);
  await fill('old');
  for (const table of tables) await pool.query(`analyze ${table}`);
  await fill(brand);
});
after(() => close());

async function fill(name: string): Promise<void> {
  await pool.query(
    `insert into records (integration, type, id, version, effective_at, seq, data, arrival, listed)
     select $1, 'reservation', 'R' || n, 1, 'epoch', 0, $3, '2027-03-01', n from generate_series(1, $2) n`,
    [name, count, JSON.stringify({ ...reservation('R'), total_amount: 1 })],
  );
  await pool.query(
    `insert into outbox (integration, destination, type, id, next_version, last_version, due_at, leased, fence)
     select $1, 'crm', 'reservation', 'R' || n, 1, 1, now() + interval '1 hour', true, 1 from generate_series(1, $2) n`,
    [name, count],
  );
  await pool.query(
    `insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body_hash)
     select $1, n, $1, 'E' || n, 'reservation.updated', now(), now(), '' from generate_series(1, $2) n`,
    [name, count],
  );
  await pool.query(
    `insert into dead_letters (integration, kind, fingerprint, type, id, code, message)
     select $1, 'record', 'R' || n, 'reservation', 'R' || n, 'record.invalid', '' from generate_series(1, $2) n`,
    [name, count],
  );
}

/** How many index entries the work reads; it uses one connection at a time, which reports its statistics here. */
async function entriesRead(table: string, work: () => Promise<unknown>): Promise<number> {
  const readSoFar = async () => {
    await pool.query('select pg_stat_force_next_flush()');
    const { rows } = await pool.query<{ read: number }>(
      'select sum(idx_tup_read)::bigint as read from pg_stat_user_indexes where relname = $1',
      [table],
    );
    return rows[0]?.read ?? 0;
  };
  const already = await readSoFar();
  await work();
  return (await readSoFar()) - already;
}

test('a page recognises its rows by their key', async () => {
  const page = Array.from({ length: 100 }, (_, i) => ({ key: `R${1_951 + i}`, listed: 1_951 + i }));
  const read = await entriesRead('records', async () => {
    assert.equal((await knownRows(pool, testBrand(brand), page)).length, 50);
  });
  assert.ok(read <= page.length, `${read} entries were read`);
});

test('a change updates its reservation by its key', async () => {
  const changed = [reservation('R7', { status: 'cancelled' }), reservation('R8', { status: 'cancelled' })];
  const read = await entriesRead('records', () => takeIn(pool, changed, ['crm'], { integration: brand }));
  const { rows } = await pool.query('select id from records where integration = $1 and version = 2 order by id', [
    brand,
  ]);
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['R7', 'R8'],
  );
  assert.ok(read < 50, `${read} entries were read`);
});

test('a statement without a change updates its reservation by its key', async () => {
  const same = [reservation('R7', { status: 'cancelled' })];
  const read = await entriesRead('records', () => takeIn(pool, same, ['crm'], { integration: brand }));
  assert.ok(read < 50, `${read} entries were read`);
});

test('a returned lease is found by its key', async () => {
  const claim = { type: 'reservation', id: 'R9', fence: 1 } as never;
  const read = await entriesRead('outbox', () =>
    outboxStore(pool).putBack({ integration: brand, destination: 'crm' }, [claim]),
  );
  const { rows } = await pool.query('select id from outbox where integration = $1 and not leased', [brand]);
  assert.deepEqual(
    rows.map(({ id }) => id),
    ['R9'],
  );
  assert.ok(read < 50, `${read} entries were read`);
});

test('a processed event is found by its number', async () => {
  const done = { seq: 10, state: 'done', outcome: 'unchanged' } as never;
  const read = await entriesRead('events', () => transaction(pool, (tx) => settle(tx, brand, [done])));
  const { rows } = await pool.query(`select seq from events where integration = $1 and state = 'done'`, [brand]);
  assert.deepEqual(
    rows.map(({ seq }) => seq),
    [10],
  );
  assert.ok(read < 50, `${read} entries were read`);
});

test('a page finds the dead letters that it corrects by their records', async () => {
  const requestedAt = Date.now() + 60_000;
  const page = Array.from({ length: 100 }, (_, i) => ({ id: `R${1_951 + i}`, requestedAt, mode: 'pull' as const }));
  const read = await entriesRead('dead_letters', () =>
    transaction(pool, (tx) => settleDeadLetters(tx, brand, 'run_1', page)),
  );
  const { rows } = await pool.query(`select count(*)::int as closed from dead_letters where state = 'dropped'`);
  assert.deepEqual(rows, [{ closed: 50 }]);
  assert.ok(read < 300, `${read} entries were read`);
});
