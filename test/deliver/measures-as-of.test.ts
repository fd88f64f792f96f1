import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { on, openBooks } from './measures-books.ts';

/** What was on the books on a day, as it was then: generated hotels with late and corrected bookings, against a diary kept day by day. */

const day = (n: number): string => new Date(Date.UTC(2026, 8, 1) + n * 86_400_000).toISOString().slice(0, 10);

/** A change that the hotel makes, `after` days after the one before. */
interface Change {
  readonly after: number;
  readonly arrival: number;
  readonly nights: number;
  readonly rooms: readonly string[];
  readonly price: number;
  readonly channel: string;
  readonly isGone: boolean;
}
const change: fc.Arbitrary<Change> = fc.record({
  after: fc.integer({ min: 0, max: 30 }),
  arrival: fc.integer({ min: 100, max: 130 }),
  nights: fc.integer({ min: 1, max: 5 }),
  rooms: fc.array(fc.constantFrom('DBL', 'SGL'), { minLength: 1, maxLength: 3 }),
  price: fc.integer({ min: 50, max: 400 }),
  channel: fc.constantFrom('direct', 'OTA'),
  isGone: fc.boolean(),
});
const booking = fc.record({
  /** How many days after its first change we first hear of the booking. */
  lateBy: fc.constantFrom(0, 0, 1, 40),
  share: fc.constantFrom(undefined, undefined, undefined, 'S1'),
  changes: fc.array(change, { minLength: 1, maxLength: 4 }),
});

const stayOf = ({ arrival, nights, rooms, price, channel, isGone }: Change, share: string | undefined) =>
  ({
    check_in: day(arrival),
    check_out: day(arrival + nights),
    status: isGone ? 'cancelled' : 'confirmed',
    channel,
    // Every night of every room costs the same.
    total_amount: String(price * nights * rooms.length),
    rooms: rooms.map((room_type) => ({ room_type, ...(share && { share_id: share }) })),
  }) as Partial<Reservation>;

test('pace and pick-up are what was on the books that day', async (t) => {
  const bookings = fc.sample(booking, { numRuns: 250, seed: 9 });
  const { deliver, ask, duck } = await openBooks(t, {
    brandId: 'LIS01',
    timezone: 'Europe/Lisbon',
    roomsAvailable: [],
  });
  /** By day, night and booking: what the hotel had in its book. */
  const diary = new Map<string, { rooms: Set<string>; amount: number; arrivals: number }>();
  const deliveries = bookings.flatMap(({ lateBy, share, changes }, i) => {
    let at = 0;
    const made: { readonly one: Change; readonly at: number }[] = [];
    for (const one of changes) {
      if (made.length > 0) at += one.after;
      made.push({ one, at });
    }
    // The first message brings the state of its day. What was before it, only the booking date tells.
    const first = made.findLast((one) => one.at <= lateBy) ?? made[0];
    assert.ok(first);
    const told = [first, ...made.slice(made.indexOf(first) + 1)];
    for (let today = 0; today <= 130; today++) {
      const known: { readonly one: Change } = told.findLast((one) => one.at <= today) ?? first;
      const { one } = known;
      // What was cancelled when we first heard of it was on the books until then.
      if (one.isGone && (known !== first || today >= lateBy)) continue;
      for (let n = 0; n < one.nights; n++) {
        const key = `${day(today)} ${day(one.arrival + n)}`;
        const there = diary.get(key) ?? { rooms: new Set(), amount: 0, arrivals: 0 };
        for (const [room] of one.rooms.entries()) there.rooms.add(share ?? `${i} ${room}`);
        there.amount += one.price * one.rooms.length;
        there.arrivals += n === 0 ? one.rooms.length : 0;
        diary.set(key, there);
      }
    }
    return told.map((message, n) =>
      on(day(n === 0 ? lateBy : message.at), `R${i}`, { ...stayOf(message.one, share), booking_date: day(0) }, n + 1),
    );
  });
  await deliver(deliveries);
  const overFiles = await duck();
  for (const today of [0, 1, 10, 39, 40, 60, 75, 90].map(day)) {
    const sql = `select night::text as night, sum(rooms_sold)::int as rooms, sum(amount)::float8 as amount, sum(arrivals)::int as arrivals
        from booking_curve where day <= '${today}' group by 1 having sum(rooms_sold) <> 0 or sum(amount) <> 0 order by 1`;
    const expected = [...diary]
      .filter(([key]) => key.startsWith(today))
      .map(([key, { rooms, amount, arrivals }]) => ({ night: key.slice(11), rooms: rooms.size, amount, arrivals }))
      .toSorted((a, b) => (a.night < b.night ? -1 : 1));
    assert.ok(expected.length > 20);
    assert.deepEqual(await ask(sql), expected, today);
    assert.deepEqual(await overFiles(sql), expected, `DuckDB: ${today}`);
  }
});
