import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../../../src/core/canonical/reservation.ts';
import { delivery, reservation } from '../../support.ts';
import { limits, setUp } from './support.ts';

/** The history of a warehouse and its views for analysts. */

test('arrivals by day, and guests with their stays', async (t) => {
  const { open, rows } = await setUp(t);
  const ana = { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example' };
  await open().deliver(
    [
      delivery(reservation('a', { guests: [ana] })),
      delivery(reservation('b', { guests: [ana], check_in: '2026-12-10', check_out: '2026-12-12' })),
      delivery(reservation('c', { guests: [ana], status: 'cancelled' })),
      delivery(reservation('d', { guests: [{ ...ana, email: 'x@guest.booking.example', email_proxy: true }] })),
    ],
    limits,
  );
  assert.deepEqual(
    await rows(
      `select day::text, reservations::int, rooms::int, people::int from innbound.arrivals_by_day order by day`,
    ),
    [
      { day: '2026-12-01', reservations: 2, rooms: 2, people: 4 },
      { day: '2026-12-10', reservations: 1, rooms: 1, people: 2 },
    ],
  );
  assert.deepEqual(await rows('select guest, stays::int, nights::int from innbound.guests_with_stays'), [
    { guest: 'ana@guests.example', stays: 2, nights: 5 },
  ]);
});

test('a reservation that left has removed_at and is in no view, until it comes back', async (t) => {
  const { open, rows } = await setUp(t);
  const booking = { booking_date: '2026-11-01', channel: 'web' };
  const on = (version: number, more: object = {}) => ({
    ...delivery(reservation('r', booking), { version, ...more }),
    changedAt: Date.UTC(2026, 10, version, 12),
  });
  const removed = { event: 'removed', removed: true, data: { id: 'r' } } as const;
  const destination = open();
  const views = ['arrivals_by_day', 'guests_with_stays', 'channel_mix', 'lead_time', 'cancellations'];
  const counts = async () =>
    Promise.all(views.map(async (view) => (await rows(`select * from innbound.${view}`)).length));
  await destination.deliver([on(1)], limits);
  assert.deepEqual(await counts(), [1, 1, 1, 1, 1]);
  await destination.deliver([on(2, removed)], limits);
  assert.deepEqual(await counts(), [0, 0, 0, 0, 0]);
  const left = `select event, status, removed_at::date::text as day, (select count(*)::int from innbound.guests) as guests
                  from innbound.reservations`;
  assert.deepEqual(await rows(left), [{ event: 'removed', status: null, day: '2026-11-02', guests: 0 }]);
  assert.deepEqual(
    await rows('select sum(reservations)::int as n, sum(amount)::text as amount from innbound.pickup_by_day'),
    [{ n: 0, amount: '0.0' }],
  );
  // An erasure of one of its guests does not bring it back.
  await destination.deliver([on(3, { event: 'erased' })], limits);
  assert.deepEqual(await counts(), [0, 0, 0, 0, 0]);
  await destination.deliver([on(4)], limits);
  assert.deepEqual(await counts(), [1, 1, 1, 1, 1]);
  assert.deepEqual(await rows('select removed_at from innbound.reservations'), [{ removed_at: null }]);
});

test('every version is kept, once, with what it changed, and without guests', async (t) => {
  const { open, rows } = await setUp(t);
  const version = (n: number, change: object) => ({
    ...delivery(reservation('r', change), { version: n, event: n === 1 ? 'created' : 'updated' }),
    changedAt: Date.UTC(2026, 10, n, 12),
  });
  const destination = open();
  await destination.deliver([version(1, {})], limits);
  await destination.deliver([version(3, { status: 'cancelled', total_amount: '900' })], limits);
  // Late and repeated: neither replaces the newest state, both are versions.
  await destination.deliver([version(2, { total_amount: '900' })], limits);
  await destination.deliver([version(2, { total_amount: '900' })], limits);
  assert.deepEqual(await rows('select version, status from innbound.reservations'), [
    { version: 3, status: 'cancelled' },
  ]);
  assert.deepEqual(
    await rows(
      `select version, event, changed_at::date::text as day, changed from innbound.reservation_changes order by version`,
    ),
    [
      {
        version: 1,
        event: 'created',
        day: '2026-11-01',
        changed: ['check_in', 'check_out', 'status', 'total_amount'],
      },
      { version: 2, event: 'updated', day: '2026-11-02', changed: ['total_amount'] },
      { version: 3, event: 'updated', day: '2026-11-03', changed: ['status'] },
    ],
  );
  const personal = await rows('select * from innbound.reservation_versions');
  assert.equal(personal.length, 3);
  assert.doesNotMatch(JSON.stringify(personal), /guests\.example|Exemplo/);
});

test('pickup, channel mix, lead time and cancellations', async (t) => {
  const { open, rows } = await setUp(t);
  const on = (day: number, id: string, change: Partial<Reservation>, version = 1) => ({
    ...delivery(reservation(id, { total_amount: '300', booking_date: '2026-11-01', ...change }), { version }),
    changedAt: Date.UTC(2026, 10, day, 12),
  });
  const destination = open();
  await destination.deliver(
    [
      on(1, 'a', { channel: 'direct' }),
      on(1, 'b', { channel: 'OTA', check_in: '2026-12-02', check_out: '2026-12-03' }),
    ],
    limits,
  );
  await destination.deliver([on(2, 'c', { check_in: '2027-01-10', check_out: '2027-01-12' })], limits);
  await destination.deliver([on(3, 'a', { channel: 'direct', total_amount: '400' }, 2)], limits);
  await destination.deliver(
    [on(4, 'b', { channel: 'OTA', check_in: '2026-12-02', check_out: '2026-12-03', status: 'cancelled' }, 2)],
    limits,
  );
  // Moved to another month: leaves one, joins the other.
  await destination.deliver([on(5, 'c', { check_in: '2026-12-20', check_out: '2026-12-22' }, 2)], limits);
  assert.deepEqual(
    await rows(`select day::text, arrival_month::text as month, reservations, room_nights, amount::text
                  from innbound.pickup_by_day order by 1, 2`),
    [
      { day: '2026-11-01', month: '2026-12-01', reservations: 2, room_nights: 4, amount: '600' },
      { day: '2026-11-02', month: '2027-01-01', reservations: 1, room_nights: 2, amount: '300' },
      { day: '2026-11-03', month: '2026-12-01', reservations: 0, room_nights: 0, amount: '100' },
      { day: '2026-11-04', month: '2026-12-01', reservations: -1, room_nights: -1, amount: '-300' },
      { day: '2026-11-05', month: '2026-12-01', reservations: 1, room_nights: 2, amount: '300' },
      { day: '2026-11-05', month: '2027-01-01', reservations: -1, room_nights: -2, amount: '-300' },
    ],
  );
  assert.deepEqual(
    await rows(`select channel, reservations, room_nights, amount::text from innbound.channel_mix order by channel`),
    [
      { channel: 'direct', reservations: 1, room_nights: 3, amount: '400' },
      { channel: 'unknown', reservations: 1, room_nights: 2, amount: '300' },
    ],
  );
  assert.deepEqual(
    await rows('select reservations, average_days::text as average, median_days as median from innbound.lead_time'),
    [{ reservations: 2, average: '39.5', median: 39.5 }],
  );
  assert.deepEqual(
    await rows(
      'select reservations, cancelled, percent::text, average_days_before_arrival::text as days from innbound.cancellations',
    ),
    [{ reservations: 3, cancelled: 1, percent: '33.3', days: '28.0' }],
  );
});
