import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, reservationData } from './events-support.ts';

let bench: Bench;
before(async () => {
  bench = await openBench(activeIntegration({ partial: true }));
});
after(() => bench.end());
beforeEach(async () => {
  await bench.pool.query('truncate events, records, receipts, changes, sightings, outbox, dead_letters, guest_keys');
});

const at = Date.now() - 60_000;
const full = reservationData({ total_amount: 412.5, currency: 'EUR', channel: 'web' });

test('an absent key keeps the stored value, a null and an empty list clear it', async () => {
  await bench.send('reservation.created', full, { occurredAt: at });
  await bench.send(
    'reservation.updated',
    { reservation_id: 'R-1001', check_out: '2026-12-08' },
    { occurredAt: at + 1 },
  );
  await bench.work();
  const kept = await bench.reservation();
  assert.equal(kept?.check_out, '2026-12-08');
  assert.equal(kept?.check_in, '2026-12-01');
  assert.equal(kept?.total_amount, '412.5');
  assert.equal(kept?.guests[0]?.last_name, 'Quill');
  await bench.send(
    'reservation.updated',
    { reservation_id: 'R-1001', guests: [], channel: null },
    { occurredAt: at + 2 },
  );
  await bench.work();
  const cleared = await bench.reservation();
  assert.deepEqual(cleared?.guests, []);
  assert.equal(cleared?.channel, undefined);
  assert.equal(cleared?.rooms.length, 1);
  assert.equal(await bench.version(), 3);
});

test('partial events of one batch build on each other', async () => {
  await bench.send('reservation.created', full, { occurredAt: at });
  await bench.send(
    'reservation.updated',
    { reservation_id: 'R-1001', check_out: '2026-12-08' },
    { occurredAt: at + 1 },
  );
  await bench.send('reservation.updated', { reservation_id: 'R-1001', status: 'checked-in' }, { occurredAt: at + 2 });
  await bench.send('reservation.cancelled', { reservation_id: 'R-1001' }, { occurredAt: at + 3 });
  await bench.work();
  const record = await bench.reservation();
  assert.equal(record?.check_out, '2026-12-08');
  assert.equal(record?.status, 'cancelled');
  assert.equal(record?.guests.length, 1);
  assert.equal(await bench.version(), 4);
});

test('what repeats the stored values is unchanged, to the hash', async () => {
  await bench.send('reservation.created', full, { occurredAt: at });
  await bench.work();
  await bench.send(
    'reservation.updated',
    { reservation_id: 'R-1001', check_out: '2026-12-04' },
    { occurredAt: at + 1 },
  );
  await bench.work();
  assert.equal(await bench.version(), 1);
});

test('a partial event about a reservation that nobody knows is a dead letter', async () => {
  await bench.send('reservation.updated', { reservation_id: 'R-none', check_out: '2026-12-08' });
  await bench.work();
  const { rows } = await bench.pool.query('select id, code from dead_letters');
  assert.deepEqual(rows, [{ id: 'R-none', code: 'record.invalid' }]);
});

test('without the setting an event is the whole reservation: what it leaves out is gone', async () => {
  const whole = await openBench();
  try {
    await whole.send('reservation.created', full, { occurredAt: at });
    const { guests: _, ...rest } = full;
    await whole.send('reservation.updated', rest, { occurredAt: at + 1 });
    await whole.work();
    assert.deepEqual((await whole.reservation())?.guests, []);
  } finally {
    await whole.end();
  }
});
