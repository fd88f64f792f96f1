import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bookings } from '../../intake/pull/support/partner.ts';
import { sync } from '../../intake/pull/support/runtime.ts';
import { setUpPulls } from '../../intake/pull/support/set-up.ts';

/** One record that cannot be stored does not stop its page. */
const { runtime, partnerOf } = setUpPulls();

const week = { from: '2026-03-01', to: '2026-03-07' };
const none = { pagination: { type: 'none' } };

async function deadLetters(integration: string): Promise<readonly { code: string }[]> {
  const { rows } = await runtime.pool.query('select code from dead_letters where integration = $1', [integration]);
  return rows;
}

test('a record that the database refuses becomes a dead letter, and the other records are stored', async () => {
  const book = bookings(20, week.from, 4);
  const partner = await partnerOf(() => ({ json: { reservations: book } }));
  const ports = runtime.ports({ integration: 'refused', baseUrl: partner.url, connector: { pull: none } });
  // An example of a value that the database refuses and none of our checks foresees.
  await runtime.pool.query(
    `alter table records add constraint refuses check (integration <> 'refused' or id <> $$${book[7]?.id}$$)`,
  );
  const first = await sync(ports, 'refused', week);
  assert.deepEqual([first.state, first.counters.changed, first.counters.dead], ['complete', 19, 1]);
  assert.equal((await runtime.stored('refused')).length, 19);
  assert.deepEqual(await deadLetters('refused'), [{ code: 'record.refused_by_store' }]);
  await runtime.pool.query('alter table records drop constraint refuses');
  const second = await sync(ports, 'refused', week);
  assert.deepEqual([second.state, second.counters.changed, second.counters.unchanged], ['complete', 1, 19]);
});

test('ids that cannot be keys become dead letters at every poll', async () => {
  const book = bookings(3, week.from, 4);
  const bad = [
    { ...book[0], id: 'nul\u0000id' },
    { ...book[1], id: 'x'.repeat(9_000) },
  ];
  const partner = await partnerOf(() => ({ json: { reservations: [...bad, book[2]] } }));
  const ports = runtime.ports({ integration: 'poisoned', baseUrl: partner.url, connector: { pull: none } });
  for (const changed of [1, 0]) {
    const { state, counters } = await sync(ports, 'poisoned', week);
    assert.deepEqual([state, counters.changed, counters.dead], ['complete', changed, 2]);
  }
});

test('a dead letter of a pulled record is closed when a later poll brings the corrected record', async () => {
  const [first, second, third] = bookings(3, week.from, 4);
  let book: unknown[] = [first, second, third];
  const partner = await partnerOf(() => ({ json: { reservations: book } }));
  const ports = runtime.ports({ integration: 'corrected', baseUrl: partner.url, connector: { pull: none } });
  const letters = async () => {
    const { rows } = await runtime.pool.query(
      `select id, state, closed_by, closed_reason from dead_letters where integration = 'corrected' order by id`,
    );
    return rows;
  };
  await sync(ports, 'corrected', week);
  // The second one never was stored with this status; the third one returns to the stored state and is not even mapped.
  const broken = { status: 'no such status' };
  book = [first, { ...second, ...broken }, { ...third, ...broken }];
  assert.equal((await sync(ports, 'corrected', week)).counters.dead, 2);
  book = [first, { ...second, ...broken }, third];
  const { runId } = await sync(ports, 'corrected', week);
  const closed = {
    state: 'dropped',
    closed_by: 'run',
    closed_reason: `Corrected: run ${runId} brought a later state of this record, and it was processed.`,
  };
  assert.deepEqual(await letters(), [
    { id: second?.id, state: 'open', closed_by: null, closed_reason: null },
    { id: third?.id, ...closed },
  ]);
  book = [first, { ...second, channel: 'corrected' }, third];
  await sync(ports, 'corrected', week);
  assert.deepEqual(
    (await letters()).map(({ state }) => state),
    ['dropped', 'dropped'],
  );
});
