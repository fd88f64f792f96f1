import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../../../src/core/canonical/reservation.ts';
import { delivery, reservation } from '../../support.ts';
import { limits, setUp } from './support.ts';

/** Views of the warehouse that contradicted the hotel's books, or each other. */

const on = (day: number, id: string, change: Partial<Reservation>, version = 1) => ({
  ...delivery(reservation(id, { total_amount: '300', ...change }), { version }),
  changedAt: Date.UTC(2027, 0, day, 12),
});

test('a cancellation that a backfill brings after the arrival is not counted as days before it', async (t) => {
  const { open, rows } = await setUp(t);
  const stay = { check_in: '2026-12-01', check_out: '2026-12-04' };
  const destination = open();
  const later = { check_in: '2027-02-01', check_out: '2027-02-03' };
  await destination.deliver(
    [
      // Cancelled when it was first seen: nobody knows the day.
      on(10, 'a', { ...stay, status: 'cancelled' }),
      // The partner says the day.
      on(10, 'b', { ...stay, status: 'cancelled', cancelled_at: '2026-11-21' }),
      // Said to be cancelled after the arrival: on the day of arrival at the latest.
      on(10, 'c', { ...stay, status: 'cancelled', cancelled_at: '2026-12-02' }),
      on(1, 'd', later),
    ],
    limits,
  );
  // Seen to change.
  await destination.deliver([on(12, 'd', { ...later, status: 'cancelled' }, 2)], limits);
  assert.deepEqual(
    await rows(
      `select id, cancelled_on::text as day, cancelled_on_source as source from innbound.bookings order by id`,
    ),
    [
      { id: 'a', day: '2026-12-01', source: 'first_seen' },
      { id: 'b', day: '2026-11-21', source: 'partner' },
      { id: 'c', day: '2026-12-01', source: 'partner' },
      { id: 'd', day: '2027-01-12', source: 'change' },
    ],
  );
  assert.deepEqual(
    await rows(
      'select cancelled, average_days_before_arrival::text as days from innbound.cancellations order by arrival_month',
    ),
    [
      { cancelled: 3, days: '5.0' },
      { cancelled: 1, days: '20.0' },
    ],
  );
});

test('a status that nobody translated counts in no view', async (t) => {
  const { open, rows } = await setUp(t);
  const booked = { booking_date: '2026-11-01' };
  await open().deliver(
    [on(1, 'a', booked), on(1, 'b', { ...booked, status: 'other', status_raw: 'WAITLIST' })],
    limits,
  );
  for (const view of ['arrivals_by_day', 'channel_mix', 'pickup_by_day', 'lead_time', 'length_of_stay'])
    assert.deepEqual(
      await rows(`select sum(reservations)::int as reservations from innbound.${view}`),
      [{ reservations: 1 }],
      view,
    );
});

test('room nights are counted alike: two rooms, one of them shorter', async (t) => {
  const { open, rows } = await setUp(t);
  const rooms = [{ room_type: 'DBL' }, { room_type: 'SGL', start_date: '2026-12-02', end_date: '2026-12-04' }];
  await open().deliver([on(1, 'a', { rooms })], limits);
  for (const view of ['channel_mix', 'pickup_by_day', 'occupancy_by_night', 'booking_curve'])
    assert.deepEqual(
      await rows(`select sum(room_nights)::int as room_nights from innbound.${view}`),
      [{ room_nights: 5 }],
      view,
    );
  assert.deepEqual(await rows('select stay_nights from innbound.channel_mix'), [{ stay_nights: 3 }]);
});

test('one channel in three spellings is one channel', async (t) => {
  const { open, rows } = await setUp(t);
  const channels = ['Booking.com', 'BOOKING.COM', 'Booking.com', 'booking com'];
  await open().deliver(
    channels.map((channel, i) => on(1, `r${i}`, { channel })),
    limits,
  );
  assert.deepEqual(await rows('select channel, reservations from innbound.channel_mix'), [
    { channel: 'Booking.com', reservations: 4 },
  ]);
});
