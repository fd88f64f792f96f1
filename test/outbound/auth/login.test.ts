import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statedLifetimeMs } from '../../../src/core/outbound/auth/token-request.ts';
import { list, setUpAsking } from '../../intake/pull/support/asking.ts';
import { sync } from '../../intake/pull/support/runtime.ts';

/** Credentials that a login call returns, and credentials beside other parts of a request. */
const { asked, runtime, partnerOf } = setUpAsking();

const none = { type: 'none' };

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

test('the end of a token is a number of seconds, or a date-time that is still to come', () => {
  const now = Date.parse('2026-03-01T12:00:00Z');
  const cases = [
    ['3600', 3_600_000],
    [60.5, 60_500],
    ['2026-03-01T13:00:00+01:00', undefined],
    ['2026-03-01T13:00:00Z', 3_600_000],
    ['2026-03-01 13:00:00', 3_600_000],
    ['2026-03-01T11:00:00', undefined],
    ['tomorrow', undefined],
    [null, undefined],
    [0, undefined],
  ] as const;
  for (const [stated, ms] of cases) assert.equal(statedLifetimeMs(stated, now), ms, String(stated));
});
