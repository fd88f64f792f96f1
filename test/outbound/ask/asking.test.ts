import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Counters } from '../../../src/core/intake/pull/run/run-state.ts';
import { type DryRecord, openDryRunStore } from '../../../src/core/store/runs/dry-runs.ts';
import { list, setUpAsking } from '../../intake/pull/support/asking.ts';
import { bookings } from '../../intake/pull/support/partner.ts';
import { sync } from '../../intake/pull/support/runtime.ts';

/** The forms of requests that partners require. */
const { asked, runtime, partnerOf } = setUpAsking();

const none = { type: 'none' };

const day = { from: '2026-03-02', to: '2026-03-02' };

test('the next page is named by an address in the body, on the same host only', async () => {
  const book = bookings(6, '2026-03-02');
  const connector = { pull: { pagination: { type: 'url', next: '_links.next.href' } } };
  const partner = await partnerOf(({ query }) => {
    const start = Number(query.get('start') ?? 0);
    const next = start + 2 < book.length ? { next: { href: `/api/reservations?start=${start + 2}` } } : {};
    return { json: { reservations: book.slice(start, start + 2), _links: next } };
  });
  const ports = runtime.ports({ integration: 'url', baseUrl: partner.url, connector });
  const day = { from: '2026-03-02', to: '2026-03-03' };
  assert.equal((await sync(ports, 'url', day)).counters.fetched, 6);
  assert.deepEqual(
    partner.requests.map(({ query }) => query.get('start')),
    [null, '2', '4'],
  );
  const foreign = await partnerOf(() => ({
    json: { reservations: book, _links: { next: { href: 'https://elsewhere.example/' } } },
  }));
  const away = runtime.ports({ integration: 'url-away', baseUrl: foreign.url, connector });
  assert.equal((await sync(away, 'url-away', day)).error?.code, 'pull.link_foreign');
});

test('a cursor in a header is followed, and a flag ends a list whose last page has a cursor too', async () => {
  const book = bookings(6, '2026-03-02');
  const day = { from: '2026-03-02', to: '2026-03-03' };
  const partner = await partnerOf(({ query, body }) => {
    const sent = body === '' ? query.get('after') : (JSON.parse(body) as { after?: number }).after;
    const start = Number(sent ?? 0);
    if (start >= book.length) return { status: 400, json: { message: 'no such page' } };
    const last = start + 2 >= book.length;
    const json = { reservations: book.slice(start, start + 2), page: { more: !last, end: start + 2 } };
    return { json, headers: last ? {} : { 'x-next': String(start + 2) } };
  });
  const post = { method: 'POST', path: '/search', body: { from: '{window.from}', to: '{window.to}' } };
  for (const [name, pull] of Object.entries({
    'cursor-header': { pagination: { type: 'cursor', next: 'header.X-Next', cursor: 'query.after' } },
    'cursor-more': {
      request: post,
      pagination: { type: 'cursor', next: 'page.end', more: 'page.more', cursor: 'body.after' },
    },
  })) {
    const ports = runtime.ports({ integration: name, baseUrl: partner.url, connector: { pull } });
    const { state, counters } = await sync(ports, name, day);
    assert.deepEqual([state, counters.fetched], ['complete', 6], name);
  }
  assert.deepEqual(JSON.parse(partner.requests.at(-1)?.body ?? ''), { ...day, after: 4 }, 'a number stays a number');
});

test('a field named total that counts something else can be ignored', async () => {
  const book = bookings(3, '2026-03-02');
  const partner = await partnerOf(({ query }) => ({
    json: { reservations: query.get('offset') === '0' ? book : [], total: 900 },
  }));
  const state = async (integration: string, total: string | false) => {
    const pagination = { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 5, total };
    const ports = runtime.ports({ integration, baseUrl: partner.url, connector: { pull: { pagination } } });
    return (await sync(ports, integration, { from: '2026-03-02', to: '2026-03-02' })).state;
  };
  assert.deepEqual([await state('counted', 'total'), await state('uncounted', false)], ['incomplete', 'complete']);
});

test('a body is sent as a form: lists are repeated, objects are JSON text', async () => {
  const { requests } = await asked('form', {
    connector: {
      pull: {
        pagination: none,
        window: 'none',
        request: {
          method: 'POST',
          path: '/search',
          encoding: 'form',
          body: { from: '{window.from}', include: ['guests', 'rooms'], filter: { property: '{brand_id}' } },
        },
      },
    },
  });
  assert.equal(requests[0]?.headers['content-type'], 'application/x-www-form-urlencoded');
  assert.deepEqual(
    [...new URLSearchParams(requests[0]?.body)],
    [
      ['from', '2026-03-01'],
      ['include', 'guests'],
      ['include', 'rooms'],
      ['filter', '{"property":"LIS01"}'],
    ],
  );
});

test('a sync can have its own request', async () => {
  const query = (by: string) => ({ path: `/${by}`, query: { from: '{window.from}', to: '{window.to}' } });
  const documents = {
    connector: { pull: { pagination: none, request: query('arrivals'), requests: { post_stay: query('departures') } } },
    pull: {
      syncs: {
        pre_stay: { every: '30m', range: ['+1d', '+7d'] },
        post_stay: { every: '60m', range: ['-7d', '-1d'] },
      },
    },
  };
  const first = await asked('own-request', documents, { sync: 'pre_stay' });
  assert.deepEqual(new Set(first.requests.map(({ path }) => path)), new Set(['/arrivals']));
  const second = await asked('own-request-2', documents, { sync: 'post_stay' });
  assert.deepEqual(new Set(second.requests.map(({ path }) => path)), new Set(['/departures']));
  const request = { path: '/list', query: { by: 'arrival', from: '{window.from}', to: '{window.to}' } };
  const requests = { post_stay: { query: { by: 'departure' } } };
  const connector = { pull: { pagination: none, request, requests } };
  const third = await asked('own-request-3', { ...documents, connector }, { sync: 'post_stay' });
  assert.deepEqual(
    third.requests.map(({ path, query }) => [path, query.get('by'), query.has('from')]),
    [['/list', 'departure', true]],
  );
});

test('a list in the brand’s query is a repeated parameter, in place of the connector’s', async () => {
  const request = { path: '/list', query: { hotel: 'any', from: '{window.from}', to: '{window.to}' } };
  const { requests } = await asked(
    'query-list',
    { connector: { pull: { pagination: none, request } }, pull: { query: { hotel: ['H1', 'H2'], account: 'A1' } } },
    day,
  );
  assert.equal(requests[0]?.pathQuery, '/list?from=2026-03-02&to=2026-03-02&hotel=H1&hotel=H2&account=A1');
});

test('a page is acknowledged after it is stored, and a failure leaves the run incomplete', async () => {
  let refuses = false;
  const stored: number[] = [];
  const partner = await partnerOf(async ({ path }) => {
    if (path !== '/ack') return list;
    stored.push((await runtime.stored('acked')).length);
    return refuses ? { status: 400, json: {} } : { json: { Errors: { ErrorCode: '0', ErrorMessage: 'Success' } } };
  });
  const acks = () => partner.requests.filter(({ path }) => path === '/ack');
  const lastAck = () => acks().at(-1);
  const connector = {
    pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', body: { booking_ids: '{ids}' } } },
  };
  const ports = runtime.ports({ integration: 'acked', baseUrl: partner.url, connector });
  assert.equal((await sync(ports, 'acked', day)).state, 'complete');
  assert.deepEqual(JSON.parse(lastAck()?.body ?? ''), { booking_ids: ['R00001', 'R00002', 'R00003'] });
  assert.deepEqual(stored, [3], 'the page is stored before it is acknowledged');
  const items = { Bookings: { Booking: [{ BookingId: '{id}', PMS_BookingId: '{id}' }] } };
  const objects = { pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', body: items } } };
  const inObjects = runtime.ports({ integration: 'acked-objects', baseUrl: partner.url, connector: objects });
  assert.equal((await sync(inObjects, 'acked-objects', day)).state, 'complete');
  assert.deepEqual(
    JSON.parse(lastAck()?.body ?? '').Bookings.Booking,
    ['R00001', 'R00002', 'R00003'].map((id) => ({ BookingId: id, PMS_BookingId: id })),
  );
  const text = { pull: { pagination: none, acknowledge: { path: '/ack', query: { done: '{ids.joined}' } } } };
  const joined = runtime.ports({ integration: 'acked-joined', baseUrl: partner.url, connector: text });
  assert.equal((await sync(joined, 'acked-joined', day)).state, 'complete');
  assert.equal(lastAck()?.query.get('done'), 'R00001,R00002,R00003');
  const each = { pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', query: { of: '{id}' } } } };
  const forEach = runtime.ports({ integration: 'acked-each', baseUrl: partner.url, connector: each });
  assert.equal((await sync(forEach, 'acked-each', day)).state, 'complete');
  const calls = acks()
    .slice(-3)
    .map(({ query }) => query.get('of'));
  assert.deepEqual(calls, ['R00001', 'R00002', 'R00003']);
  const before = partner.requests.length;
  const dry = runtime.ports(
    { integration: 'acked-dry', baseUrl: partner.url, connector },
    { runs: openDryRunStore(runtime.pool) },
  );
  assert.equal((await sync(dry, 'acked-dry', day)).counters.changed, 3);
  assert.equal(partner.requests.length, before + 1, 'a dry run stores nothing and acknowledges nothing');
  refuses = true;
  const failed = await sync(ports, 'acked', day);
  assert.deepEqual([failed.state, failed.error?.code], ['incomplete', 'pull.not_acknowledged']);
});

test('a bare row of a second list adds to the row of the same reservation in the same answer', async () => {
  const [first, second, third] = bookings(3, '2026-03-02');
  const bare = (id?: string) => ({ id, cancelled_on: '2026-02-01' });
  const answer = { reservations: [first, second], gone: [bare(first?.id)] };
  const partner = await partnerOf(() => ({ json: answer }));
  const shape = { root_path: 'reservations', also: [{ path: 'gone', set: { status: 'cancelled' }, partial: true }] };
  const connector = { shape, pull: { pagination: none, window: 'none', request: { path: '/feed' } } };
  const ports = runtime.ports({ integration: 'two-lists', baseUrl: partner.url, connector });
  const states = async () => {
    const { state, counters } = await sync(ports, 'two-lists', day);
    assert.deepEqual([state, counters.dead, counters.repeated], ['complete', 0, 0]);
    return (await runtime.stored('two-lists')).map(({ version, data }) => [
      data.id,
      data.status,
      data.check_in,
      version,
    ]);
  };
  const cancelled = [first?.id, 'cancelled', first?.check_in, 2];
  assert.deepEqual(await states(), [cancelled, [second?.id, 'confirmed', second?.check_in, 1]]);
  assert.deepEqual((await states())[0], cancelled, 'the same answer again changes nothing');
  answer.gone.push(bare(third?.id));
  const { counters } = await sync(ports, 'two-lists', day);
  assert.equal(counters.dead, 1, 'a bare row of an unknown reservation is a dead letter');
  const { rows } = await runtime.pool.query(`select id, code from dead_letters where integration = 'two-lists'`);
  assert.deepEqual(rows, [{ id: third?.id, code: 'record.unknown_reservation' }]);
});

test('a dry run counts a bare row like a real run if an earlier page had its reservation', async () => {
  const [first, second, third] = bookings(3, '2026-03-02');
  const gone = [{ id: first?.id, cancelled_on: '2026-02-01' }];
  const pages: Readonly<Record<string, unknown>> = {
    '': { reservations: [first, second], next: 'b' },
    b: { reservations: [third], gone, next: 'c' },
    c: { reservations: [second], gone: [...gone, { id: second?.id }, { id: 'nobody' }] },
  };
  const partner = await partnerOf(({ query }) => ({ json: pages[query.get('cursor') ?? ''] ?? {} }));
  const shape = { root_path: 'reservations', also: [{ path: 'gone', set: { status: 'cancelled' }, partial: true }] };
  const pagination = { type: 'cursor', next: 'next', cursor: 'query.cursor' };
  const connector = { shape, pull: { pagination, window: 'none', request: { path: '/feed' } } };
  const document = { integration: 'paged-lists', baseUrl: partner.url, connector };
  const outcomes: string[] = [];
  const onRecord = ({ outcome }: DryRecord) => outcomes.push(`${outcome.id} ${outcome.outcome}`);
  const runs = openDryRunStore(runtime.pool, { onRecord });
  const { counters: dry } = await sync(runtime.ports(document, { runs }), 'paged-lists', day);
  const { counters: real } = await sync(runtime.ports(document), 'paged-lists', day);
  const count = ({ fetched, changed, unchanged, dead }: Counters) => ({ fetched, changed, unchanged, dead });
  assert.deepEqual(count(dry), count(real));
  assert.equal(dry.dead, 1, 'nobody');
  assert.equal(outcomes.filter((one) => one === `${first?.id} cancelled`).length, 1);
});

test('a 429 names its wait in the header that the connector knows, or in a usual one', async () => {
  const inAMinute = () => String(Math.ceil(Date.now() / 1_000) + 60);
  const cases = [
    { wait: 'X-Five-Min-Resets', headers: { 'x-five-min-resets': '25' }, waitedMs: [25_000, 50_000] },
    { headers: { 'x-ratelimit-reset': inAMinute() }, waitedMs: [50_000, 122_000] },
    { headers: { 'x-ratelimit-reset': inAMinute(), 'retry-after': '3' }, waitedMs: [3_000, 6_000] },
    // The limit has ended by its own account: the waits grow.
    { headers: { 'x-ratelimit-reset': '1' }, waitedMs: [1_500, 3_000] },
  ];
  for (const [
    i,
    {
      wait,
      headers,
      waitedMs: [least = 0, most = 0],
    },
  ] of cases.entries()) {
    const integration = `limit-${i}`;
    const partner = await partnerOf(({ no }) => (no === 1 ? { status: 429, headers, json: {} } : list));
    const connector = { pull: { pagination: none, ...(wait && { wait }) } };
    const ports = runtime.ports({ integration, baseUrl: partner.url, connector });
    const { state, counters } = await sync(ports, integration, day);
    assert.equal(state, 'complete');
    assert.ok(counters.waitedMs >= least && counters.waitedMs <= most, `${i}: waited ${counters.waitedMs} ms`);
  }
});

test('any code but success is an error, for a partner that lists no codes', async () => {
  for (const [code, state] of [
    [200, 'complete'],
    [420, 'failed'],
  ] as const) {
    const integration = `code-${code}`;
    const partner = await partnerOf(() => ({ json: { ...(list as { json: object }).json, error_code: code } }));
    const errors = [{ when: { error_code: { not: 200 } }, means: 'not_found' }];
    const ports = runtime.ports({
      integration,
      baseUrl: partner.url,
      connector: { pull: { pagination: none, errors } },
    });
    assert.equal((await sync(ports, integration, day)).state, state);
  }
});
