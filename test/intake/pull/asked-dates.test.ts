import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDate } from '../../../src/core/intake/pull/request/write-date.ts';
import { fortnight, list, setUpAsking } from './support/asking.ts';
import type { Asked } from './support/partner.ts';
import { sync } from './support/runtime.ts';

/** The days and moments that a request names: windows, ranges, watermarks, and how they are written. */
const { asked, runtime, partnerOf } = setUpAsking();

const none = { type: 'none' };

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
  await runtime.pool.query(`update syncs set read_at = read_at - interval '1 hour'`);
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 70, 'from the last complete run, minus the overlap');
  await pull();
  assert.equal(minutes(partner.requests.at(-1)), 10);
  await sync(ports, 'since', fortnight);
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

/** What a property in New York sends for a query with placeholders. */
async function queryInNewYork(name: string, query: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const connector = { pull: { pagination: none, request: { path: '/list', query } } };
  const { requests } = await asked(name, { connector, timezone: 'America/New_York' });
  return Object.fromEntries(requests[0]?.query ?? []);
}

test('dates are written in the partner’s notation, from the first to the last second of the window', async () => {
  const query = await queryInNewYork('notation', {
    from: '{window.from:DD/MM/YYYY}',
    to: '{window.to:YYYY-MM-DD[T]HH:mm:ss}',
    range: '{window.from:epoch_s}-{window.to:epoch_s}',
  });
  assert.deepEqual(query, {
    from: '01/03/2026',
    to: '2026-03-07T23:59:59',
    range: `${Date.parse('2026-03-01T05:00:00Z') / 1000}-${Date.parse('2026-03-08T05:00:00Z') / 1000 - 1}`,
  });
});

test('a JSON body carries seconds as a number, and the braces of a GraphQL query as text', async () => {
  const query = 'query($to: Int!) { bookings(to: $to) { ref } }';
  const variables = { from: '{window.from:epoch_ms}', to: '{window.to:epoch_s}', text: 's{window.to:epoch_s}' };
  const request = { method: 'POST', path: '/graphql', body: { query, variables } };
  const connector = { pull: { pagination: none, request } };
  const { requests } = await asked('graphql', { connector, timezone: 'America/New_York' });
  const to = Date.parse('2026-03-08T05:00:00Z') / 1000 - 1;
  assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    query,
    variables: { from: Date.parse('2026-03-01T05:00:00Z'), to, text: `s${to}` },
  });
});

test('a range without its last day, a number of days and times in UTC can be asked for', async () => {
  const utc = 'YYYY-MM-DD HH:mm';
  const query = await queryInNewYork('ranges', {
    from: '{window.from}',
    before: '{window.after}',
    written: '{window.after:DD.MM.YYYY HH:mm}',
    days: '{window.days}',
    utc: `{window.from_utc:${utc}}/{window.to_utc:${utc}}`,
    since: `{since:${utc}}/{since_utc:${utc}}`,
  });
  assert.deepEqual(query, {
    from: '2026-03-01',
    before: '2026-03-08',
    written: '08.03.2026 00:00',
    days: '7',
    utc: '2026-03-01 05:00/2026-03-08 05:00',
    since: '2026-03-01 00:00/2026-03-01 05:00',
  });
});

test('a range without its first day is asked for by the day, or the last second, before it', async () => {
  const query = await queryInNewYork('exclusive', {
    arriving_after: '{window.before}',
    written: '{window.before:DD.MM.YYYY HH:mm:ss}',
    to: '{window.to}',
  });
  assert.deepEqual(query, { arriving_after: '2026-02-28', written: '28.02.2026 23:59:59', to: '2026-03-07' });
});

test('{now} is the same moment in all requests of a run, and the end of the last day of a requested range', async () => {
  const request = { path: '/changes', query: { since: '{since}', until: '{now}', utc: '{now_utc:HH:mm}' } };
  const pagination = { type: 'page', page: 'query.page' };
  const connector = { pull: { pagination, request } };
  const partner = await partnerOf(({ query }) => (query.get('page') === '1' ? list : { json: { reservations: [] } }));
  const syncs = { pre_stay: { every: '30m' } };
  const ports = runtime.ports({ integration: 'now', baseUrl: partner.url, connector, pull: { syncs } });
  const before = Date.now();
  await sync(ports, 'now', { sync: 'pre_stay' });
  const untils = partner.requests.map((one) => one.query.get('until') ?? '');
  assert.ok(untils.length > 1);
  assert.equal(new Set(untils).size, 1);
  const until = Date.parse(untils[0] ?? '');
  assert.ok(until >= before - 2_000 && until <= Date.now() + 1_000);
  await sync(ports, 'now', fortnight);
  const { query } = partner.requests.at(-1) ?? {};
  assert.deepEqual([query?.get('until'), query?.get('utc')], ['2026-03-15T00:00:00Z', '00:00']);
});

test('changes are asked for in steps that overlap and are never longer than the partner allows, also if a day has 25 hours', async () => {
  const request = { path: '/changes', query: { since: '{since}', until: '{now}' } };
  const longest = async (step: string, days: object) => {
    const connector = { pull: { pagination: none, request, since: { step } } };
    const { requests } = await asked(`steps-${step}`, { connector, timezone: 'Europe/Zurich' }, days);
    const lengths = requests.map(
      ({ query }) => Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? ''),
    );
    return Math.max(...lengths) / 86_400_000;
  };
  assert.ok((await longest('7d', { from: '2025-10-01', to: '2025-11-15' })) <= 7);
  assert.ok((await longest('2d', { from: '2025-10-20', to: '2025-10-30' })) <= 2);
  assert.ok((await longest('1d', { from: '2025-10-01', to: '2025-10-10' })) <= 1);
});

test('changes are asked for in steps of days, which meet and end at {now}', async () => {
  const request = { path: '/changes', query: { since: '{since}', until: '{now}' } };
  const connector = { pull: { pagination: none, request, since: { step: '6d' } } };
  const { requests } = await asked('steps', { connector, timezone: 'America/New_York' });
  assert.deepEqual(
    requests.map(({ query }) => [query.get('since'), query.get('until')]),
    [
      ['2026-03-01T05:00:00Z', '2026-03-06T05:00:00Z'],
      ['2026-03-06T04:59:59Z', '2026-03-11T04:00:00Z'],
      ['2026-03-11T03:59:59Z', '2026-03-15T04:00:00Z'],
    ],
  );
});

test('days to come are refused for a list by change', async () => {
  const partner = await partnerOf(() => list);
  const request = { path: '/changes', query: { since: '{since}', until: '{now}' } };
  const connector = { pull: { pagination: none, request } };
  const ports = runtime.ports({ integration: 'to-come', baseUrl: partner.url, connector });
  const { error } = await sync(ports, 'to-come', { from: '2999-01-01', to: '2999-01-02' });
  assert.deepEqual([error?.code, partner.requests.length], ['pull.bad_range', 0]);
  assert.match(error?.message ?? '', /by days of changes, not of stays/);
});

test('a step of changes that the partner cannot answer is halved', async () => {
  const days = ({ query }: Asked) =>
    (Date.parse(query.get('until') ?? '') - Date.parse(query.get('since') ?? '')) / 86_400_000;
  const partner = await partnerOf((one) => (days(one) > 4 ? { status: 413, json: {} } : list));
  const request = { path: '/changes', query: { since: '{since}', until: '{now}' } };
  const connector = { pull: { pagination: none, request, since: { step: '14d' } } };
  const ports = runtime.ports({ integration: 'half-steps', baseUrl: partner.url, connector });
  const result = await sync(ports, 'half-steps', fortnight);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.ok(partner.requests.filter((one) => days(one) <= 4).length >= 4);
});

test('a backfill asks for as many days at once as the partner allows, a sync for at most a week', async () => {
  const request = { path: '/list', query: { from: '{window.from}', to: '{window.to}' } };
  const connector = { pull: { pagination: none, request, window: { step: '31d' } } };
  const { requests } = await asked('long-windows', { connector }, { from: '2026-01-01', to: '2026-03-31' });
  assert.deepEqual(
    requests.map(({ query }) => query.get('to')),
    ['2026-01-31', '2026-03-03', '2026-03-31'],
  );
  const syncs = { pre_stay: { every: '30m', range: ['+1d', '+14d'] } };
  const scheduled = await asked('long-syncs', { connector, pull: { syncs } }, { sync: 'pre_stay' });
  assert.equal(scheduled.requests.length, 2);
});

test('every part of a notation', () => {
  const moment = Date.parse('2026-03-05T15:04:09.070Z');
  const cases = {
    'D MMM YY': '5 Mar 26',
    'MMMM D, YYYY h:mm A': 'March 5, 2026 3:04 PM',
    'YYYYMMDD[T]HHmmss.SSSZ': '20260305T150409.070+00:00',
    epoch_s: Math.floor(moment / 1000),
    epoch_ms: moment,
    iso: '2026-03-05',
  };
  for (const [format, text] of Object.entries(cases)) assert.equal(writeDate(moment, format, 'UTC'), text);
});
