import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import {
  type Simulator,
  type SimulatorOptions,
  sampleAuth,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';
import { addDays } from '../../../src/core/canonical/values.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/** Every form of request, against the simulator, which refuses any other form. */
const { runtime } = setUpPulls();
const running: Simulator[] = [];
after(() => Promise.all(running.map((one) => one.stop())));

async function simulate(options: SimulatorOptions = {}): Promise<Simulator> {
  const simulator = await startSimulator({ seed: 5, reservations: 80, untidy: 0, ...options });
  running.push(simulator);
  return simulator;
}

interface Form {
  readonly simulator?: SimulatorOptions;
  readonly connector: Record<string, unknown>;
  readonly pull?: Record<string, unknown>;
}

const none = { type: 'none' };
const limit = { limit: '200' };
const body = { date_from: '{window.from}', date_to: '{window.to}', limit: 200 };
const search = { method: 'POST', path: '/api/reservations/search' };
const dated = (from: string, to: string) => ({
  query: { dateFrom: `{window.${from}}`, dateTo: `{window.${to}}`, ...limit },
});
const list = (request: object, more: object = {}) => ({
  pull: { pagination: none, ...more, request: { path: '/api/reservations', ...request } },
});

const forms: Readonly<Record<string, Form>> = {
  'days first': { simulator: { dates: 'dmy' }, connector: list(dated('from:DD/MM/YYYY', 'to:DD/MM/YYYY')) },
  'seconds since 1970': { simulator: { dates: 'epoch' }, connector: list(dated('from:epoch_s', 'to:epoch_s')) },
  'first and last second': {
    simulator: { dates: 'datetime' },
    connector: list(dated('from:YYYY-MM-DD[T]HH:mm:ss', 'to:YYYY-MM-DD[T]HH:mm:ss')),
  },
  'a form': { connector: list({ ...search, encoding: 'form', body }) },
  'JSON inside a field of a form': { connector: list({ ...search, encoding: 'form', body: { request: body } }) },
  'Basic and a key in the body': {
    simulator: { auth: sampleAuth.basic_and_body },
    connector: list({ ...search, body }),
    pull: { auth: { type: 'basic', username: 'sim', password: 'sim-password' }, body: { hotel_key: 'sim-key' } },
  },
  'a token from a login call': {
    simulator: { auth: sampleAuth.login },
    connector: list(dated('from', 'to')),
    pull: { auth: { type: 'login', path: '/auth/login', body: { user: 'sim', password: 'sim-password' } } },
  },
  'a range without its first day': {
    simulator: { excludes: 'start' },
    connector: list(dated('before', 'to')),
  },
  'a range in seconds without its first and its last day': {
    simulator: { excludes: 'both', dates: 'epoch' },
    connector: list(dated('before:epoch_s', 'after:epoch_s')),
  },
  'the next page by an address in the body': {
    simulator: { paging: 'body_link' },
    connector: list(dated('from', 'to'), {
      pagination: { type: 'url', next: 'links.next', limit: 'query.limit', page_size: 7 },
    }),
  },
};

for (const [name, { simulator: options, connector, pull = {} }] of Object.entries(forms)) {
  test(`asking: ${name}`, async () => {
    const simulator = await simulate(options);
    const { hotel } = simulator;
    const integration = name.toLowerCase().replaceAll(' ', '-');
    const documents = { integration, baseUrl: simulator.baseUrl, timezone: 'UTC', connector, pull };
    const from = hotel.today('LIS01');
    const to = addDays(from, 9);
    const result = await sync(runtime.ports(documents), integration, { from, to });
    assert.equal(result.state, 'complete', JSON.stringify(result));
    const wanted = hotel.list(({ checkIn, checkOut }) => checkIn <= to && checkOut >= from);
    assert.ok(wanted.length > 10);
    assert.deepEqual(await storedIn(integration), wanted.map(({ id }) => id).sort());
  });
}

const storedIn = async (integration: string) => (await runtime.stored(integration)).map(({ id }) => id).sort();

test('asking: a request per sync, by arrival and by departure', async () => {
  const simulator = await simulate();
  const by = (dateBy: string) => ({ path: '/api/reservations', query: { ...dated('from', 'to').query, dateBy } });
  const connector = { pull: { pagination: none, request: by('arrival'), requests: { post_stay: by('departure') } } };
  const syncs = {
    pre_stay: { every: '30m', range: ['+1d', '+9d'] },
    post_stay: { every: '60m', range: ['-9d', '-1d'] },
  };
  const documents = { integration: 'per-sync', baseUrl: simulator.baseUrl, connector, pull: { syncs } };
  const ports = runtime.ports(documents);
  const today = simulator.hotel.today('LIS01');
  const arriving = simulator.hotel.list(({ checkIn }) => checkIn > today && checkIn <= addDays(today, 9));
  const left = simulator.hotel.list(({ checkOut }) => checkOut < today && checkOut >= addDays(today, -9));
  const first = await sync(ports, 'per-sync', { sync: 'pre_stay' });
  assert.deepEqual([first.counters.fetched, first.counters.skipped], [arriving.length, 0]);
  const second = await sync(ports, 'per-sync', { sync: 'post_stay' });
  assert.equal(second.counters.fetched, left.length);
  const ids = [...arriving, ...left].map(({ id }) => id);
  assert.deepEqual(await storedIn('per-sync'), [...new Set(ids)].sort());
});

test('asking: a list by offset that shifts is read again, and loses nothing', async () => {
  const pagination = { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 10 };
  for (const times of [0, 1, 3]) {
    const simulator = await simulate({
      seed: times,
      reservations: 300,
      faults: times === 0 ? [] : [{ kind: 'shift', times }],
    });
    const { hotel } = simulator;
    const integration = `shifts-${times}`;
    const query = { dateFrom: '{window.from}', dateTo: '{window.to}' };
    const documents = {
      integration,
      baseUrl: simulator.baseUrl,
      timezone: 'UTC',
      connector: list({ query }, { pagination }),
    };
    const from = hotel.today('LIS01');
    const to = addDays(from, 6);
    const { state, counters } = await sync(runtime.ports(documents), integration, { from, to });
    const wanted = hotel.list(({ checkIn, checkOut }) => checkIn <= to && checkOut >= from).map(({ id }) => id);
    assert.ok(wanted.length > 25);
    assert.equal(state, 'complete');
    assert.deepEqual(await storedIn(integration), wanted.sort());
    const once = Math.ceil((wanted.length - 10) / 8) + 1;
    assert.equal(counters.requests === once, times === 0, `${counters.requests} requests; ${once} read the list once`);
  }
});

const bare = { path: 'cancellations', set: { status: 'cancelled' }, partial: true };
const whole = { path: 'cancellations' };

test('asking: a feed without dates, acknowledged, with bare cancellations in a second list', async () => {
  const simulator = await simulate();
  const { hotel } = simulator;
  const connector = {
    shape: { root_path: 'reservations', also: [bare] },
    pull: {
      pagination: none,
      window: 'none',
      request: { path: '/api/feed/pending', query: { limit: '500', cancellations: 'bare' } },
      acknowledge: { method: 'POST', path: '/api/feed/ack', body: { ids: '{ids}' } },
    },
  };
  const ports = runtime.ports({ integration: 'feed', baseUrl: simulator.baseUrl, connector });
  const pull = async () => {
    const { state, counters } = await sync(ports, 'feed', { sync: 'pre_stay' });
    assert.deepEqual([state, counters.dead, counters.skipped], ['complete', 0, 0]);
    return counters;
  };
  const gone = (status: string) => status === 'cancelled' || status === 'no_show';
  const cancelled = async () =>
    (await runtime.stored('feed')).filter(({ data }) => data.status === 'cancelled').map(({ id }) => id);
  await pull();
  assert.deepEqual(
    await storedIn('feed'),
    hotel
      .list()
      .map(({ id }) => id)
      .sort(),
  );
  const known = hotel.list(({ status }) => gone(status)).map(({ id }) => id);
  assert.deepEqual((await cancelled()).sort(), known.sort());
  assert.equal((await pull()).fetched, 0, 'everything is acknowledged');
  const booked = hotel.book(3, 2).reservation?.id ?? '';
  const [old] = hotel.list(({ status, id }) => status === 'confirmed' && id !== booked);
  for (const id of [booked, old?.id ?? '']) hotel.change(id, { kind: 'cancel' });
  assert.equal((await pull()).fetched, 3, 'the new booking is in both lists, the known one only bare');
  assert.deepEqual((await cancelled()).sort(), [...known, booked, old?.id].sort());
});

test('asking: what changed since the last run, with cancellations in a second list', async () => {
  let ago = 86_400_000;
  const simulator = await simulate({ now: () => Date.now() - ago });
  const { hotel } = simulator;
  const request = { path: '/api/feed', query: { since: '{since}', limit: '500' } };
  const connector = {
    shape: { root_path: 'reservations', also: [whole] },
    pull: { pagination: none, request },
  };
  const ports = runtime.ports({ integration: 'changes', baseUrl: simulator.baseUrl, connector });
  const pull = async () => (await sync(ports, 'changes', { sync: 'pre_stay' })).counters;
  assert.equal((await pull()).changed, hotel.list().length);
  const [one] = hotel.list(({ status }) => status === 'confirmed');
  ago = 0;
  hotel.change(one?.id ?? '', { kind: 'cancel' });
  assert.deepEqual(await pull().then(({ fetched, changed }) => [fetched, changed]), [1, 1]);
});

test('asking: changes between two moments, at most three days a request', async () => {
  let now = Date.parse('2026-03-10T12:00:00Z');
  const simulator = await simulate({ maxRangeDays: 3, now: () => now });
  now += 86_400_000;
  const request = { path: '/api/feed', query: { since: '{since}', until: '{now}', limit: '500' } };
  const also = [{ path: 'cancellations' }];
  const connector = {
    pull: { pagination: none, request, since: { step: '3d' } },
    shape: { root_path: 'reservations', also },
  };
  const documents = { integration: 'change-steps', baseUrl: simulator.baseUrl, timezone: 'Asia/Tokyo', connector };
  const range = { from: '2026-03-03', to: '2026-03-14' };
  const result = await sync(runtime.ports(documents), 'change-steps', range);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.equal(result.counters.requests, 6);
  assert.equal((await storedIn('change-steps')).length, simulator.hotel.size);
});
