import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Simulator,
  type SimulatorOptions,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';
import type { JsonObject } from '../../../src/terms.ts';
import { startReceiver } from './receiver.ts';

const running: Simulator[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

async function simulate(options: SimulatorOptions): Promise<Simulator> {
  const simulator = await startSimulator({ seed: 3, reservations: 120, untidy: 0, ...options });
  running.push(simulator);
  return simulator;
}

async function get(
  simulator: Simulator,
  path: string,
  init: RequestInit = {},
): Promise<{ status: number; body: JsonObject }> {
  const response = await fetch(`${simulator.baseUrl}${path}`, init);
  return { status: response.status, body: (await response.json()) as JsonObject };
}

const records = (body: JsonObject, key = 'reservations') => body[key] as JsonObject[];

test('thin events carry exactly the webhook fields of the description; lists lack the phone numbers', async (t) => {
  const receiver = await startReceiver('whsec_thin');
  t.after(() => receiver.stop());
  const simulator = await simulate({ detail: 'thin' });
  await simulator.pushTo({ url: receiver.url, secret: 'whsec_thin_of_24_characters', brand_id: 'LIS01' });
  simulator.hotel.book(2, 3);
  await simulator.pushed();
  const [event] = receiver.received.map(({ body }) => JSON.parse(body) as { data: JsonObject });
  assert.deepEqual(Object.keys(event?.data ?? {}).sort(), [
    'check_in',
    'check_out',
    'confirmation_number',
    'guests',
    'reservation_id',
    'status',
    'stays',
  ]);
  const [guest] = records(event?.data ?? {}, 'guests');
  const allowed = ['first_name', 'last_name', 'email', 'phone'];
  assert.ok(Object.keys(guest ?? {}).every((key) => allowed.includes(key)));
  const [stay] = records(event?.data ?? {}, 'stays');
  assert.deepEqual(Object.keys(stay ?? {}), ['room_type', 'board_type', 'adults', 'children']);
  const today = simulator.hotel.today('LIS01');
  const { body } = await get(simulator, `/api/reservations?dateFrom=${today}&dateTo=${today}`);
  assert.ok(records(body).length > 0);
  assert.doesNotMatch(JSON.stringify(body), /"phone"/);
  assert.match(JSON.stringify(body), /"marketing_consent"/);
});

for (const [dates, write] of [
  ['dmy', (day: string) => day.split('-').reverse().join('/')],
  ['epoch', (day: string) => String(Date.parse(`${day}T12:00:00Z`) / 1000)],
  ['datetime', (day: string) => `${day}T00:00:00`],
] as const) {
  test(`requests write days as ${dates}; other forms are refused`, async () => {
    const simulator = await simulate({ dates });
    const today = simulator.hotel.today('LIS01');
    const ask = (day: string) =>
      get(simulator, `/api/reservations?dateFrom=${encodeURIComponent(day)}&dateTo=${encodeURIComponent(day)}`);
    const { status, body } = await ask(write(today));
    assert.equal(status, 200);
    assert.ok(records(body).length > 0);
    assert.equal((await ask(today)).status, 400);
  });
}

test('the next page is a link in the body, null on the last page', async () => {
  const simulator = await simulate({ paging: 'body_link' });
  const today = simulator.hotel.today('LIS01');
  let path: string | null = `/api/reservations?dateFrom=${today}&dateTo=${today}&limit=5`;
  const ids: unknown[] = [];
  let total = 0;
  while (path !== null) {
    const { body } = await get(simulator, path);
    ids.push(...records(body).map(({ id }) => id));
    total = Number(body.total);
    const { next } = body.links as { next: string | null };
    path = next === null ? null : next.slice(simulator.baseUrl.length);
  }
  assert.ok(total > 5);
  assert.equal(new Set(ids).size, total);
});

test('the search accepts a form, and JSON inside a form field', async () => {
  const simulator = await simulate({});
  const today = simulator.hotel.today('LIS01');
  const asked = { date_from: today, date_to: today, status: ['confirmed', 'checked_in'] };
  const send = (body: string | URLSearchParams, headers: Record<string, string> = {}) =>
    get(simulator, '/api/reservations/search', { method: 'POST', body, headers });
  const json = await send(JSON.stringify(asked), { 'content-type': 'application/json' });
  const form = new URLSearchParams({ date_from: today, date_to: today });
  for (const status of asked.status) form.append('status', status);
  assert.ok(Number(json.body.total) > 0);
  assert.deepEqual((await send(form)).body, json.body);
  assert.deepEqual((await send(new URLSearchParams({ request: JSON.stringify(asked) }))).body, json.body);
});

test('the feed returns what changed since a moment, with cancellations beside it', async () => {
  let now = Date.parse('2026-06-01T08:00:00Z');
  const simulator = await simulate({ now: () => now });
  now += 60_000;
  const [future] = simulator.hotel.list(({ status, checkIn }) => status === 'confirmed' && checkIn > '2026-06-02');
  simulator.hotel.change(future?.id ?? '', { kind: 'cancel' });
  const { body } = await get(simulator, `/api/feed?since=${new Date(now).toISOString()}`);
  assert.deepEqual(records(body), []);
  assert.deepEqual(
    records(body, 'cancellations').map(({ id, modified_at }) => [id, modified_at]),
    [[future?.id, '2026-06-01T08:01:00.000Z']],
  );
  assert.equal((await get(simulator, '/api/feed?since=yesterday')).status, 400);
});

test('what is acknowledged is not pending any more, until it changes again', async () => {
  const simulator = await simulate({ reservations: 10 });
  const pending = async () => {
    const { body } = await get(simulator, '/api/feed/pending');
    return [...records(body), ...records(body, 'cancellations')].map(({ id }) => String(id));
  };
  const ids = await pending();
  assert.equal(ids.length, 10);
  const init = { method: 'POST', body: JSON.stringify({ ids }) };
  assert.deepEqual((await get(simulator, '/api/feed/ack', init)).body, { acknowledged: 10 });
  assert.deepEqual(await pending(), []);
  const change = simulator.hotel.book(3, 1);
  assert.deepEqual(await pending(), [change.reservation?.id]);
});

test('login: a token for user and password, which expires', async () => {
  let now = Date.parse('2026-06-01T08:00:00Z');
  const simulator = await simulate({
    auth: { type: 'login', user: 'desk', password: 'right', header: 'authtoken', lifetimeSeconds: 60 },
    now: () => now,
  });
  const login = (password: string) =>
    get(simulator, '/auth/login', { method: 'POST', body: JSON.stringify({ user: 'desk', password }) });
  assert.equal((await login('wrong')).status, 401);
  const { body } = await login('right');
  const list = () =>
    get(simulator, '/api/reservations?dateFrom=2026-06-01&dateTo=2026-06-01', {
      headers: { authtoken: String(body.token) },
    });
  assert.equal((await list()).status, 200);
  now += 61_000;
  assert.equal((await list()).status, 401);
});

test('Basic and body keys together', async () => {
  const simulator = await simulate({
    auth: { type: 'custom', basic: { username: 'desk', password: 'right' }, body: { hotel_key: 'k1' } },
  });
  const today = simulator.hotel.today('LIS01');
  const send = (key: string, password: string) =>
    get(simulator, '/api/reservations/search', {
      method: 'POST',
      body: new URLSearchParams({ date_from: today, date_to: today, hotel_key: key }),
      headers: { authorization: `Basic ${Buffer.from(`desk:${password}`).toString('base64')}` },
    });
  assert.equal((await send('k1', 'right')).status, 200);
  assert.equal((await send('k2', 'right')).status, 401);
  assert.equal((await send('k1', 'wrong')).status, 401);
});
