import assert from 'node:assert/strict';
import { test } from 'node:test';
import { addDays } from '../../src/core/canonical/values.ts';
import { Curve, daysBetween, errorsOf, type Move, pickupOf } from '../../src/operator/measures/curve.ts';
import type { HotelFacts, NightFacts } from '../../src/operator/measures/facts.ts';
import { hotelView, type Reporting } from '../../src/operator/measures/hotel.ts';

/** The figures of a hotel, calculated by hand. */

const day = '2026-11-18';
const nobody = { reservations: 0, done: 0, rooms: 0, people: 0 };
const nothing = { reservations: 0, room_nights: 0, revenue: {} };
const facts = (change: (night: string) => Partial<NightFacts>): HotelFacts => ({
  today: { arrivals: nobody, departures: nobody, in_house: { rooms: 0, people: 0 } },
  nights: daysBetween('2024-10-01', addDays(day, 119)).map((night) => ({
    night,
    known: true,
    rooms: 0,
    free: 0,
    revenue: {},
    ...change(night),
  })),
  lost: { week: nothing, week_before: nothing, no_shows: nothing },
  channels: [{ channel: 'OTA', room_nights: 4, revenue: { EUR: 400, USD: 100 } }],
  guests: { returning: 0, new: 0, unknown: 0 },
  errors: [],
});
const plain: Reporting = { definition: 'innbound', rates: {}, commission: {} };
const rooms = [['1900-01-01', 9]] as const;
const view = (all: HotelFacts, reporting: Reporting = plain, budgets = new Map<string, number>()) =>
  hotelView(day, all, rooms, reporting, budgets);

test('both definitions: complimentary rooms', () => {
  const all = facts(() => ({ rooms: 6, free: 1, revenue: { EUR: 500 } }));
  const [own] = view(all).nights;
  assert.deepEqual([own?.sold, own?.rooms_available, own?.adr, own?.revpar], [6, 9, 500 / 6, 500 / 9]);
  const [usali] = view(all, { ...plain, definition: 'usali' }).nights;
  assert.deepEqual([usali?.sold, usali?.rooms_available, usali?.adr, usali?.revpar], [5, 9, 100, 500 / 9]);
});

test('one reporting currency: the rate of the night with its date, and what has none is said', () => {
  const all = facts((night) => ({ rooms: 2, revenue: { EUR: 100, ...(night >= day && { USD: 100 }), JPY: 5 } }));
  const rates = { USD: { '2026-11-01': 0.9, '2026-12-01': 0.8 } };
  const found = view(all, { ...plain, rates, commission: { OTA: 15 } });
  assert.equal(found.currency, 'EUR');
  assert.equal(found.nights[0]?.revenue, 190);
  assert.equal(found.nights.find(({ night }) => night === '2026-12-01')?.revenue, 180);
  assert.deepEqual(found.left_out, ['JPY']);
  assert.deepEqual(
    found.rates.map(({ currency }) => currency),
    ['USD'],
  );
  assert.deepEqual(found.channels, [{ channel: 'OTA', room_nights: 4, revenue: 490, net: 416.5 }]);
});

test('months: a past one against the same a year before, one to come against what was on the books then', () => {
  const all = facts((night) => ({
    rooms: night >= '2026-01-01' ? 6 : 3,
    revenue: { EUR: night >= '2026-01-01' ? 600 : 270 },
    yearAgo: { rooms: 1, revenue: { EUR: 90 } },
    known: night !== '2026-12-31',
  }));
  const { months } = view(all, plain, new Map([['2026-10', 20_000]]));
  assert.deepEqual([months[0]?.month, months.at(-1)?.month], ['2025-11', '2027-01']);
  const month = (name: string) => months.find((one) => one.month === name);
  const october = month('2026-10');
  assert.deepEqual(
    [october?.sold, october?.revenue, october?.adr, october?.rooms_available, october?.budget],
    [186, 18_600, 100, 279, 20_000],
  );
  assert.deepEqual([october?.last_year?.sold, october?.last_year?.revenue], [93, 31 * 270]);
  assert.equal(month('2025-11')?.last_year?.adr, 90);
  // 17 nights have ended, 13 are on the books.
  assert.equal(month('2026-11')?.last_year?.sold, 17 * 3 + 13);
  const december = month('2026-12');
  assert.deepEqual([december?.known_nights, december?.sold, december?.last_year?.sold], [30, 180, 30]);
});

/** Every night sells one room on each of the ten days before it; Saturdays sell three a day. */
const perDay = (night: string) => (new Date(night).getUTCDay() === 6 ? 3 : 1);
const moves = daysBetween(addDays(day, -130), addDays(day, 89)).flatMap((night) =>
  daysBetween(addDays(night, -10), addDays(night, -1))
    .filter((on) => on <= day)
    .map((on): Move => [night, on, 'EUR', perDay(night), 100]),
);

test('the forecast of a hotel that sells as it always did is right, and its error is zero', () => {
  const curve = new Curve(moves);
  const past = { curve, isKnown: () => true };
  for (const ahead of [0, 1, 5, 9, 20, 60]) {
    const night = addDays(day, ahead);
    const pickup = pickupOf(past, night, ahead, day) ?? Number.NaN;
    assert.equal(curve.on(night).rooms + pickup, 10 * perDay(night), night);
  }
  assert.deepEqual(
    errorsOf(past, day).map(({ days, rooms: off, nights }) => [days, off, nights]),
    [
      [7, 0, 28],
      [14, 0, 28],
      [28, 0, 28],
    ],
  );
  assert.equal(pickupOf({ curve, isKnown: (night) => night > addDays(day, -20) }, addDays(day, 5), 5, day), undefined);
});

test('a forecast of a night is not more than its rooms', () => {
  const all = facts((night) => (night >= day ? { rooms: 8, revenue: { EUR: 800 }, pickup: 4.4 } : {}));
  assert.equal(view(all).nights[3]?.forecast, 9);
  const november = view(all).months.find(({ month }) => month === '2026-11');
  assert.deepEqual(november?.forecast, { sold: 13 * 9, revenue: 13 * 900 });
});
