import assert from 'node:assert/strict';
import { test } from 'node:test';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { destinationType as http } from '../../src/core/deliver/destinations/http/destination.ts';
import type { MessageData } from '../../src/core/deliver/message.ts';
import { momentOf } from '../../src/core/deliver/moment.ts';
import { listen } from './http-server.ts';
import { config, delivery, lane, openStore, ports, reservation, services, takeIn } from './support.ts';

test('a moment is a transition from the version that the destination has', () => {
  const kind = (version: number, change: object, before?: object) => {
    const { message, changedAt } = delivery(reservation('r', change), { version });
    return momentOf(message, before && (reservation('r', before) as MessageData), changedAt)?.kind;
  };
  assert.equal(kind(1, {}), 'booked');
  assert.equal(kind(1, { status: 'checked_out' }), undefined, 'a backfilled stay is not a moment of today');
  assert.equal(kind(1, { booking_date: '2026-11-14' }), 'booked');
  assert.equal(kind(1, { booking_date: '2026-09-01' }), undefined, 'first seen long after it was booked');
  assert.equal(kind(4, {}), undefined, 'nor is a resend to a new destination');
  assert.equal(kind(2, { check_out: '2026-12-05' }, {}), 'changed');
  assert.equal(kind(2, { total_amount: '1' }, {}), 'changed');
  assert.equal(kind(2, { guests: [] }, {}), undefined, 'the stay is the same');
  for (const status of ['cancelled', 'checked_in', 'checked_out', 'no_show'] as const) {
    assert.equal(kind(2, { status }, {}), status);
    assert.equal(kind(3, { status }, { status }), undefined);
  }
  assert.equal(kind(3, {}, { status: 'cancelled' }), 'changed');
  assert.equal(kind(3, { status: 'other' }, {}), undefined);
});

test('klaviyo: each moment of a stay is sent once, also when an answer is lost', async (t) => {
  const { pool, close } = await openStore();
  let fail = false;
  const server = await listen(({ path }) => ({ status: fail && path === '/api/events' ? 503 : 202 }));
  const offered = services('/');
  t.after(async () => {
    await server.close();
    await offered.close();
    await close();
  });
  const settings = http.settings.parse({ preset: 'klaviyo', with: { base_url: server.url } });
  const selection = { ...config('crm').selection, comparesConsent: true };
  const crm = lane(config('crm', { batch: 1, selection, scheduleMs: [60_000, 60_000, 60_000, 60_000] }));
  const drain = async () => {
    await pool.query('update outbox set due_at = now() where due_at is not null');
    return drainOnce(ports(pool, [crm], { crm: http.open(settings, offered) }));
  };
  await takeIn(pool, [reservation('r')], ['crm']);
  await drain();
  await takeIn(pool, [reservation('r', { status: 'checked_in' })], ['crm']);
  // Two more versions before the next delivery: each is compared with the one before it.
  await takeIn(pool, [reservation('r', { status: 'checked_in', channel: 'direct' })], ['crm']);
  await takeIn(pool, [reservation('r', { status: 'checked_out' })], ['crm']);
  fail = true;
  await drain();
  fail = false;
  await drain();
  const events = server.received.filter(({ path }) => path === '/api/events');
  const seen = events.map(({ body }) => {
    const { attributes } = (body as { data: { attributes: Record<string, never> } }).data;
    const { metric, profile, properties, unique_id, value, value_currency } = attributes as unknown as {
      metric: { data: { attributes: { name: string } } };
      profile: { data: { attributes: { email: string } } };
      properties: Record<string, unknown>;
      unique_id: string;
      value: number;
      value_currency: string;
    };
    assert.deepEqual(
      [profile.data.attributes.email, properties.check_in, value, value_currency],
      ['r@guests.example', '2026-12-01', 1250.5, 'EUR'],
    );
    return [metric.data.attributes.name, unique_id];
  });
  // Klaviyo records an event once per unique_id.
  assert.deepEqual(
    [...new Map(seen.map(([name, id]) => [id, name]))],
    [
      ['lisbon:r:booked:1', 'Booked'],
      ['lisbon:r:checked_in:2', 'Checked in'],
      ['lisbon:r:checked_out:4', 'Checked out'],
    ],
  );
  assert.ok(seen.length > 3, 'the failed one was sent again under the same id');
  // The profile is about the person: a change of one stay cannot overwrite another.
  const profiles = server.received.filter(({ path }) => path === '/api/profile-import');
  assert.ok(profiles.every(({ text }) => !text.includes('"check_in')));
});
