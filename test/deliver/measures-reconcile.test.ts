import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Reservation, Room } from '../../src/core/canonical/reservation.ts';
import type { Delivery } from '../../src/core/deliver/message.ts';
import { on, openBooks, type Row } from './measures-books.ts';

/** On generated hotels all views tell the same, to the cent, in the warehouse and over Parquet files. */

const day = (n: number): string => new Date(Date.UTC(2026, 11, 1) + n * 86_400_000).toISOString().slice(0, 10);
const money = fc.integer({ min: -5_000, max: 300_000 }).map((cents) => String(cents / 100));
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });

const stay = fc.record({ from: fc.integer({ min: 0, max: 60 }), nights: fc.integer({ min: 0, max: 9 }) });
const room = (from: number, nights: number): fc.Arbitrary<Room> =>
  fc.record({
    room_kind: fc.constantFrom(undefined, undefined, undefined, 'room', 'pseudo', 'house'),
    share_id: fc.constantFrom(undefined, undefined, 'S1', 'S2'),
    start_date: optional(fc.integer({ min: 0, max: nights }).map((n) => day(from + n))),
    adults: optional(fc.integer({ min: 0, max: 3 })),
  });
const charge = (from: number) =>
  fc.record({
    charge_kind: fc.constantFrom(undefined, 'room', 'room', 'food'),
    charge_date: optional(fc.integer({ min: -1, max: 10 }).map((n) => day(from + n))),
    amount: money,
    tax_amount: optional(money),
  });
const booking: fc.Arbitrary<Partial<Reservation>> = stay.chain(({ from, nights }) =>
  fc.record({
    check_in: fc.constant(day(from)),
    check_out: fc.constant(day(from + nights)),
    status: fc.constantFrom('confirmed', 'confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'),
    booking_date: optional(fc.integer({ min: -200, max: 70 }).map(day)),
    cancelled_at: optional(fc.integer({ min: -200, max: 70 }).map(day)),
    channel: optional(fc.constantFrom('direct', 'OTA')),
    currency: fc.constantFrom('EUR', 'EUR', 'JPY', 'KWD'),
    total_amount: optional(money),
    guests: fc.array(
      fc.record({
        guest_id: optional(fc.constantFrom('G1', 'G2', 'G3')),
        nationality: optional(fc.constantFrom('PT', 'DE')),
      }),
      { maxLength: 2 },
    ),
    rooms: fc.array(room(from, nights), { maxLength: 3 }),
    charges: fc.array(charge(from), { maxLength: 3 }),
  }),
) as fc.Arbitrary<Partial<Reservation>>;
/** The versions of a reservation, each some days after the one before. */
const history = fc.array(fc.tuple(booking, fc.integer({ min: 0, max: 20 })), { minLength: 1, maxLength: 3 });
const hotel = fc.array(history, { minLength: 30, maxLength: 60 });

const deliveries = (histories: [Partial<Reservation>, number][][]): Delivery[] =>
  histories.flatMap((versions, i) => {
    let at = -40;
    return versions.map(([change, later], n) => {
      at += later;
      return on(day(at), `R${i}`, change, n + 1);
    });
  });

/** By view: the reservations, room nights, rooms sold and amounts that it adds up to, by currency where it has one. */
const totals = {
  nights:
    'count(distinct reservation_id) as reservations, sum(room_night) as room_nights, sum(sold) as rooms_sold, sum(amount) as amount, sum(room_revenue) as room_revenue',
  pickup_by_day: 'sum(reservations) as reservations, sum(room_nights) as room_nights, sum(amount) as amount',
  booking_curve: 'sum(room_nights) as room_nights, sum(amount) as amount, sum(room_revenue) as room_revenue',
  channel_mix: 'sum(reservations) as reservations, sum(room_nights) as room_nights, sum(amount) as amount',
  country_mix: 'sum(reservations) as reservations, sum(room_nights) as room_nights, sum(amount) as amount',
  guest_value: 'sum(stays) as reservations, sum(amount) as amount',
  revenue_by_night: 'sum(rooms_sold) as rooms_sold, sum(amount) as amount, sum(room_revenue) as room_revenue',
  measures_by_month: 'sum(rooms_sold) as rooms_sold, sum(amount) as amount, sum(room_revenue) as room_revenue',
};
const totalsOf = (view: string, sums: string) =>
  `select currency, ${sums} from ${view} ${view === 'nights' ? 'where on_books' : ''} group by 1 order by 1`;

/** Both engines' numbers, dates and text as equal values. */
const plain = (row: Row): Row =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => {
      const number = typeof value === 'number' || /^-?\d+(\.\d+)?$/.test(String(value)) ? Number(value) : undefined;
      const text = value instanceof Date ? value.toISOString().slice(0, 10) : value;
      return [name, number === undefined ? text : Math.round(number * 1_000) / 1_000 || 0];
    }),
  );

test('the views of generated hotels add up to the same', async (t) => {
  await fc.assert(
    fc.asyncProperty(hotel, async (histories) => {
      const { deliver, ask, duck } = await openBooks(t, {
        brandId: 'LIS01',
        timezone: 'Pacific/Auckland',
        country: 'NZ',
        roomsAvailable: [[day(0), 40]],
      });
      await deliver(deliveries(histories));
      const overFiles = await duck();
      const books = (await ask(totalsOf('nights', totals.nights))).map(plain);
      for (const [view, sums] of Object.entries(totals)) {
        for (const told of [await ask(totalsOf(view, sums)), await overFiles(totalsOf(view, sums))]) {
          for (const row of told.map(plain)) {
            const { currency, ...found } = row;
            const expected = books.find((one) => one.currency === currency) ?? {};
            for (const [name, value] of Object.entries(found))
              assert.equal(value ?? 0, expected[name] ?? 0, `${view}.${name} in ${currency}`);
          }
        }
      }
      // Each reservation, exactly.
      const spread = `select r.id from reservations r join nights n on n.reservation_id = r.id left join (
          select reservation_id, sum(amount) as gross, case when count(*) = count(tax_amount) then sum(tax_amount) end as tax
            from charges where charge_kind = 'room' group by 1) c on c.reservation_id = r.id
        group by r.id, r.total_amount, c.gross, c.tax
        having sum(n.amount) <> r.total_amount or sum(n.room_gross) <> c.gross or sum(n.room_tax) <> c.tax`;
      assert.deepEqual(await ask(spread), []);
      assert.deepEqual(await overFiles(spread), []);
      for (const sql of [
        `select sum(sold)::int as n, sum(room_night)::int as m from nights where on_books`,
        `select sum(rooms_sold)::int as n, sum(room_nights)::int as m from occupancy_by_night`,
      ])
        assert.deepEqual(await ask(sql), await overFiles(sql), sql);
      assert.deepEqual(
        await ask(
          `select night from nights where sold = 1 and share_id is not null group by share_id, night having count(*) > 1`,
        ),
        [],
        'a shared room is sold once',
      );
    }),
    { numRuns: 1 },
  );
});

/** DuckDB divides as doubles, so a quotient may be rounded to the other side: those columns are compared in measures.test.ts. */
test('every view tells the same in the warehouse and over Parquet files', async (t) => {
  const { deliver, ask, duck } = await openBooks(t, {
    brandId: 'LIS01',
    timezone: 'Europe/Lisbon',
    country: 'PT',
    roomsAvailable: [[day(0), 40]],
  });
  await deliver(deliveries(fc.sample(history, { numRuns: 120, seed: 7 })));
  const overFiles = await duck();
  const views = await ask(
    `select viewname as name, (select string_agg(quote_ident(attname) || case when atttypid = 'date'::regtype then '::text' else '' end || ' as ' || quote_ident(attname), ', ' order by attnum)
       from pg_attribute where attrelid = ('innbound.' || viewname)::regclass and attnum > 0
        and atttypid not in ('timestamptz'::regtype, 'text[]'::regtype) and attname !~ '^(adr|revpar|occupancy|average.*|.*percent)$') as columns
       from pg_views where schemaname = 'innbound' and viewname <> 'version_days'`,
  );
  assert.ok(views.length > 15);
  for (const { name, columns } of views) {
    const sql = `select ${String(columns)} from ${String(name)}`;
    const [warehouse, files] = [await ask(sql), await overFiles(sql)].map((rows) =>
      rows.map((row) => JSON.stringify(plain(row))).sort(),
    );
    assert.ok((warehouse?.length ?? 0) > 0, String(name));
    const differing = warehouse?.flatMap((row, i) => (row === files?.[i] ? [] : [[row, files?.[i]]])) ?? [];
    assert.deepEqual(differing.slice(0, 3), [], String(name));
    assert.equal(files?.length, warehouse?.length, String(name));
  }
});
