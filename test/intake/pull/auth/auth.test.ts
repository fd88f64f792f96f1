import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { test } from 'node:test';
import { toWire } from '../../../../src/core/outbound/ask/request.ts';
import type { HmacAuth } from '../../../../src/core/outbound/auth/hmac.ts';
import { signed } from '../../../../src/core/outbound/auth/hmac.ts';
import { openHttp } from '../../../../src/core/outbound/http.ts';
import { type Asked, bookings, type Reply } from '../support/partner.ts';
import { planOf, sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

const day = { from: '2026-03-01', to: '2026-03-01' };
const list: Reply = { json: { reservations: bookings(3, '2026-03-01') } };
let made = 0;

/** One day's sync with the credentials, against a partner that accepts the requests for which `accepts` is true. */
async function pull(auth: unknown, accepts: (asked: Asked) => boolean, connector: Record<string, unknown> = {}) {
  const partner = await partnerOf((asked) => (accepts(asked) ? list : { status: 401, json: { error: 'who are you' } }));
  const integration = `auth${++made}`;
  try {
    const ports = runtime.ports({
      integration,
      baseUrl: partner.url,
      connector: { pull: { pagination: { type: 'none' }, ...connector } },
      pull: { auth },
    });
    return { result: await sync(ports, integration, day), requests: partner.requests, ports, integration };
  } finally {
    await partner.close();
  }
}

test('bearer, api_key in header and query, basic', async () => {
  const cases: [unknown, (asked: Asked) => boolean][] = [
    [{ type: 'bearer', token: 't-1' }, ({ headers }) => headers.authorization === 'Bearer t-1'],
    [{ type: 'api_key', key: 'k-1' }, ({ headers }) => headers['x-api-key'] === 'k-1'],
    [{ type: 'api_key', key: 'k-1', header: 'X-Partner' }, ({ headers }) => headers['x-partner'] === 'k-1'],
    [{ type: 'api_key', key: 'k 1&2', query: 'apikey' }, ({ query }) => query.get('apikey') === 'k 1&2'],
    [
      { type: 'basic', username: 'usér', password: 'pä:ss' },
      ({ headers }) => headers.authorization === `Basic ${Buffer.from('usér:pä:ss').toString('base64')}`,
    ],
    [{ type: 'basic', username: 'key' }, ({ headers }) => headers.authorization === `Basic ${btoa('key')}`],
    [
      { type: 'basic', username: 'key', password: '' },
      ({ headers }) => headers.authorization === `Basic ${btoa('key:')}`,
    ],
  ];
  for (const [auth, accepts] of cases) {
    const { result } = await pull(auth, accepts);
    assert.equal(result.state, 'complete', JSON.stringify([auth, result]));
  }
});

test('parameters of the brand that a next link repeats are sent once', async () => {
  const rows = bookings(2, '2026-03-01');
  const partner = await partnerOf(({ query, pathQuery }) => ({
    json: {
      reservations: [query.has('page') ? rows[1] : rows[0]],
      next: query.has('page') ? null : `${pathQuery}&page=2`,
    },
  }));
  const ports = runtime.ports({
    integration: 'linked',
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'url', next: 'next' } } },
    pull: { auth: { type: 'api_key', key: 'k 1', query: 'key' }, query: { 'hotel[]': ['A', 'B'] } },
  });
  const result = await sync(ports, 'linked', day);
  assert.deepEqual([result.state, result.counters.fetched], ['complete', 2], JSON.stringify(result));
  const [first, second] = partner.requests;
  const namesOf = (query: URLSearchParams | undefined) => [...(query ?? [])].map((pair) => pair.join('=')).sort();
  assert.deepEqual(namesOf(second?.query), [...namesOf(first?.query), 'page=2'].sort());
});

test('custom credentials are sent in headers, query and the body of a POST', async () => {
  const post = {
    request: { method: 'POST', path: '/search', body: { date_from: '{window.from}', date_to: '{window.to}' } },
  };
  const auth = { type: 'custom', headers: { 'X-User': 'u' }, query: { p: 'q' }, body: { credentials: { key: 'z' } } };
  const { result, requests } = await pull(
    auth,
    ({ headers, query, body }) =>
      headers['x-user'] === 'u' && query.get('p') === 'q' && JSON.parse(body).credentials.key === 'z',
    post,
  );
  assert.equal(result.state, 'complete');
  assert.equal(requests[0]?.method, 'POST');
});

const vector: HmacAuth = {
  type: 'hmac',
  secret: 'shared secret',
  secret_encoding: 'text',
  algorithm: 'sha256',
  encoding: 'hex',
  sign: '{timestamp}.{method}.{path_query}.{body}',
  headers: { 'X-Signature': '{signature}', 'X-Timestamp': '{timestamp}' },
};
const request = toWire({
  method: 'POST',
  base: 'https://pms.example/v1/search',
  query: [['q', 'a b']],
  headers: {},
  body: { n: 1 },
});
const moment = { now: 1_772_323_200_999, nonce: 'abc' };

test('hmac: test vectors from openssl', () => {
  // printf %s '1772323200.POST./v1/search?q=a%20b.{"n":1}' | openssl dgst -sha256 -hmac 'shared secret'
  const { headers } = signed(request, vector, moment);
  assert.equal(headers['X-Timestamp'], '1772323200');
  assert.equal(headers['X-Signature'], 'e4233414068a76f2a135d27b0406bb13f86506cdf46d63b5b5220867d48d177d');
  const base64 = signed(request, { ...vector, algorithm: 'sha512', encoding: 'base64' }, moment);
  assert.equal(
    base64.headers['X-Signature'],
    'Fyp7ioPKl/gy4uP57uQhFi80lTrQshIArE9rcTx7qCXmqaOxyTiit4/XHf/36UWiGySL0OFWaKdsydwu/mTvTQ==',
  );
  const own = signed(
    request,
    { ...vector, sign: '{nonce}\n{method}\n{body}', headers: { Authorization: 'HMAC id:{nonce}:{signature}' } },
    moment,
  );
  assert.equal(
    own.headers.Authorization,
    'HMAC id:abc:4d2f39f972869ef6e4491ac8a3583fa9d42f99cbbe3cb838061bf642cd0f6cfa',
  );
});

test('hmac: a key in base64 over method, host, path, query and a hash of the body', () => {
  const request = {
    method: 'POST',
    url: 'https://pms.example:8443/api/list?a=1&b=2',
    pathQuery: '/api/list?a=1&b=2',
    headers: {},
    body: '{}',
  } as const;
  const auth = {
    type: 'hmac',
    secret: Buffer.from('raw key').toString('base64'),
    secret_encoding: 'base64',
    algorithm: 'sha256',
    encoding: 'base64',
    sign: '{method}\n{host}\n{path}\n{query}\n{timestamp}\n{body_sha256}',
    headers: { 'X-Signature': '{signature}' },
  } as const;
  const bodyHash = createHash('sha256').update('{}').digest('base64');
  const text = `POST\npms.example:8443\n/api/list\na=1&b=2\n1000\n${bodyHash}`;
  const expected = createHmac('sha256', 'raw key').update(text).digest('base64');
  assert.equal(signed(request, auth, { now: 1_000_000, nonce: 'n' }).headers['X-Signature'], expected);
});

test('hmac: a placeholder inside the body is signed as plain text', () => {
  const tricky = { ...request, body: '{"n":"{timestamp}{signature}"}' };
  const expected = createHmac('sha256', 'shared secret')
    .update(`1772323200.POST./v1/search?q=a%20b.${tricky.body}`)
    .digest('hex');
  assert.equal(signed(tricky, vector, moment).headers['X-Signature'], expected);
});

test('hmac: the partner can verify each attempt as sent', async () => {
  const seen = new Set<string>();
  const { result, requests } = await pull(
    {
      type: 'hmac',
      secret: 's3',
      algorithm: 'sha512',
      sign: '{timestamp}.{nonce}.{method}.{path_query}.{body}',
      headers: { 'X-Sig': 'v1={signature}', 'X-At': '{timestamp}', 'X-Nonce': '{nonce}' },
    },
    ({ headers, method, pathQuery, body }) => {
      const nonce = String(headers['x-nonce']);
      const signature = createHmac('sha512', 's3')
        .update(`${headers['x-at']}.${nonce}.${method}.${pathQuery}.${body}`)
        .digest('hex');
      const isNew = !seen.has(nonce);
      seen.add(nonce);
      return isNew && seen.size > 1 && headers['x-sig'] === `v1=${signature}`;
    },
  );
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.equal(requests.length, 2);
});

test('401: credentials are read again and the request is repeated once', async () => {
  const partner = await partnerOf(({ headers }) =>
    headers.authorization === 'Bearer new' ? list : { status: 401, json: {} },
  );
  const token = () => (partner.requests.length === 0 ? 'old' : 'new');
  const documents = (token: string) => ({
    integration: 'rotated',
    baseUrl: partner.url,
    pull: { auth: { type: 'bearer', token } },
  });
  const ports = runtime.ports(documents('old'), {
    plan: async () => ({ kind: 'ok', plan: planOf(documents(token())) }),
  });
  const result = await sync(ports, 'rotated', day);
  assert.equal(result.state, 'complete');
  assert.deepEqual(
    partner.requests.slice(0, 2).map(({ headers }) => headers.authorization),
    ['Bearer old', 'Bearer new'],
  );
  await partner.close();
});

test('a second 401 pauses the integration and is logged as an error; a success ends the pause', async () => {
  const failed = await pull({ type: 'bearer', token: 'wrong-token-123' }, () => false);
  assert.equal(failed.result.error?.code, 'pull.auth_failed');
  assert.equal(failed.requests.length, 2);
  const state = async () =>
    (
      await runtime.pool.query('select auth_failed_at, auth_message from partner_accounts where integration = $1', [
        failed.integration,
      ])
    ).rows[0];
  assert.ok((await state()).auth_failed_at);
  assert.match((await state()).auth_message, /^the partner answered 401$/);
  const partner = await partnerOf(() => list);
  const ports = runtime.ports({
    integration: failed.integration,
    baseUrl: partner.url,
    pull: { auth: { type: 'bearer', token: 'right' } },
  });
  assert.equal((await sync(ports, failed.integration, day)).state, 'complete');
  assert.equal((await state()).auth_failed_at, null);
  await partner.close();
});

test('credentials echoed by the partner do not appear in our messages', async () => {
  const partner = await partnerOf(({ headers, query }) => ({
    status: 400,
    json: { message: `bad key ${query.get('key')} ${headers.authorization}` },
  }));
  for (const auth of [
    { type: 'api_key', key: 'very-secret-key', query: 'key' },
    { type: 'bearer', token: 'very-secret-key' },
  ]) {
    const integration = `echo${++made}`;
    const ports = runtime.ports({ integration, baseUrl: partner.url, pull: { auth } });
    const result = await sync(ports, integration, day);
    assert.equal(result.error?.message, 'the partner answered 400');
    assert.match((await runtime.partnerText(result.runId)) ?? '', /bad key .*\*\*\*/);
    assert.doesNotMatch(JSON.stringify(result), /very-secret-key/);
  }
  await partner.close();
});

test('headers of the brand are sent with every request and read again after a 401', async () => {
  const partner = await partnerOf(({ headers }) => {
    const isKnown = headers['x-app-key'] === 'app-2' && headers.authorization === 'Bearer t-1';
    return isKnown ? list : { status: 401, json: { message: `no application ${headers['x-app-key']}` } };
  });
  const documents = (key: string) => ({
    integration: 'app-key',
    baseUrl: partner.url,
    connector: {
      pull: {
        pagination: { type: 'none' },
        request: {
          path: '/api/reservations',
          query: { from: '{window.from}', to: '{window.to}' },
          headers: { 'X-App-Key': 'of the connector', 'x-hotelid': '{brand_id}' },
        },
      },
    },
    pull: { auth: { type: 'bearer', token: 't-1' }, headers: { 'x-app-key': key } },
  });
  // The key is replaced after the first request of the second sync.
  const key = () => (partner.requests.length < 3 ? 'app-1' : 'app-2');
  const ports = runtime.ports(documents(key()), {
    plan: async () => ({ kind: 'ok', plan: planOf(documents(key())) }),
  });
  const refused = await sync(ports, 'app-key', day);
  assert.equal(refused.error?.code, 'pull.auth_failed');
  assert.match((await runtime.partnerText(refused.runId)) ?? '', /no application \*\*\*/, 'the echo is masked');
  const result = await sync(ports, 'app-key', day);
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.deepEqual(
    partner.requests.map(({ headers }) => [headers['x-app-key'], headers['x-hotelid']]),
    ['app-1', 'app-1', 'app-1', 'app-2'].map((sent) => [sent, 'LIS01']),
  );
  await partner.close();
});

test('a credential that is not a valid header is reported by name, without its value', async () => {
  const { result, requests } = await pull({ type: 'bearer', token: 'pasted\nin two lines' }, () => true);
  assert.equal(result.error?.code, 'pull.auth_failed');
  assert.match(result.error?.message ?? '', /header Authorization cannot be sent/);
  assert.doesNotMatch(JSON.stringify(result), /pasted/);
  assert.equal(requests.length, 0);
});

test('no configured or returned address reaches the private network, in any spelling', async () => {
  const partner = await partnerOf(() => list);
  const { port } = new URL(partner.url);
  const guarded = openHttp({ allowPrivate: false, userAgent: 'innbound test' });
  const hosts = ['127.0.0.1', '2130706433', '0x7f.1', '[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '[64:ff9b::7f00:1]'];
  const oauth = { type: 'oauth2', grant: 'client_credentials', client_id: 'c', client_secret: 's' };
  try {
    for (const [i, host] of hosts.entries()) {
      const address = `http://${host}:${port}`;
      const named = { integration: `private${i}`, baseUrl: address };
      const result = await sync(runtime.ports(named, { http: guarded }), named.integration, day);
      assert.equal(result.error?.code, 'pull.blocked_address', host);
      const token = {
        integration: `token${i}`,
        baseUrl: 'https://pms.example',
        pull: { auth: { ...oauth, token_url: address } },
      };
      const refused = await sync(runtime.ports(token, { http: guarded }), token.integration, day);
      assert.equal(refused.error?.code, 'pull.token_failed', host);
    }
    assert.equal(partner.requests.length, 0);
  } finally {
    await partner.close();
    await guarded.close();
  }
});

test('credentials never follow a redirect', async () => {
  const elsewhere = await partnerOf(() => list);
  const partner = await partnerOf(({ path }) => ({
    status: path.endsWith('token') ? 307 : 302,
    headers: { location: elsewhere.url },
    json: {},
  }));
  const oauth = { type: 'oauth2', grant: 'client_credentials', client_id: 'c', client_secret: 's' };
  try {
    for (const [name, auth] of [
      ['redirected', { type: 'bearer', token: 'secret-token' }],
      ['redirected-token', { ...oauth, token_url: `${partner.url}/token` }],
    ] as const) {
      const ports = runtime.ports({
        integration: name,
        baseUrl: partner.url,
        pull: { auth, headers: { 'x-app-key': 'k' } },
      });
      assert.equal((await sync(ports, name, day)).state, 'failed');
    }
    assert.ok(partner.requests.length >= 2);
    assert.equal(elsewhere.requests.length, 0);
  } finally {
    await partner.close();
    await elsewhere.close();
  }
});
