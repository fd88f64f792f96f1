import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { presets } from '../../src/core/deliver/destinations/http/preset.ts';
import { setUpPeople } from './people/set-up.ts';
import { peopleIn, sectionOf, segments } from './segments.ts';
import { reservation, takeIn } from './support.ts';
import { accounts } from './vendors/all.ts';

const today = new Date().toISOString().slice(0, 10);
/** A cancellation without a day is of the day on which it came, and that may be the next. */
const dayOf = (segment: string) => (segment === 'cancelled last week' ? new Date().toISOString().slice(0, 10) : today);
const day = (days: number) => new Date(Date.parse(today) + days * 86_400_000).toISOString().slice(0, 10);

/** The bookings of one guest each: status, check-in and check-out in days from today. */
const book: Readonly<Record<string, readonly [Reservation['status'], number, number, Partial<Reservation>?][]>> = {
  Arriving: [['confirmed', 3, 5]],
  ArrivingLater: [['confirmed', 4, 6]],
  Shy: [['confirmed', 3, 5]],
  Inside: [['checked_in', -1, 2]],
  Leaving: [['checked_in', -2, 0]],
  LeftYesterday: [['checked_out', -4, -1]],
  Regular: [
    ['checked_out', -90, -88],
    ['checked_out', -40, -38],
    ['confirmed', 60, 62],
  ],
  Celebrating: [['confirmed', 10, 14]],
  CelebratingOnce: [['checked_out', -30, -26]],
  Cancelled: [['cancelled', 20, 22, { cancelled_at: `${day(-6)}T10:00:00Z` }]],
  CancelledToday: [['cancelled', 20, 22]],
  CancelledLongAgo: [['cancelled', -20, -18, { cancelled_at: `${day(-25)}T10:00:00Z` }]],
  Away: [['checked_out', -500, -498]],
  Back: [
    ['checked_out', -500, -498],
    ['confirmed', 100, 102],
  ],
};

const expected: Readonly<Record<string, readonly string[]>> = {
  'arriving in three days, with consent': ['Arriving'],
  'in house': ['Inside', 'Leaving'],
  'left yesterday': ['LeftYesterday'],
  'stayed twice': ['Regular'],
  'birthday in the stay': ['Celebrating'],
  'cancelled last week': ['Cancelled', 'CancelledToday'],
  'no stay for a year': ['Away'],
};

/** A birthday two days before the end of the stay. */
const born: Readonly<Record<string, string>> = {
  Celebrating: `1980${day(12).slice(4)}`,
  CelebratingOnce: `1980${day(-28).slice(4)}`,
};

for (const make of accounts) {
  const { preset } = make();
  test(`${preset}: the segments of the guide hold the right people after the first import`, async (t) => {
    const { account, pool, name, drainAll } = await setUpPeople(make)(t, 'marketing');
    const bookings = Object.entries(book).flatMap(([first_name, stays]) =>
      stays.map(([status, from, to, more], i) => {
        const guest: Guest = { first_name, last_name: 'Exemplo', email: `${first_name.toLowerCase()}@guests.example` };
        const dated = born[first_name] === undefined ? guest : { ...guest, date_of_birth: born[first_name] };
        const dates = { check_in: day(from), check_out: day(to), booking_date: day(-600) };
        const guests = [{ ...dated, marketing_consent: first_name !== 'Shy' }];
        return reservation(`${first_name}-${i}`, { ...dates, ...more, status, guests });
      }),
    );
    await takeIn(pool, bookings, [name], { integration: name, mode: 'push' });
    await drainAll();
    const found = Object.fromEntries(
      Object.keys(segments).map((segment) => [segment, peopleIn(account, segment, dayOf(segment))]),
    );
    assert.deepEqual(found, expected);
  });

  test(`${preset}: the page names the filters of the segments`, () => {
    const file = new URL(`../../docs/guides/destinations/${preset}.md`, import.meta.url);
    const page = readFileSync(file, 'utf8');
    const section = /## Segments\n[\s\S]*?(?=\n## )/;
    const wanted = sectionOf(preset);
    if (process.env.INNBOUND_WRITE_DOCS === '1') {
      const placed = section.test(page)
        ? page.replace(section, wanted)
        : page.replace('\n## Good to know\n', `\n${wanted}\n## Good to know\n`);
      writeFileSync(file, placed);
    } else assert.equal(section.exec(page)?.[0], wanted, 'run this test with INNBOUND_WRITE_DOCS=1');
  });
}

test('a change of a booking that was cancelled long ago does not make it cancelled last week', async (t) => {
  const [make] = accounts;
  assert.ok(make);
  const { account, pool, name, drainAll } = await setUpPeople(make)(t, 'marketing');
  const guests: Guest[] = [{ last_name: 'Exemplo', email: 'past@guests.example', marketing_consent: true }];
  const dates = { check_in: day(-60), check_out: day(-58), booking_date: day(-90), guests };
  const take = async (more: Partial<Reservation>) => {
    await takeIn(pool, [reservation('past', { ...dates, ...more })], [name], { integration: name, mode: 'push' });
    await drainAll();
  };
  await take({ status: 'confirmed' });
  await take({ status: 'cancelled' });
  const cancelled = () => peopleIn(account, 'cancelled last week', dayOf('cancelled last week'));
  assert.equal(cancelled().length, 1);
  for (const [table, column] of [
    ['history', 'at'],
    ['records', 'created_at'],
    ['records', 'changed_at'],
  ])
    await pool.query(`update ${table} set ${column} = ${column} - interval '70 days' where id = 'past'`);
  await take({ status: 'cancelled', total_amount: '10' });
  assert.deepEqual(cancelled(), []);
});

test('every preset has the segments', () => {
  assert.deepEqual([...presets.keys()].sort(), accounts.map((make) => make().preset).sort());
});
