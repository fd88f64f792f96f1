import assert from 'node:assert/strict';
import { test } from 'node:test';
import { writeDate } from '../../../src/intake/pull/write-date.ts';
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

test('a JSON body carries a number of days or seconds as a number, and the braces of a GraphQL query as text', async () => {
  const query = 'query($from: Int!) { bookings(from: $from) { ref } }';
  const variables = { from: '{window.from:epoch_days}', to: '{window.to:epoch_s}', text: 'd{window.to:epoch_days}' };
  const request = { method: 'POST', path: '/graphql', body: { query, variables } };
  const connector = { pull: { pagination: none, request } };
  const { requests } = await asked('graphql', { connector, timezone: 'America/New_York' });
  assert.deepEqual(JSON.parse(requests[0]?.body ?? ''), {
    query,
    variables: { from: 20_513, to: Date.parse('2026-03-08T05:00:00Z') / 1000 - 1, text: 'd20519' },
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

test('every part of a notation', () => {
  const moment = Date.parse('2026-03-05T15:04:09.070Z');
  const cases = {
    'D MMM YY': '5 Mar 26',
    'MMMM D, YYYY h:mm A': 'March 5, 2026 3:04 PM',
    'YYYYMMDD[T]HHmmss.SSSZ': '20260305T150409.070+00:00',
    epoch_s: Math.floor(moment / 1000),
    epoch_ms: moment,
    epoch_days: 20_517,
    iso: '2026-03-05',
  };
  for (const [format, text] of Object.entries(cases)) assert.equal(writeDate(moment, format, 'UTC'), text);
});
