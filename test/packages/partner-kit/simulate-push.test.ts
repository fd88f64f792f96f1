import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type HotelChange,
  type SimulatorOptions,
  shippedProperties,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';
import { startReceiver } from './receiver.ts';

const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

async function start(options: SimulatorOptions = {}) {
  const receiver = await startReceiver('s3cret of 24 characters!');
  ends.push(receiver.stop);
  const simulator = await startSimulator({
    seed: 7,
    reservations: 200,
    push: { url: receiver.url, secret: 's3cret of 24 characters!', brand_id: 'LIS01' },
    ...options,
  });
  ends.push(() => simulator.stop());
  return { receiver, simulator };
}

test('every change is sent as a signed event with the complete reservation', async () => {
  const { receiver, simulator } = await start();
  const changes = simulator.hotel.advance(60);
  await simulator.pushed();
  assert.equal(receiver.received.length, 60);
  assert.ok(receiver.received.every(({ signed, json }) => signed && json.brand_id === 'LIS01'));
  assert.equal(new Set(receiver.received.map(({ json }) => json.event_id)).size, 60);
  assert.deepEqual(receiver.received.map(({ json }) => json.event).sort(), changes.map(({ event }) => event).sort());
  const whole = receiver.received.find(({ json }) => json.event === 'reservation.created')?.json.data ?? {};
  assert.deepEqual(Object.keys(whole), [
    'reservation_id',
    'confirmation_number',
    'check_in',
    'check_out',
    'booking_date',
    'status',
    'channel',
    'source',
    'total_amount',
    'currency',
    'guests',
    'stays',
    'charges',
  ]);
  const [stay = {}] = whole.stays as Record<string, unknown>[];
  assert.deepEqual(Object.keys(stay).sort(), [
    'adults',
    'board_type',
    'children',
    'end_date',
    'rate_code',
    'room_type',
    'start_date',
  ]);
  assert.deepEqual(simulator.stats.pushes, { queued: 0, delivered: 60, retried: 0, dead: 0 });
});

test('the last event of a reservation equals what the API returns', async () => {
  const { receiver, simulator } = await start();
  simulator.hotel.advance(150);
  await simulator.pushed();
  const last = new Map<string, Record<string, unknown>>();
  for (const { json } of receiver.received)
    if (json.event !== 'guest.updated') last.set(String(json.data.reservation_id), json.data);
  for (const [id, data] of last) {
    const single = (await (await fetch(`${simulator.baseUrl}/api/reservations/${id}`)).json()) as Record<
      string,
      unknown
    >;
    assert.deepEqual(
      [data.status, data.check_in, data.total_amount],
      [single.status, single.check_in, single.total_amount],
    );
  }
});

test('a no-show is sent as cancelled, with its final status; a profile change as guest.updated', async () => {
  const { receiver, simulator } = await start();
  const [one] = simulator.hotel.list(({ status }) => status === 'confirmed');
  const id = one?.id ?? '';
  assert.ok('event' in simulator.hotel.change(id, { kind: 'no_show' }));
  assert.ok('refused' in simulator.hotel.change(id, { kind: 'no_show' }));
  assert.ok('refused' in simulator.hotel.change('R0', { kind: 'cancel' }));
  simulator.hotel.change(id, { kind: 'guest', profile: true, set: { email: 'new@mail.example' } });
  await simulator.pushed();
  const [first, second] = receiver.received.map(({ json }) => json);
  assert.deepEqual([first?.event, first?.data.status], ['reservation.cancelled', 'no-show']);
  assert.deepEqual(
    [second?.event, second?.data.email, second?.data.reservation_id, second?.data.guest_id],
    ['guest.updated', 'new@mail.example', id, one?.guestIds[0]],
  );
});

test('each hotel of a group has its own endpoint', async () => {
  const [lisbon, london] = [shippedProperties[0], shippedProperties[1] ?? shippedProperties[0]];
  const { receiver, simulator } = await start({ properties: [lisbon, london] });
  const second = await startReceiver('another one of 24 characters');
  ends.push(second.stop);
  await simulator.pushTo([
    { url: receiver.url, secret: 's3cret of 24 characters!', brand_id: 'LIS01', propertyId: 'LIS01' },
    { url: second.url, secret: 'another one of 24 characters', brand_id: 'LDN02', propertyId: 'LDN02' },
  ]);
  simulator.hotel.advance(40);
  await simulator.pushed();
  assert.equal(receiver.received.length + second.received.length, 40);
  assert.ok(
    second.received.length > 5 &&
      second.received.every(({ signed, json }) => signed && (json.data.currency ?? 'GBP') === 'GBP'),
  );
});

test('changes happen spontaneously, and a fast calendar runs night audits', async () => {
  let nowMs = Date.parse('2026-06-15T10:00:00Z');
  const { receiver, simulator } = await start({ changeEveryMs: 2, speed: 86_400, now: () => nowMs });
  const seen: HotelChange[] = [];
  simulator.hotel.onChange((change) => {
    seen.push(change);
    nowMs += 100;
  });
  await receiver.until(({ length }) => length >= 60);
  assert.ok(simulator.hotel.today('LIS01') > '2026-06-20');
  assert.ok(seen.some(({ what }) => what === 'checked out'));
  assert.ok(
    receiver.received.every(({ json }) => Math.abs(Date.parse(json.timestamp) - nowMs) < 600_000),
    'events carry the wall clock',
  );
});
