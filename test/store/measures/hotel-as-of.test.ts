import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { HotelReport } from '../../../src/operator/api/routes/hotel.ts';
import { countHotel, readHotel } from '../../../src/operator/store/measures/hotel-report.ts';
import type { Json } from '../../../src/terms.ts';
import { type ApiNode, apiNode, asked, countPage, reservation } from '../../api/node.ts';

/** The figures of a hotel against a diary that is kept by other means: late, corrected, cancelled and dropped bookings. */

const timezone = 'Europe/Lisbon';
const today = Temporal.Now.plainDateISO(timezone);
const day = (n: number): string => today.add({ days: n }).toString();
const noon = (n: number): number =>
  today.add({ days: n }).toZonedDateTime({ timeZone: timezone, plainTime: '12:00' }).epochMilliseconds;

/** A state of a booking, from a day on. Days are counted from `base`: today, or a year ago. */
interface State {
  readonly on: number;
  readonly arrival: number;
  readonly nights: number;
  readonly rooms: number;
  readonly price: number;
  readonly isGone: boolean;
}
const state: fc.Arbitrary<State> = fc.record({
  on: fc.integer({ min: -60, max: -1 }),
  arrival: fc.integer({ min: 0, max: 25 }),
  nights: fc.integer({ min: 1, max: 4 }),
  rooms: fc.integer({ min: 1, max: 2 }),
  price: fc.integer({ min: 0, max: 300 }),
  isGone: fc.nat(3).map((n) => n === 0),
});
const booking = fc.record({
  base: fc.constantFrom(0, 0, -364),
  share: fc.constantFrom(undefined, undefined, undefined, 'S1'),
  isStaff: fc.nat(5).map((n) => n === 0),
  states: fc
    .uniqueArray(state, { selector: ({ on }) => on, minLength: 1, maxLength: 4 })
    .map((all) => all.toSorted((one, other) => one.on - other.on)),
});

const brand = `integration: grand
connector: hotel
brand_id: LIS01
timezone: ${timezone}
rooms_available: 50
pull:
  base_url: http://127.0.0.1:1
  auth: { type: bearer, token: letmein }
  syncs: { pre_stay: { every: 15m, range: [+1d, +7d] } }
push: { enabled: true }
guard: off
transforms: [{ when: 'segment == "staff"', drop: true }]
deliver: [lake]
`;

describe('the figures of a hotel', () => {
  let node: ApiNode;
  before(async () => {
    node = await apiNode('', { 'integrations/grand.yaml': brand });
  });
  after(() => node.stop());

  const report = async (integration = 'grand'): Promise<HotelReport> => {
    await countPage(node, integration);
    return (await node.call('GET', `/integrations/${integration}/hotel`, await node.token('viewer'))).body.report;
  };

  test('on the books, as they were: now, a week, a month and a year ago', async () => {
    await asked(node, 'grand', day(-800), day(200));
    const bookings = fc.sample(booking, { numRuns: 80, seed: 4 });
    const diary = new Map<string, { rooms: Set<string>; revenue: number }>();
    const messages = bookings.flatMap(({ base, share, isStaff, states }, i) => {
      const first = states[0]?.on ?? 0;
      // What a rule drops counts with its present nights: it has no versions.
      const told = isStaff ? states.slice(-1) : states;
      for (const asOf of [0, -7, -28, -364]) {
        const known = told.findLast((one) => base + one.on <= asOf) ?? (base + first <= asOf ? told[0] : undefined);
        if (known === undefined || (known.isGone && (known !== told[0] || base + known.on <= asOf))) continue;
        for (let n = 0; n < known.nights; n++) {
          const key = `${asOf} ${day(base + known.arrival + n)}`;
          const there = diary.get(key) ?? { rooms: new Set(), revenue: 0 };
          for (let room = 0; room < known.rooms; room++) there.rooms.add(share ?? `${i} ${room}`);
          there.revenue += known.price * known.rooms;
          diary.set(key, there);
        }
      }
      return states.map((one) => ({ i, base, share, isStaff, first, one }));
    });
    // Bookings arrive in any order, the messages of one booking in theirs.
    const order = messages.toSorted((a, b) => (a.i === b.i ? 0 : ((a.i * 7) % 11) - ((b.i * 7) % 11)));
    for (const { i, base, share, isStaff, first, one } of order) {
      const data = reservation(`R${i}`, {
        check_in: day(base + one.arrival),
        check_out: day(base + one.arrival + one.nights),
        booking_date: day(base + first),
        status: one.isGone ? 'cancelled' : 'confirmed',
        total_amount: one.price * one.nights * one.rooms,
        ...(isStaff && { segment: 'staff' }),
        rooms: Array.from({ length: one.rooms }, () => (share ? { share_id: share } : { room_type: 'DBL' })),
      }) as { [name: string]: Json };
      const { id, rooms, ...rest } = data;
      await node.send(
        'grand',
        'reservation.updated',
        { ...rest, reservation_id: id ?? '', stays: rooms ?? [] },
        noon(base + one.on),
      );
    }
    await countPage(node, 'grand');
    const { report: facts } = (await readHotel(node.runtime.pool, 'grand')) ?? assert.fail();
    let compared = 0;
    for (const night of facts.nights) {
      const then = { 0: night, [-7]: night.weekAgo, [-28]: night.monthAgo, [-364]: night.yearAgo };
      for (const [asOf, sold] of Object.entries(then)) {
        if (sold === undefined) continue;
        const expected = diary.get(`${asOf} ${night.night}`);
        assert.deepEqual(
          [sold.rooms, sold.revenue.EUR ?? 0],
          [expected?.rooms.size ?? 0, expected?.revenue ?? 0],
          `${night.night} as of ${asOf}`,
        );
        if (expected) compared++;
      }
    }
    assert.ok(compared > 100, `${compared} compared`);
  });

  test('a night that nobody asked for is unknown, and a year ago of a new brand is not zero', async () => {
    await asked(node, 'other', day(0), day(27));
    await node.take('other', reservation('N1', { check_in: day(2), check_out: day(3) }));
    const { nights, pace, months } = await report('other');
    assert.deepEqual(
      nights.map(({ known }) => known),
      nights.map((_, i) => i < 28),
    );
    assert.ok(nights.every(({ last_year }) => last_year === null));
    assert.ok(pace.every(({ year_ago, year_ago_final }) => year_ago === null && year_ago_final === null));
    const past = months.filter(({ month }) => month < day(0).slice(0, 7));
    assert.equal(past.length, 12);
    assert.ok(past.every(({ known_nights, last_year }) => known_nights === 0 && last_year === null));
    // A run that asks for more makes more known, also if it brings nothing.
    await asked(node, 'other', day(-40), day(40));
    const later = await report('other');
    assert.equal(later.nights.filter(({ known }) => known).length, 41);
    assert.ok(later.months.some(({ month, known_nights }) => month < day(0).slice(0, 7) && known_nights > 0));
  });

  test('a brand that another one pulls is known by the runs of that one', async () => {
    const { pool } = node.runtime;
    await node.take('other', reservation('P1', { check_in: day(2), check_out: day(3) }));
    await pool.query(`delete from hotels where integration = 'other'`);
    await countHotel(pool, { integration: 'other', timezone, isPushed: true, pulledBy: 'grand' });
    const { report: facts } = (await readHotel(pool, 'other')) ?? assert.fail();
    assert.ok(facts.nights.every(({ known }) => known));
  });

  test('a booking that a rule drops is sold: in the figures, as no record, until it is cancelled', async () => {
    const sold = async () => (await report()).nights[60]?.sold;
    const before = (await sold()) ?? 0;
    const stay = { check_in: day(60), check_out: day(61), segment: 'staff', booking_date: day(-1) };
    await node.take('grand', reservation('D1', stay), reservation('D2', { ...stay, segment: 'leisure' }));
    assert.equal(await sold(), before + 2);
    // The rule drops it from now on.
    await node.take('grand', reservation('D2', stay));
    assert.equal(await sold(), before + 2);
    await node.take('grand', reservation('D1', { ...stay, status: 'cancelled', cancelled_at: day(0) }));
    assert.equal(await sold(), before + 1);
    await node.take('grand', reservation('D2', { ...stay, status: 'cancelled', cancelled_at: day(0) }));
    assert.equal(await sold(), before);
    const { rows } = await node.runtime.pool.query(
      `select data::text from stays where integration = 'grand' and version = 0 and id in ('D1', 'D2')`,
    );
    assert.equal(rows.length, 2);
    assert.doesNotMatch(JSON.stringify(rows), /Prado|mail/);
  });
});
