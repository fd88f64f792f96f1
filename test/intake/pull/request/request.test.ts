import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { RequestTemplate } from '../../../../src/core/documents/pull.ts';
import { listValues } from '../../../../src/core/intake/pull/request/list-request.ts';
import { fill, fillPath, openRequest, toWire } from '../../../../src/core/outbound/ask/request.ts';
import { urlFault } from '../../../../src/kit/plain-url.ts';

const values = listValues({
  window: { from: '2026-03-28', to: '2026-03-29' },
  timezone: 'Europe/Lisbon',
  brandId: 'LIS 01/ü',
  sync: 'stay',
  status: ['confirmed', 'checked_in'],
});
const get: RequestTemplate = { method: 'GET', path: '/api/reservations', query: {}, headers: {}, encoding: 'json' };

test('a GET carries both bounds, keeps the order, and repeats a list', () => {
  const wire = toWire(
    openRequest(
      {
        ...get,
        query: { dateFrom: '{window.from}', dateTo: '{window.to}', status: '{sync.status}', fixed: 1, flag: true },
      },
      'https://pms.example/v2/',
      values,
      [
        { place: 'query.offset', value: 0 },
        { place: 'header.X-Limit', value: 50 },
      ],
    ),
  );
  assert.equal(
    wire.url,
    'https://pms.example/v2/api/reservations?dateFrom=2026-03-28&dateTo=2026-03-29&status=confirmed&status=checked_in&fixed=1&flag=true&offset=0',
  );
  assert.equal(wire.headers['X-Limit'], '50');
  assert.equal(wire.body, undefined);
});

test('a POST carries types: lists stay lists, numbers numbers; places reach into the body', () => {
  const wire = toWire(
    openRequest(
      {
        ...get,
        method: 'POST',
        body: {
          date_from: '{window.from}',
          property_id: '{brand_id}',
          include: ['guests', 'rooms', 'charges'],
          status: '{sync.status}',
          deep: { range: 'from {window.from} to {window.to}', n: 5, on: true, nothing: null },
        },
      },
      'https://pms.example',
      values,
      [{ place: 'body.paging.limit', value: 200 }],
    ),
  );
  assert.deepEqual(JSON.parse(wire.body ?? ''), {
    date_from: '2026-03-28',
    property_id: 'LIS 01/ü',
    include: ['guests', 'rooms', 'charges'],
    status: ['confirmed', 'checked_in'],
    deep: { range: 'from 2026-03-28 to 2026-03-29', n: 5, on: true, nothing: null },
    paging: { limit: 200 },
  });
  assert.equal(wire.headers['content-type'], 'application/json');
});

test('one status or several arrive as one array of strings, however the connector writes it', () => {
  for (const [status, expected] of [
    ['confirmed', ['confirmed']],
    [
      ['confirmed', 'checked_in'],
      ['confirmed', 'checked_in'],
    ],
  ] as const) {
    const filled = listValues({
      window: { from: '2026-03-28', to: '2026-03-29' },
      timezone: 'Europe/Lisbon',
      brandId: 'LIS01',
      sync: 'stay',
      status,
    });
    for (const template of ['{sync.status}', ['{sync.status}']]) {
      const request = openRequest(
        { ...get, method: 'POST', body: { status: template } },
        'https://pms.example',
        filled,
      );
      assert.deepEqual(request.body, { status: expected });
    }
    const joined = openRequest(
      { ...get, method: 'POST', body: { status: '{sync.status.joined}' } },
      'https://pms.example',
      filled,
    );
    assert.deepEqual(joined.body, { status: expected.join(',') });
  }
});

test('parameters without a value are removed everywhere', () => {
  const none = { ...values, 'sync.status': undefined, empty: '', list: [] };
  assert.deepEqual(
    fill(
      {
        a: '{sync.status}',
        b: 'x{sync.status}',
        c: '{empty}',
        d: '{list}',
        e: 'kept',
        f: { g: '{empty}' },
        h: ['{list}', 'i'],
      },
      none,
    ),
    {
      e: 'kept',
      h: ['i'],
    },
  );
  const wire = toWire(
    openRequest(
      {
        ...get,
        query: { status: '{sync.status}', q: 'a b+c' },
        headers: { 'X-Status': '{sync.status}', 'X-Brand': '{brand_id}' },
      },
      'https://pms.example',
      none,
    ),
  );
  assert.equal(wire.pathQuery, '/api/reservations?q=a%20b%2Bc');
  assert.deepEqual(Object.keys(wire.headers), ['accept', 'X-Brand']);
});

test('a value in a path is one segment', () => {
  assert.equal(fillPath('/r/{id}', { id: 'a/b?c#d' }), '/r/a%2Fb%3Fc%23d');
  for (const id of ['.', '..', '%2e%2E']) {
    const base = `https://pms.example/r/${id}/x`;
    assert.match(urlFault(base) ?? '', /change the path/, id);
  }
  assert.equal(urlFault('https://pms.example/r/..a/x..?y=..'), undefined);
  assert.equal(
    toWire({
      method: 'GET',
      base: `https://pms.example${fillPath('/r/{id}', { id: '../admin' })}`,
      query: [],
      headers: {},
    }).pathQuery,
    '/r/..%2Fadmin',
  );
});

test('braces around an unknown name are plain text', () => {
  assert.deepEqual(fill({ filter: '{"a":1}', other: '{unknown}' }, values), { filter: '{"a":1}', other: '{unknown}' });
});

test('instants are the ends of the property’s days, over daylight saving', () => {
  assert.equal(values['window.from_utc'], '2026-03-28T00:00:00Z');
  assert.equal(values['window.to_utc'], '2026-03-29T23:00:00Z');
});

test('a header of the connector replaces ours, whatever its letter case', () => {
  const request = {
    ...get,
    method: 'POST',
    body: {},
    headers: { Accept: 'application/vnd.api+json', 'Content-type': 'text/x' },
  } as const;
  const { headers } = toWire(openRequest(request, 'https://pms.example', values));
  assert.deepEqual(headers, { Accept: 'application/vnd.api+json', 'Content-type': 'text/x' });
});
