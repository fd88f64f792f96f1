import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDate } from '../../../src/intake/pull/write-date.ts';
import { openDryRunStore } from '../../../src/store/runs/dry-runs.ts';
import { type Asked, bookings } from './support/partner.ts';
import { type Documents, sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/** The forms of requests that partners require. */
const { runtime, partnerOf } = setUpPulls();

const week = { from: '2026-03-01', to: '2026-03-14' };
const list = { json: { reservations: bookings(3, '2026-03-02') } };

async function asked(integration: string, documents: Partial<Documents>, request: Parameters<typeof sync>[2] = week) {
  const partner = await partnerOf(() => list);
  const ports = runtime.ports({ integration, baseUrl: partner.url, ...documents });
  const result = await sync(ports, integration, request);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  return { requests: partner.requests, ports, result };
}

const none = { type: 'none' };

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

test('credentials in the body are merged into the connector’s body, at every depth', async () => {
  const { requests } = await asked('merged', {
    connector: {
      pull: {
        pagination: none,
        request: {
          method: 'POST',
          path: '/search',
          body: { request: { from: '{window.from}', to: '{window.to}' } },
        },
      },
    },
    pull: { auth: { type: 'custom', body: { request: { auth: { key: 'k' } } } } },
  });
  assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    request: { from: '2026-03-01', to: '2026-03-07', auth: { key: 'k' } },
  });
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
});

test('a list without dates is one request, however long the range, and its sync needs none', async () => {
  const connector = { pull: { pagination: none, window: 'none', request: { path: '/feed' } } };
  const { requests } = await asked('no-window', { connector });
  const syncs = { pre_stay: { every: '30m' } };
  const { requests: ofSync } = await asked('no-range', { connector, pull: { syncs } }, { sync: 'pre_stay' });
  for (const sent of [requests, ofSync]) {
    assert.deepEqual(
      sent.map(({ pathQuery }) => pathQuery),
      ['/feed'],
    );
  }
});

test('a list by modification time continues from the start of the last complete run, with an overlap', async () => {
  const since = (asked?: Asked) => Date.parse(asked?.query.get('since') ?? '');
  let broken = false;
  let clock: (() => number) | undefined;
  const partner = await partnerOf(() => {
    if (broken) return { status: 400, json: {} };
    return clock ? { ...list, headers: { date: new Date(clock()).toUTCString() } } : list;
  });
  const connector = {
    pull: {
      pagination: none,
      request: { path: '/changes', query: { since: '{since}' } },
      since: { overlap: '10m', first: '30d' },
    },
  };
  const portsOf = (baseUrl: string) =>
    runtime.ports({
      integration: 'since',
      baseUrl,
      connector,
      pull: { syncs: { pre_stay: { every: '30m', range: ['+1d', '+60d'] } } },
    });
  const ports = portsOf(partner.url);
  const minutes = (asked?: Asked) => Math.round((Date.now() - since(asked)) / 60_000);
  const pull = () => sync(ports, 'since', { sync: 'pre_stay' });
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 30 * 24 * 60);
  assert.equal(partner.requests.length, 1, 'the range of days is not part of the request');
  broken = true;
  await pull();
  broken = false;
  await runtime.pool.query(`update watermarks set at = at - interval '1 hour'`);
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 70, 'from the last complete run, minus the overlap');
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 10);
  await sync(ports, 'since', week);
  assert.equal(partner.requests.at(-1)?.query.get('since'), '2026-03-01T00:00:00Z');
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 10, 'a backfill does not move the watermark');
  for (const [partnerNow, expected] of [
    [() => Date.now() - 3_600_000, 70],
    [() => Date.now() + 3_600_000, 10],
    [() => 0, 10],
  ] as const) {
    clock = partnerNow;
    await pull();
    await pull();
    assert.equal(minutes(partner.requests.at(-1)), expected, 'a partner’s clock that is slow does not hide changes');
  }
  clock = undefined;
  await runtime.pool.query('delete from runs');
  const live = portsOf(`${partner.url}/live`);
  for (const expected of [30 * 24 * 60, 10]) {
    await sync(live, 'since', { sync: 'pre_stay' });
    assert.equal(minutes(partner.requests.at(-1)), expected, 'another address is read from the beginning');
  }
});

test('dates are written in the partner’s notation, from the first to the last second of the window', async () => {
  const { requests } = await asked('notation', {
    connector: {
      pull: {
        pagination: none,
        request: {
          path: '/list',
          query: {
            from: '{window.from:DD/MM/YYYY}',
            to: '{window.to:YYYY-MM-DD[T]HH:mm:ss}',
            range: '{window.from:epoch_s}-{window.to:epoch_s}',
          },
        },
      },
    },
    timezone: 'America/New_York',
  });
  const [first] = requests;
  assert.deepEqual(Object.fromEntries(first?.query ?? []), {
    from: '01/03/2026',
    to: '2026-03-07T23:59:59',
    range: `${Date.parse('2026-03-01T05:00:00Z') / 1000}-${Date.parse('2026-03-08T05:00:00Z') / 1000 - 1}`,
  });
});

test('a range without its last day, a number of days and times in UTC can be asked for', async () => {
  const utc = 'YYYY-MM-DD HH:mm';
  const { requests } = await asked('ranges', {
    connector: {
      pull: {
        pagination: none,
        request: {
          path: '/list',
          query: {
            from: '{window.from}',
            before: '{window.after}',
            written: '{window.after:DD.MM.YYYY HH:mm}',
            days: '{window.days}',
            utc: `{window.from_utc:${utc}}/{window.to_utc:${utc}}`,
            since: `{since:${utc}}/{since_utc:${utc}}`,
          },
        },
      },
    },
    timezone: 'America/New_York',
  });
  assert.deepEqual(Object.fromEntries(requests[0]?.query ?? []), {
    from: '2026-03-01',
    before: '2026-03-08',
    written: '08.03.2026 00:00',
    days: '7',
    utc: '2026-03-01 05:00/2026-03-08 05:00',
    since: '2026-03-01 00:00/2026-03-01 05:00',
  });
});

test('every part of a notation', () => {
  const moment = Date.parse('2026-03-05T15:04:09.070Z');
  const cases = {
    'D MMM YY': '5 Mar 26',
    'MMMM D, YYYY h:mm A': 'March 5, 2026 3:04 PM',
    'YYYYMMDD[T]HHmmss.SSSZ': '20260305T150409.070+00:00',
    epoch_ms: String(moment),
    iso: '2026-03-05',
  };
  for (const [format, text] of Object.entries(cases)) assert.equal(writeDate(moment, format, 'UTC'), text);
});

const day = { from: '2026-03-02', to: '2026-03-02' };

test('a token comes from a login call, is kept, and is renewed when the partner refuses it', async () => {
  let issued = 0;
  const good = new Set<string>();
  const partner = await partnerOf(({ path, body, headers }) => {
    if (path === '/login') {
      if (JSON.parse(body).password !== 'p') return { status: 401, json: { message: 'who is p?' } };
      good.add(`t${++issued}`);
      return { json: { session: { key: `t${issued}`, seconds: 3600 } } };
    }
    return good.has(String(headers['x-session']).replace('Key ', '')) ? list : { status: 401, json: {} };
  });
  const auth = {
    type: 'login',
    path: '/login',
    body: { user: 'u', password: 'p' },
    token: 'session.key',
    expires_in: 'session.seconds',
    header: 'X-Session',
    value: 'Key {token}',
  };
  const connector = { pull: { pagination: none } };
  const ports = runtime.ports({ integration: 'login', baseUrl: partner.url, connector, pull: { auth } });
  const states = async () => (await sync(ports, 'login', day)).state;
  assert.deepEqual([await states(), await states(), issued], ['complete', 'complete', 1]);
  good.clear();
  assert.deepEqual([await states(), issued], ['complete', 2]);
  // The token of another user may be that of another hotel.
  const corrected = { ...auth, body: { user: 'v', password: 'p' } };
  const after = runtime.ports({ integration: 'login', baseUrl: partner.url, connector, pull: { auth: corrected } });
  assert.deepEqual([(await sync(after, 'login', day)).state, issued], ['complete', 3]);
  assert.equal(partner.requests.at(-1)?.headers['x-session'], 'Key t3');
  const wrong = { ...auth, body: { user: 'u', password: 'q' } };
  const refused = runtime.ports({ integration: 'login-2', baseUrl: partner.url, connector, pull: { auth: wrong } });
  const result = await sync(refused, 'login-2', day);
  assert.deepEqual([result.error?.code, result.error?.message], ['pull.auth_failed', 'the login call answered 401']);
});

test('the token of a login call goes into the query or deep into the body', async () => {
  const partner = await partnerOf(({ path }) => (path === '/login' ? { json: { token: 'a b' } } : list));
  const login = { type: 'login', path: '/login', body: { user: 'u' } };
  const search = { method: 'POST', path: '/search', body: { q: { from: '{window.from}', to: '{window.to}' } } };
  const pulled = async (integration: string, place: string, pull: object) => {
    const documents = { integration, baseUrl: partner.url, connector: { pull }, pull: { auth: { ...login, place } } };
    assert.equal((await sync(runtime.ports(documents), integration, day)).state, 'complete');
    return partner.requests.at(-1);
  };
  const inQuery = await pulled('login-query', 'query.sid', { pagination: none });
  assert.deepEqual([inQuery?.query.get('sid'), inQuery?.headers.authorization], ['a b', undefined]);
  const inBody = await pulled('login-body', 'body.q.session', { pagination: none, request: search });
  assert.deepEqual(JSON.parse(inBody?.body ?? ''), { q: { from: '2026-03-02', to: '2026-03-02', session: 'a b' } });
});

test('Basic can be combined with keys in the body and in the query', async () => {
  const { requests } = await asked(
    'combined',
    {
      connector: {
        pull: {
          pagination: none,
          request: { method: 'POST', path: '/search', body: { from: '{window.from}', to: '{window.to}' } },
        },
      },
      pull: {
        auth: { type: 'basic', username: 'u', password: 'p' },
        body: { account: { id: 'A1' } },
        query: { key: 'k' },
      },
    },
    day,
  );
  const [request] = requests;
  assert.equal(request?.headers.authorization, `Basic ${Buffer.from('u:p').toString('base64')}`);
  assert.deepEqual(JSON.parse(request?.body ?? ''), { from: '2026-03-02', to: '2026-03-02', account: { id: 'A1' } });
  assert.equal(request?.query.get('key'), 'k');
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
  const connector = {
    pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', body: { booking_ids: '{ids}' } } },
  };
  const ports = runtime.ports({ integration: 'acked', baseUrl: partner.url, connector });
  assert.equal((await sync(ports, 'acked', day)).state, 'complete');
  assert.deepEqual(JSON.parse(partner.requests.at(-1)?.body ?? ''), { booking_ids: ['R00001', 'R00002', 'R00003'] });
  assert.deepEqual(stored, [3], 'the page is stored before it is acknowledged');
  const items = { Bookings: { Booking: [{ BookingId: '{id}', PMS_BookingId: '{id}' }] } };
  const objects = { pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', body: items } } };
  const inObjects = runtime.ports({ integration: 'acked-objects', baseUrl: partner.url, connector: objects });
  assert.equal((await sync(inObjects, 'acked-objects', day)).state, 'complete');
  assert.deepEqual(
    JSON.parse(partner.requests.at(-1)?.body ?? '').Bookings.Booking,
    ['R00001', 'R00002', 'R00003'].map((id) => ({ BookingId: id, PMS_BookingId: id })),
  );
  const each = { pull: { pagination: none, acknowledge: { method: 'POST', path: '/ack', query: { of: '{id}' } } } };
  const forEach = runtime.ports({ integration: 'acked-each', baseUrl: partner.url, connector: each });
  assert.equal((await sync(forEach, 'acked-each', day)).state, 'complete');
  const calls = partner.requests.slice(-3).map(({ query }) => query.get('of'));
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
