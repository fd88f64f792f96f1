import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

let node: ApiNode;
before(async () => {
  const brand = (name: string, id: string) =>
    `integration: ${name}\nconnector: hotel\nbrand_id: ${id}\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [news, people]\n`;
  node = await apiNode('', {
    'integrations/grand.yaml': brand('grand', 'LIS01'),
    'integrations/other.yaml': brand('other', 'OPO02'),
    'destinations/news.yaml': `destination: news
type: webhook
url: http://127.0.0.1:1
secret: whsec_${Buffer.alloc(24, 7).toString('base64')}
consent: marketing
filter: 'total_amount > 100.0'
rate: { requests: 1, per: 10s }
`,
    'destinations/people.yaml': `destination: people
type: http
preset: klaviyo
auth: { type: bearer, token: t }
with: { base_url: "http://127.0.0.1:1", list_id: L1 }
receives: [reservation, guest]
consent: marketing
`,
  });
});
after(() => node.stop());

const guest = (id: string, consent?: boolean) => ({
  guests: [
    {
      guest_id: id,
      first_name: 'Ana',
      last_name: `Prado ${id}`,
      email: `${id}@mail.example`,
      ...(consent !== undefined && { marketing_consent: consent }),
    },
  ],
});

test('before a first send: who gets it, with which consent, who does not and why; nothing leaves', async () => {
  await node.take(
    'grand',
    reservation('yes-1', guest('g1', true)),
    reservation('yes-2', guest('g2', true)),
    reservation('no', guest('g3', false)),
    reservation('unknown', guest('g4')),
    reservation('small', { ...guest('g5', true), total_amount: 20 }),
  );
  await node.take('other', reservation('elsewhere', guest('g6', true)));
  await node.runtime.pool.query('delete from outbox');
  const ask = async (body: { operation: string; destination: string; integration?: string }) =>
    (await node.call('POST', '/jobs/preview', await node.token('operator'), body)).body;
  const preview = await ask({ operation: 'resend', destination: 'news', integration: 'grand' });
  const counts = Object.fromEntries(
    (preview.counts as { label: string; count: number }[]).map(({ label, count }) => [label, count]),
  );
  assert.equal(preview.total, 5);
  assert.equal(preview.looked_at, null);
  assert.deepEqual(counts, {
    'reservations to send': 2,
    'guests with consent': 2,
    'left out: No guest of the record has given marketing consent.': 2,
    'left out: The filter of the destination does not match.': 1,
    'calls, at least': 2,
    'seconds at its rate, at least': 20,
    'already waiting or held, and not queued again': 0,
  });
  assert.deepEqual(
    (preview.samples as { id: string }[]).map(({ id }) => id),
    ['yes-1', 'yes-2'],
  );
  const { rows } = await node.runtime.pool.query('select count(*)::int as n from outbox');
  assert.deepEqual(rows, [{ n: 0 }]);
  assert.equal((await ask({ operation: 'resend', destination: 'news' })).total, 6);
});

// A preview said one call for fifty guests, and no time.
test('a preset has the calls of all its requests, and the time that the vendor allows them', async () => {
  const bookings = Array.from({ length: 1_500 }, (_, i) => reservation(`many-${i}`, guest(`m${i}`, true)));
  await node.take('other', ...bookings);
  const request = { operation: 'resend', destination: 'people', integration: 'other' };
  const preview = (await node.call('POST', '/jobs/preview', await node.token('operator'), request)).body;
  const count = (label: string) =>
    (preview.counts as { label: string; count: number }[]).find((one) => one.label === label)?.count;
  // A profile for each guest, 660 a minute, and an event for each new booking; fifty are subscribed together.
  assert.deepEqual(
    [count('reservations to send'), count('calls, at least'), count('minutes at its rate, at least')],
    [1_501, 2 * 1_501 + 31, 3],
  );
});

test('of more records than are looked at, the calls and the time are those of all', async () => {
  const bookings = Array.from({ length: 6_000 }, (_, i) => reservation(`more-${i}`, guest(`n${i}`, true)));
  for (let at = 0; at < bookings.length; at += 1_000) await node.take('grand', ...bookings.slice(at, at + 1_000));
  const request = { operation: 'resend', destination: 'people', integration: 'grand' };
  const preview = (await node.call('POST', '/jobs/preview', await node.token('operator'), request)).body;
  const count = (label: string) =>
    (preview.counts as { label: string; count: number }[]).find((one) => one.label === label)?.count ?? 0;
  assert.ok(preview.looked_at < 6_000);
  assert.ok(Math.abs(count('calls, about') - (2 * 6_000 + 120)) < 50, `${count('calls, about')} calls`);
  assert.equal(count('minutes at its rate, about'), 10);
});
