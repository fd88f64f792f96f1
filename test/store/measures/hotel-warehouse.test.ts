import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { deliverPorts } from '../../../src/composition/deliver.ts';
import { drainOnce } from '../../../src/core/deliver/deliveries.ts';
import type { HotelReport } from '../../../src/operator/api/routes/hotel.ts';
import { type ApiNode, apiNode, asked, countPage, reservation } from '../../api/node.ts';
import { plainPool, testDatabase } from '../../support/database.ts';

/** The page of a hotel and the warehouse count the same bookings by two sets of statements: on a generated hotel they must agree. */

const timezone = 'Europe/Lisbon';
const today = Temporal.Now.plainDateISO(timezone);
const day = (n: number): string => today.add({ days: n }).toString();

let node: ApiNode;
let warehouse: ReturnType<typeof plainPool>;
before(async () => {
  const db = await testDatabase({ empty: true });
  warehouse = plainPool(db.connection);
  node = await apiNode('', {
    'destinations/lake.yaml': `destination: lake\ntype: postgres\nurl: ${db.url}\n`,
  });
});
after(async () => {
  await node.stop();
  await warehouse.end();
});

const around = fc.oneof(fc.integer({ min: -10, max: 100 }), fc.integer({ min: -380, max: -270 }));
const optional = <T>(one: fc.Arbitrary<T>) => fc.option(one, { nil: undefined });
const room = fc.record(
  {
    room_kind: fc.constantFrom('room', 'room', 'room', 'pseudo', 'house'),
    share_id: fc.constantFrom('S1', 'S2', 'S3'),
    adults: fc.integer({ min: 0, max: 3 }),
    children: fc.integer({ min: 0, max: 2 }),
  },
  { requiredKeys: [] },
);
const booking = fc.tuple(around, fc.integer({ min: 0, max: 9 })).chain(([from, nights]) =>
  fc.record({
    check_in: fc.constant(day(from)),
    check_out: fc.constant(day(from + nights)),
    // Nobody can miss a stay that has not begun.
    status: fc.constantFrom(
      'confirmed',
      'checked_in',
      'checked_out',
      'cancelled',
      'other',
      from > 0 ? 'confirmed' : 'no_show',
    ),
    booking_date: optional(fc.integer({ min: -500, max: 0 }).map(day)),
    cancelled_at: optional(fc.integer({ min: -30, max: 0 }).map(day)),
    channel: optional(fc.constantFrom('direct', 'Booking.com', 'BOOKING.COM')),
    guests: fc.constant([]),
    rooms: fc.array(room, { maxLength: 3 }),
  }),
);

const bookings = fc.sample(booking, { numRuns: 700, seed: 37 });

async function counted(integration: string, withShares: boolean): Promise<HotelReport> {
  const raws = bookings.map((one, i) => {
    const rooms = one.rooms.map(({ share_id, ...rest }) => (withShares && share_id ? { ...rest, share_id } : rest));
    return reservation(`R${i}`, JSON.parse(JSON.stringify({ ...one, rooms })));
  });
  await node.take(integration, ...raws);
  await drainOnce(await deliverPorts(node.runtime));
  await asked(node, integration, day(-800), day(200));
  await countPage(node, integration);
  const { body } = await node.call('GET', `/integrations/${integration}/hotel`, await node.token('viewer'));
  const report = body.report as HotelReport;
  assert.ok(report);
  return report;
}

const ask = async (sql: string) =>
  (await warehouse.query(sql.replaceAll(':today', `date '${today}'`))).rows as Record<string, number | string | null>[];
const number = async (sql: string) => Number((await ask(sql))[0]?.n ?? 0);

test('the nights, arrivals and channels of the page are those of the warehouse', async () => {
  const report = await counted('grand', true);
  const sold = new Map(
    (await ask(`select night::text, rooms_sold, people from innbound.occupancy_by_night`)).map((row) => [
      row.night,
      row,
    ]),
  );
  const soldOn = (night: string) => Number(sold.get(night)?.rooms_sold ?? 0);
  assert.ok(report.nights.some((one) => one.sold > 5));
  for (const { night, sold: now, last_year } of report.nights) {
    const before = Temporal.PlainDate.from(night).subtract({ days: 364 }).toString();
    assert.deepEqual([now, last_year?.sold], [soldOn(night), soldOn(before)], night);
  }
  const { arrivals, in_house } = report.today;
  assert.deepEqual(in_house, { rooms: soldOn(day(0)), people: Number(sold.get(day(0))?.people ?? 0) });
  assert.equal(arrivals.rooms, await number(`select rooms as n from innbound.arrivals_by_day where day = :today`));
  for (const { channel, room_nights } of report.channels) {
    const same = `lower(regexp_replace(channel, '[\\s_.-]+', '', 'g')) = lower(regexp_replace('${channel}', '[\\s_.-]+', '', 'g'))`;
    const n = await number(
      `select sum(room_night) as n from innbound.nights where on_books and night between :today and :today + 89 and ${same}`,
    );
    assert.equal(room_nights, n, channel);
  }
  assert.equal(report.channels.length, 3);
  for (const [part, from, to] of [
    ['week', -6, 0],
    ['week_before', -13, -7],
  ] as const) {
    const n = await number(
      `select count(*) as n from innbound.bookings where status = 'cancelled' and cancelled_on between :today + ${from} and :today + ${to}
          and exists (select from innbound.booked_rooms m where m.id = bookings.id and m.kind in ('room', 'day_use'))`,
    );
    assert.ok(n > 0);
    assert.equal(report.cancellations[part].reservations, n, part);
  }
});

test('the pace of the page is the booking curve of the warehouse, where no room is shared', async () => {
  const report = await counted('other', false);
  const rows = await ask(
    `select night::text, day::text, room_nights from innbound.booking_curve where integration = 'other'`,
  );
  const curve = (from: number, asOf: number) =>
    rows
      .filter(
        ({ night, day: on }) => String(night) >= day(from) && String(night) < day(from + 30) && String(on) <= day(asOf),
      )
      .reduce((sum, { room_nights }) => sum + Number(room_nights), 0);
  for (const [i, part] of report.pace.entries()) {
    const from = i * 30;
    assert.deepEqual(
      [part.now.rooms, part.week_ago.rooms, part.year_ago?.rooms],
      [curve(from, 0), curve(from, -7), curve(from - 364, -364)],
      part.from,
    );
    assert.ok(part.now.rooms > 0);
  }
});

test('a cancellation event without a date counts on its own day, not on the day of its receipt', async () => {
  const noon = (n: number) => Date.parse(`${day(n)}T12:00:00Z`);
  const stay = { check_in: day(70), check_out: day(72), guests: [], booking_date: day(-40) };
  await node.take('other', reservation('late', stay));
  await node.runtime.pool.query(
    `update records set effective_at = $1, claims = null where integration = 'other' and id = 'late'`,
    [new Date(noon(-30))],
  );
  await node.send('other', 'reservation.cancelled', { reservation_id: 'late', status: 'cancelled' }, noon(-9));
  const { cancellations } = await counted('other', false);
  await drainOnce(await deliverPorts(node.runtime));
  const [row] = await ask(
    `select cancelled_on::text, cancelled_on_source from innbound.bookings where integration = 'other' and id = 'late'`,
  );
  assert.deepEqual(row, { cancelled_on: day(-9), cancelled_on_source: 'change' });
  const { rows } = await node.runtime.pool.query(
    `select data ->> 'status' as status from records where integration = 'other' and id = 'late'`,
  );
  assert.deepEqual(rows, [{ status: 'cancelled' }]);
  const others = await number(
    `select count(*) as n from innbound.bookings where integration = 'other' and status = 'cancelled'
        and cancelled_on between :today - 13 and :today - 7
        and exists (select from innbound.booked_rooms m where m.integration = 'other' and m.id = bookings.id and m.kind in ('room', 'day_use'))`,
  );
  assert.equal(cancellations.week_before.reservations, others);
});
