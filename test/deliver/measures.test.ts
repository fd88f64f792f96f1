import assert from 'node:assert/strict';
import { test } from 'node:test';
import { on, openBooks } from './measures-books.ts';

/** The measures of docs/guides/measures.md, against books that were calculated by hand. */

const taken = '2026-11-25';
const guest = [{ guest_id: 'G1', first_name: 'Ana', last_name: 'Exemplo', nationality: 'PT' }];
const room = { room_type: 'DBL', adults: 2 };
const books = [
  on(taken, 'A', {
    check_out: '2026-12-04',
    total_amount: '100',
    booking_date: '2026-11-01',
    channel: 'direct',
    guests: guest,
  }),
  on(taken, 'B', {
    check_in: '2026-12-02',
    total_amount: '250',
    rooms: [room, { room_type: 'SGL', start_date: '2026-12-03', adults: 1 }],
    charges: [
      { charge_kind: 'room', amount: '200', tax_amount: '20' },
      { charge_kind: 'food', amount: '50' },
    ],
  }),
  on(taken, 'C1', {
    check_in: '2026-12-03',
    check_out: '2026-12-05',
    total_amount: '80',
    rooms: [{ ...room, share_id: 'S1' }],
  }),
  on(taken, 'C2', {
    check_in: '2026-12-03',
    check_out: '2026-12-05',
    total_amount: '80',
    rooms: [{ ...room, share_id: 'S1' }],
  }),
  on(taken, 'D', { check_in: '2026-12-03', check_out: '2026-12-03', total_amount: '40' }),
  on(taken, 'E', { check_out: '2026-12-05', total_amount: '500', rooms: [{ room_kind: 'pseudo' }] }),
  on(taken, 'F', {
    check_in: '2026-12-02',
    check_out: '2026-12-05',
    status: 'cancelled',
    booking_date: '2026-11-10',
    cancelled_at: '2026-11-20',
  }),
  on(taken, 'G', { check_in: '2026-12-04', check_out: '2026-12-05', status: 'no_show', booking_date: '2026-11-15' }),
  on(taken, 'H', {
    check_in: '2026-12-04',
    check_out: '2026-12-06',
    total_amount: '180',
    booking_date: '2026-11-24',
    guests: guest,
    charges: [
      { charge_kind: 'room', charge_date: '2026-12-04', amount: '100', tax_amount: '10' },
      { charge_kind: 'room', charge_date: '2026-12-05', amount: '80', tax_amount: '8' },
    ],
  }),
  on(taken, 'J', { check_in: '2026-12-05', check_out: '2026-12-07', total_amount: '1001', currency: 'JPY' }),
];
const brand = {
  brandId: 'LIS01',
  timezone: 'Europe/Lisbon',
  country: 'PT',
  roomsAvailable: [
    ['1900-01-01', 10],
    ['2026-12-05', 8],
  ],
} as const;

/** Answers on the left, what the books say on the right. */
const questions: readonly (readonly [sql: string, rows: readonly (readonly unknown[])[]])[] = [
  [
    `select reservation_id, night::text, room, kind, sold, amount::float8, room_gross::float8, room_tax::float8, room_revenue::float8
       from nights where reservation_id in ('A', 'B', 'D', 'H', 'J') order by 1, 2, 3`,
    [
      ['A', '2026-12-01', 0, 'room', 1, 33.33, 33.33, null, 33.33],
      ['A', '2026-12-02', 0, 'room', 1, 33.33, 33.33, null, 33.33],
      ['A', '2026-12-03', 0, 'room', 1, 33.34, 33.34, null, 33.34],
      ['B', '2026-12-02', 0, 'room', 1, 83.33, 66.66, 6.66, 60],
      ['B', '2026-12-03', 0, 'room', 1, 83.33, 66.67, 6.67, 60],
      ['B', '2026-12-03', 1, 'room', 1, 83.34, 66.67, 6.67, 60],
      ['D', '2026-12-03', 0, 'day_use', 0, 40, 40, null, 40],
      ['H', '2026-12-04', 0, 'room', 1, 90, 100, 10, 90],
      ['H', '2026-12-05', 0, 'room', 1, 90, 80, 8, 72],
      ['J', '2026-12-05', 0, 'room', 1, 500, 500, null, 500],
      ['J', '2026-12-06', 0, 'room', 1, 501, 501, null, 501],
    ],
  ],
  [
    'select night::text, rooms_available, rooms_sold, room_nights, people, occupancy::float8 from occupancy_by_night order by 1',
    [
      ['2026-12-01', 10, 1, 1, 2, 10],
      ['2026-12-02', 10, 2, 2, 4, 20],
      ['2026-12-03', 10, 4, 5, 9, 40],
      ['2026-12-04', 10, 2, 3, 6, 20],
      ['2026-12-05', 8, 2, 2, 4, 25],
      ['2026-12-06', 8, 1, 1, 2, 12.5],
    ],
  ],
  [
    `select month::text, currency, rooms_available, rooms_sold, occupancy::float8, room_revenue::float8, amount::float8, adr::float8, revpar::float8
       from measures_by_month order by currency`,
    [
      ['2026-12-01', 'EUR', 56, 10, 21.4, 642, 1230, 64.2, 11.46],
      ['2026-12-01', 'JPY', 56, 2, 21.4, 1001, 1001, 500.5, 17.88],
    ],
  ],
  ['select reservations, stay_nights, average_nights::float8 from length_of_stay', [[7, 17, 2.43]]],
  ['select reservations, average_days::float8, median_days::float8 from lead_time', [[2, 20, 20]]],
  [
    `select reservations, cancelled, no_shows, percent::float8, no_show_percent::float8, average_days_before_arrival::float8 from cancellations`,
    [[10, 1, 1, 10, 10, 12]],
  ],
  [
    `select country, currency, reservations, room_nights, amount::float8 from country_mix order by 1, 2`,
    [
      ['PT', 'EUR', 2, 5, 280],
      ['unknown', 'EUR', 5, 7, 950],
      ['unknown', 'JPY', 1, 2, 1001],
    ],
  ],
  ['select reservations, known, returning_guests, percent::float8 from repeat_share', [[8, 2, 1, 50]]],
  [
    'select guest, stays, stay_nights, amount::float8, first_check_in::text from guest_value where guest is not null',
    [['G1', 2, 5, 280, '2026-12-01']],
  ],
  // On the books of December: on three days, and in the end.
  ...(
    [
      ['2026-11-12', 6],
      ['2026-11-18', 7],
      ['2026-11-22', 4],
      ['2026-12-31', 14],
    ] as const
  ).map(([day, n]) => [`select sum(room_nights)::int as n from booking_curve where day <= '${day}'`, [[n]]] as const),
];

const rare = [
  // Complimentary, and beside it one whose price nobody stated.
  on(taken, 'K', { check_in: '2027-01-10', check_out: '2027-01-11', total_amount: '0' }),
  on(taken, 'K2', { check_in: '2027-01-10', check_out: '2027-01-11', total_amount: undefined }),
  on(taken, 'K3', { check_in: '2027-01-10', check_out: '2027-01-11', total_amount: '120' }),
  // A folio that is posted night by night: two of four nights.
  on(taken, 'L', {
    check_in: '2027-01-20',
    check_out: '2027-01-24',
    status: 'checked_in',
    total_amount: '480',
    charges: [
      { charge_kind: 'room', charge_date: '2027-01-20', amount: '110', tax_amount: '10' },
      { charge_kind: 'room', charge_date: '2027-01-21', amount: '99', tax_amount: '9' },
    ],
  }),
  // The guest has left: what is not posted was not charged.
  on(taken, 'M', {
    check_in: '2027-01-26',
    check_out: '2027-01-28',
    status: 'checked_out',
    total_amount: '200',
    charges: [{ charge_kind: 'room', charge_date: '2027-01-26', amount: '100', tax_amount: '0' }],
  }),
];
const rareQuestions: typeof questions = [
  [
    `select night::text, rooms_available, rooms_sold, complimentary, room_revenue::float8, occupancy::float8, adr::float8, revpar::float8
       from usali_by_night where night = '2027-01-10'`,
    [['2027-01-10', 8, 2, 1, 120, 25, 60, 15]],
  ],
  [
    `select reservation_id, night::text, room_gross::float8, expected::float8, room_revenue::float8 from nights
      where reservation_id in ('L', 'M') order by 1, 2`,
    [
      ['L', '2027-01-20', 110, 0, 100],
      ['L', '2027-01-21', 99, 0, 90],
      ['L', '2027-01-22', 0, 90, 90],
      ['L', '2027-01-23', 0, 90, 90],
      ['M', '2027-01-26', 100, 0, 100],
      ['M', '2027-01-27', 0, 0, 0],
    ],
  ],
];

for (const [name, taken, asked] of [
  ['of a small book', books, questions],
  ['of complimentary rooms and of folios that are posted night by night', rare, rareQuestions],
] as const)
  test(`the measures ${name}, in the warehouse and over Parquet files`, async (t) => {
    const { deliver, ask, duck } = await openBooks(t, brand);
    await deliver(taken);
    const overFiles = await duck();
    for (const [sql, expected] of asked) {
      assert.deepEqual((await ask(sql)).map(Object.values), expected, sql);
      assert.deepEqual(
        (await overFiles(sql)).map((row) => Object.values(row)),
        expected,
        `DuckDB: ${sql}`,
      );
    }
  });
