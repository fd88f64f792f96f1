import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../../src/composition/deliver.ts';
import { drainOnce } from '../../../src/core/deliver/deliveries.ts';
import type { HotelReport } from '../../../src/operator/api/routes/hotel.ts';
import { outdatedHotels } from '../../../src/operator/store/measures/hotel-report.ts';
import { type ApiNode, apiNode, asked, countPage, reservation } from '../../api/node.ts';

let node: ApiNode;
let viewer: string;
before(async () => {
  node = await apiNode();
  viewer = await node.token('viewer', ['grand']);
});
after(() => node.stop());

const place = { integration: 'grand', timezone: 'Europe/Lisbon', isPushed: true, pulledBy: 'grand' };
const today = Temporal.Now.plainDateISO(place.timezone);
const day = (n: number): string => today.add({ days: n }).toString();
const stay = (id: string, from: number, to: number, more: object = {}) =>
  reservation(id, { check_in: day(from), check_out: day(to), guests: [], booking_date: day(from - 500), ...more });
const party = (adults: number, more: object = {}) => ({ rooms: [{ adults, ...more }] });
const guest = (id: string) => ({ guests: [{ guest_id: id, last_name: 'Exemplo' }] });

test('the report of a hotel, counted by hand', async () => {
  await asked(node, 'grand', day(-800), day(200));
  await node.take(
    'grand',
    stay('in-1', -2, 1, { status: 'checked_in', ...party(2) }),
    stay('arrives', 0, 3, { channel: 'Booking.com', ...party(2), ...guest('G1') }),
    stay('arrived', 0, 2, { status: 'checked_in', channel: 'BOOKING.COM', ...party(1), ...guest('G2') }),
    stay('leaves', -3, 0, { status: 'checked_out', ...party(2) }),
    stay('still here', -1, 0, { status: 'checked_in', ...party(1) }),
    stay('day use', 0, 0, { ...party(1) }),
    stay('master', 0, 5, { rooms: [{ room_kind: 'pseudo' }] }),
    stay('share 1', 4, 6, { rooms: [{ share_id: 'S' }], channel: 'direct' }),
    stay('share 2', 4, 6, { rooms: [{ share_id: 'S' }], channel: 'direct' }),
    // Booked yesterday: not on the books a week ago.
    stay('new', 40, 43, { booking_date: day(-1), ...guest('G1') }),
    stay('gone', 10, 12, { status: 'cancelled', cancelled_at: day(-2) }),
    stay('gone before', 10, 11, { status: 'cancelled', cancelled_at: day(-9) }),
    stay('nobody knows', 1, 9, { status: 'other' }),
    // A year ago: one booked in time, one later, one that was cancelled since.
    stay('old', -364, -362, guest('G1')),
    stay('old late', -363, -362, { booking_date: day(-363) }),
    stay('old gone', -364 + 30, -364 + 31, { status: 'cancelled', cancelled_at: day(-350) }),
  );
  // Profiles are assembled as a delivery.
  await drainOnce(await deliverPorts(node.runtime));
  await countPage(node, 'grand');
  const { body } = await node.call('GET', '/integrations/grand/hotel', viewer);
  const { report } = body;
  assert.deepEqual(report.today, {
    arrivals: { reservations: 3, done: 1, rooms: 3, people: 4 },
    departures: { reservations: 2, done: 1, rooms: 2, people: 3 },
    in_house: { rooms: 3, people: 5 },
  });
  const nights = report.nights as HotelReport['nights'];
  assert.equal(nights.length, 90);
  assert.deepEqual(
    nights
      .filter(({ sold, last_year }) => sold + (last_year?.sold ?? 0) > 0)
      .map(({ night, sold, last_year }) => [night, sold, last_year?.sold]),
    [
      [day(0), 3, 1],
      [day(1), 2, 2],
      [day(2), 1, 0],
      [day(4), 1, 0],
      [day(5), 1, 0],
      [day(40), 1, 0],
      [day(41), 1, 0],
      [day(42), 1, 0],
    ],
  );
  assert.ok(nights.every(({ rooms_available }) => rooms_available === null));
  const rooms = (books: { rooms: number } | null) => books?.rooms;
  assert.deepEqual(
    (report.pace as HotelReport['pace']).map((part) => [
      part.from,
      ...[part.now, part.week_ago, part.month_ago, part.year_ago, part.year_ago_final].map(rooms),
    ]),
    [
      // The stay that was cancelled two days ago was on the books a week ago.
      [day(0), 8, 10, 11, 2, 3],
      [day(30), 3, 0, 0, 1, 0],
      [day(60), 0, 0, 0, 0, 0],
    ],
  );
  assert.deepEqual(report.cancellations, {
    week: { reservations: 1, room_nights: 2, revenue: 310.5 },
    week_before: { reservations: 1, room_nights: 1, revenue: 310.5 },
    no_shows: { reservations: 0, room_nights: 0, revenue: 0 },
  });
  const channels = (report.channels as HotelReport['channels']).map((one) => [one.channel, one.room_nights]);
  assert.match(String(channels[0]?.[0]), /^booking\.com$/i);
  assert.deepEqual(channels, [
    [channels[0]?.[0], 5],
    ['direct', 4],
    ['unknown', 4],
  ]);
  assert.deepEqual(report.guests, { returning: 1, new: 1, unknown: 4 });
});

test('a report is counted again when its day has ended, and after a change', async () => {
  const { pool } = node.runtime;
  const outdated = async () => (await outdatedHotels(pool, [place])).length;
  await pool.query(
    `insert into activity (integration, step, at, changes) values ('grand', 'ever', 'epoch', 1)
     on conflict (integration, step, at) do update set changes = 1`,
  );
  await countPage(node, 'grand');
  assert.equal(await outdated(), 0);
  await pool.query(`update activity set changes = 2 where integration = 'grand' and step = 'ever'`);
  assert.equal(await outdated(), 1);
  await countPage(node, 'grand');
  assert.equal(await outdated(), 0);
  await pool.query(`update hotels set day = day - 1`);
  assert.equal(await outdated(), 1);
});

test('a brand without a report, and a brand of somebody else', async () => {
  const all = await node.token('viewer');
  assert.deepEqual((await node.call('GET', '/integrations/other/hotel', all)).body, { report: null });
  assert.equal((await node.call('GET', '/integrations/other/hotel', viewer)).status, 404);
});

test('a returning guest is the same person by the rules of persons, not by one key', async () => {
  const person = (first_name: string, more: object) => ({ guests: [{ first_name, last_name: 'Prado', ...more }] });
  const phone = '+351912345678';
  await node.take(
    'other',
    stay('before', -90, -88, { status: 'checked_out', ...person('Maria', { email: 'maria@mail.example', phone }) }),
    // By the phone only, with an initial: the same person.
    stay('again', 2, 3, person('M.', { phone })),
    // A relative with her phone: not.
    stay('relative', 2, 3, person('Rui', { email: 'rui@mail.example', phone })),
    stay('first time', 3, 4, person('Eva', { email: 'eva@mail.example' })),
    stay('no name', 3, 4),
  );
  await drainOnce(await deliverPorts(node.runtime));
  await countPage(node, 'other');
  const { body } = await node.call('GET', '/integrations/other/hotel', await node.token('viewer'));
  assert.deepEqual(body.report.guests, { returning: 1, new: 2, unknown: 1 });
});

test('a change of a booking that was cancelled before is not another cancellation', async () => {
  const week = async () => {
    await countPage(node, 'grand');
    return (await node.call('GET', '/integrations/grand/hotel', viewer)).body.report.cancellations.week.reservations;
  };
  const before = await week();
  await node.take('grand', stay('cancelled once', 30, 31));
  await node.take('grand', stay('cancelled once', 30, 31, { status: 'cancelled' }));
  assert.equal(await week(), before + 1);
  for (const [table, column] of [
    ['stays', 'until_at'],
    ['records', 'created_at'],
    ['records', 'changed_at'],
  ])
    await node.runtime.pool.query(
      `update ${table} set ${column} = ${column} - interval '20 days' where id = 'cancelled once'`,
    );
  await node.take('grand', stay('cancelled once', 30, 31, { status: 'cancelled', total_amount: 77 }));
  assert.equal(await week(), before);
});
