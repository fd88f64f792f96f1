import assert from 'node:assert/strict';
import { generateKeyPairSync } from 'node:crypto';
import { after, before, test } from 'node:test';
import { oidcSchema } from '../../src/core/documents/workspace-settings.ts';
import { grantOf } from '../../src/operator/operations/oidc-grant.ts';
import { type ApiNode, apiNode, live } from './node.ts';
import { startForger, startProvider } from './provider.ts';

/** Sign-in through an identity provider, over real HTTP: a real provider, and one that forges. */

const settings = (issuer: string, more = '') => `sign_in:
  oidc:
    issuer: ${issuer}
    client_id: innbound
    client_secret: a-secret-of-the-client
    label: Sign in with Acme
    roles: { claim: groups, viewer: [staff], operator: [desk], admin: [it] }
    brands: { claim: brands, all: ['*'] }
${more}`;
const fromConsole = { 'x-innbound-console': '1' };

const account = {
  sub: 'u-17',
  claims: { name: 'Ada', groups: ['staff', 'desk'], brands: ['grand', 'nowhere'] } as Record<string, unknown>,
};
let provider: Awaited<ReturnType<typeof startProvider>>;
let forger: Awaited<ReturnType<typeof startForger>>;
let real: ApiNode;
let forged: ApiNode;
before(async () => {
  provider = await startProvider(() => account);
  forger = await startForger();
  real = await apiNode(settings(provider.issuer));
  forged = await apiNode(settings(forger.issuer, "    acr_values: ['mfa']\n"));
  provider.allow(`${real.url}/sign-in/callback`);
});
after(async () => {
  await real.stop();
  await forged.stop();
  await provider.stop();
  await forger.stop();
});

const cookiesOf = (answer: { headers: Headers }): string =>
  answer.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .filter((one) => !one?.endsWith('='))
    .join('; ');

async function begin(node: ApiNode) {
  await live(node);
  return node.call('POST', '/session/oidc', undefined, {}, fromConsole);
}

/** Acts like a browser: each host gets its own cookies, redirects are followed by hand. */
async function walk(start: string): Promise<Response> {
  const jar = new Map<string, string>();
  let at = start;
  for (let hops = 0; hops < 12; hops++) {
    if (at.includes('/sign-in/callback')) return new Response(at);
    const { origin } = new URL(at);
    const answer = await fetch(at, { redirect: 'manual', headers: { cookie: jar.get(origin) ?? '' } });
    const known = new Map((jar.get(origin) ?? '').split('; ').map((one) => [one.split('=')[0] ?? '', one]));
    for (const one of answer.headers.getSetCookie()) known.set(one.split('=')[0] ?? '', one.split(';')[0] ?? '');
    jar.set(origin, [...known.values()].filter((one) => one !== '').join('; '));
    const next = answer.headers.get('location');
    if (next === null) throw new Error(`no way on from ${at}: ${answer.status} ${await answer.text()}`);
    at = new URL(next, at).href;
  }
  throw new Error('too many redirects');
}

async function signInReal(): Promise<{ cookie: string; page: Response }> {
  const begun = await begin(real);
  assert.equal(begun.status, 200, JSON.stringify(begun.body));
  const back = await (await walk(begun.body.url)).text();
  const page = await fetch(back, { headers: { cookie: cookiesOf(begun) } });
  return { cookie: cookiesOf(page), page };
}

test('the page shows the provider, and only the console can start a sign-in', async () => {
  const ways = await real.call('GET', '/session/ways');
  assert.deepEqual(ways.body, { oidc: { label: 'Sign in with Acme' } });
  assert.equal((await real.call('POST', '/session/oidc', undefined, {})).status, 403);
  const { body } = await begin(real);
  const { searchParams } = new URL(body.url);
  assert.equal(searchParams.get('code_challenge_method'), 'S256');
  for (const name of ['state', 'nonce', 'code_challenge']) assert.ok((searchParams.get(name) ?? '').length >= 43, name);
});

test('a person gets the role and the brands of the claims, and the sign-in is audited', async () => {
  const { cookie, page } = await signInReal();
  assert.equal(page.status, 200);
  const who = await real.call('GET', '/session', undefined, undefined, { cookie });
  assert.deepEqual(who.body, { name: 'Ada', role: 'operator', integrations: ['grand'] });
  assert.equal((await real.call('GET', '/integrations/other', undefined, undefined, { cookie })).status, 404);
  assert.equal((await real.call('GET', '/tokens', undefined, undefined, { cookie })).status, 403);
  const { rows } = await real.runtime.pool.query(
    `select actor, target, status from audit where action = 'session.create' order by audit_id desc limit 1`,
  );
  const target = { by: 'oidc', subject: `${provider.issuer} u-17` };
  assert.deepEqual(rows, [{ actor: 'Ada', target, status: 200 }]);
});

test('a person without a role or a brand is refused, and that is audited', async () => {
  for (const claims of [
    { name: 'Eve', groups: [] },
    { name: 'Eve', groups: ['it'] },
    { name: 'Eve', groups: ['it'], brands: ['nowhere'] },
  ]) {
    const kept = account.claims;
    account.claims = claims;
    const { page, cookie } = await signInReal().finally(() => (account.claims = kept));
    assert.equal(page.status, 403);
    assert.ok(!cookie.includes('session'));
  }
  const { rows } = await real.runtime.pool.query(
    `select count(*)::int as n from audit where actor = 'Eve' and status = 403`,
  );
  assert.equal(rows[0].n, 3);
});

test('the callback leads only to the console', async () => {
  const { page } = await signInReal();
  const html = await page.text();
  assert.match(html, /content="0;url=\/"/);
  assert.ok(!/https?:/.test(html));
  assert.equal(page.headers.get('location'), null);
});

test('the browser never gets a token of the provider', async () => {
  const { page, cookie } = await signInReal();
  const seen = `${await page.text()} ${cookie} ${JSON.stringify([...page.headers])}`;
  assert.ok(!/eyJ|access_token|id_token/.test(seen), seen);
  const { rows } = await real.runtime.pool.query<{ dump: string }>(
    `select string_agg(t::text, ' ') as dump from tokens t`,
  );
  assert.ok(!/eyJ/.test(rows[0]?.dump ?? ''), 'nor does the store keep one');
});

test('signing out everywhere ends every session of the person', async () => {
  const [first, second] = [await signInReal(), await signInReal()];
  const other = { ...account, sub: 'u-18' };
  const kept = account.sub;
  (account as { sub: string }).sub = other.sub;
  const colleague = await signInReal().finally(() => ((account as { sub: string }).sub = kept));
  const status = async (cookie: string) =>
    (await real.call('GET', '/session', undefined, undefined, { cookie })).status;
  assert.deepEqual(await Promise.all([first, second, colleague].map((one) => status(one.cookie))), [200, 200, 200]);
  const ended = await real.call('DELETE', '/session/everywhere', undefined, undefined, {
    cookie: first.cookie,
    ...fromConsole,
  });
  assert.ok(ended.body.ended >= 2);
  assert.deepEqual(await Promise.all([first, second, colleague].map((one) => status(one.cookie))), [401, 401, 200]);
});

test('tokens and sign-in links keep working', async () => {
  const token = await real.token('admin');
  assert.equal((await real.call('GET', '/tokens', token)).status, 200);
  const made = await real.call('POST', '/session', undefined, { token });
  assert.equal(made.status, 200);
  const cookie = cookiesOf(made);
  const again = cookiesOf(await real.call('POST', '/session', undefined, { token }));
  await real.call('DELETE', '/session/everywhere', undefined, undefined, { cookie, ...fromConsole });
  for (const each of [cookie, again]) {
    assert.equal((await real.call('GET', '/session', undefined, undefined, { cookie: each })).status, 401);
  }
  assert.equal((await real.call('GET', '/tokens', token)).status, 200, 'the token itself stays');
});

async function signInForged(forgery: typeof forger.forgery, change: (query: URLSearchParams) => void = () => {}) {
  const begun = await begin(forged);
  assert.equal(begun.status, 200, JSON.stringify(begun.body));
  const asked = new URL(begun.body.url).searchParams;
  forger.nonce = asked.get('nonce') ?? '';
  const sound = { groups: ['it'], brands: ['*'], acr: 'mfa', ...forgery.claims };
  forger.forgery = { ...forgery, claims: sound };
  const query = new URLSearchParams({ code: 'a-code', state: asked.get('state') ?? '' });
  change(query);
  const cookie = cookiesOf(begun);
  return {
    begun,
    cookie,
    query,
    answer: await fetch(`${forged.url}/sign-in/callback?${query}`, { headers: { cookie } }),
  };
}

test('a forged, foreign, expired or replayed ID token is refused', async () => {
  assert.equal((await signInForged({})).answer.status, 200, 'a valid one is accepted');
  const now = Math.floor(Date.now() / 1000);
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const forgeries: readonly (readonly [string, typeof forger.forgery])[] = [
    ['signed by a stranger', { key: stranger }],
    ['unsigned', { alg: 'none' }],
    ['another algorithm', { alg: 'HS256' }],
    ['for another client', { claims: { aud: 'another' } }],
    ['of another issuer', { claims: { iss: 'https://login.example' } }],
    ['expired', { claims: { exp: now - 600 } }],
    ['not valid yet', { claims: { nbf: now + 600 } }],
    ['of another sign-in', { claims: { nonce: 'another' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
    ['with a blank subject', { claims: { sub: ' ' } }],
    ['from the future', { claims: { iat: now + 600, exp: now + 900 } }],
    ['missing', { omit: true }],
  ];
  for (const [what, forgery] of forgeries) {
    const { answer } = await signInForged(forgery);
    assert.equal(answer.status, 403, what);
    assert.ok(!cookiesOf(answer).includes('session'), what);
  }
});

test('a sign-out at the provider ends every session of the person', async () => {
  const status = async (cookie: string) =>
    (await real.call('GET', '/session', undefined, undefined, { cookie })).status;
  const sessions = [await signInReal(), await signInReal()];
  await provider.signOut('somebody-else');
  assert.deepEqual(await Promise.all(sessions.map(({ cookie }) => status(cookie))), [200, 200]);
  await provider.signOut(account.sub);
  assert.deepEqual(await Promise.all(sessions.map(({ cookie }) => status(cookie))), [401, 401]);
  const { body } = await real.call('GET', '/audit?action=session.back_channel_logout', await real.token('admin'));
  assert.deepEqual(body.items[0].target, { subject: `${provider.issuer} ${account.sub}`, ended: 2 });
});

test('a forged, foreign or old logout token ends nothing', async () => {
  const signedIn = await signInForged({ claims: { sub: 'u-17' } });
  const cookie = cookiesOf(signedIn.answer);
  const status = async () => (await forged.call('GET', '/session', undefined, undefined, { cookie })).status;
  const logout = async (token: string) =>
    (
      await fetch(`${forged.url}/sign-in/back-channel-logout`, {
        method: 'POST',
        body: new URLSearchParams({ logout_token: token }),
      })
    ).status;
  const now = Math.floor(Date.now() / 1000);
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const sound = { sub: 'u-17', jti: 'j-1', events, nonce: undefined };
  const stranger = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
  const forgeries: readonly (readonly [string, typeof forger.forgery])[] = [
    ['signed by a stranger', { key: stranger, claims: sound }],
    ['unsigned', { alg: 'none', claims: sound }],
    ['another algorithm', { alg: 'HS256', claims: sound }],
    ['for another client', { claims: { ...sound, aud: 'another' } }],
    ['for nobody', { claims: { ...sound, aud: undefined } }],
    ['of another issuer', { claims: { ...sound, iss: 'https://login.example' } }],
    ['of no issuer', { claims: { ...sound, iss: undefined } }],
    ['expired', { claims: { ...sound, exp: now - 600 } }],
    ['old', { claims: { ...sound, iat: now - 3_600, exp: now + 3_600 } }],
    ['without events', { claims: { ...sound, events: undefined } }],
    ['of another event', { claims: { ...sound, events: { other: {} } } }],
    ['an ID token', { claims: { sub: 'u-17', jti: 'j-1', nonce: 'n' } }],
    ['of another type', { typ: 'at+jwt', claims: sound }],
    ['with a nonce', { claims: { ...sound, nonce: 'n' } }],
    ['without a subject', { claims: { ...sound, sub: undefined } }],
    ['with an empty subject', { claims: { ...sound, sub: '' } }],
    ['with a blank subject', { claims: { ...sound, sub: ' ' } }],
    ['with an empty id', { claims: { ...sound, jti: '' } }],
    ['from the future', { claims: { ...sound, iat: now + 600, exp: now + 900 } }],
  ];
  for (const [what, forgery] of forgeries) assert.equal(await logout(forger.token(forgery)), 400, what);
  assert.equal(await logout(''), 400);
  assert.equal(await logout('x'.repeat(20_000)), 413);
  assert.equal(await status(), 200);
  assert.equal(await logout(forger.token({ claims: sound })), 200, 'a valid one is accepted');
  assert.equal(await status(), 401);
});

test('a logout token counts once: its replay does not end a newer session', async () => {
  const events = { 'http://schemas.openid.net/event/backchannel-logout': {} };
  const token = forger.token({ claims: { sub: 'u-18', jti: 'j-18', events, nonce: undefined } });
  const logout = () =>
    fetch(`${forged.url}/sign-in/back-channel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: token }),
    });
  const signIn = async () => cookiesOf((await signInForged({ claims: { sub: 'u-18' } })).answer);
  const status = async (cookie: string) =>
    (await forged.call('GET', '/session', undefined, undefined, { cookie })).status;
  const first = await signIn();
  assert.deepEqual([await status(first), (await logout()).status, await status(first)], [200, 200, 401]);
  const newer = await signIn();
  assert.deepEqual([(await logout()).status, await status(newer)], [400, 200]);
});

test('a start has one callback', async () => {
  const { answer, query, cookie } = await signInForged({});
  assert.equal(answer.status, 200);
  const asked = forger.requests.length;
  const again = await fetch(`${forged.url}/sign-in/callback?${query}`, { headers: { cookie } });
  assert.deepEqual([again.status, cookiesOf(again).includes('session')], [403, false]);
  assert.equal(forger.requests.length, asked, 'and the provider gets no request');
});

test('an address with wrong tokens can still sign in through the provider', async () => {
  const node = await apiNode(settings(forger.issuer));
  try {
    for (let i = 0; i < 70; i++) await node.call('GET', '/session', `ib_wrong${i}`);
    assert.equal((await node.call('POST', '/session', undefined, { token: 'ibs_wrong-token' })).status, 429);
    assert.equal((await node.call('GET', '/session/ways')).status, 200);
    assert.equal((await begin(node)).status, 200);
  } finally {
    await node.stop();
  }
});

test('refused callbacks and logouts are limited, each by itself', async () => {
  const node = await apiNode(settings(forger.issuer, "    acr_values: ['mfa']\n"));
  try {
    const post = () =>
      fetch(`${node.url}/sign-in/back-channel-logout`, { method: 'POST', body: new URLSearchParams() });
    const callback = async () => {
      const begun = await begin(node);
      const state = new URL(begun.body.url).searchParams.get('state') ?? '';
      const query = new URLSearchParams({ state, code: 'wrong' });
      return fetch(`${node.url}/sign-in/callback?${query}`, { headers: { cookie: cookiesOf(begun) } });
    };
    forger.forgery = { omit: true };
    const times = async (ask: () => Promise<Response>) => {
      for (let i = 0; i < 200; i++) {
        const { status } = await ask();
        if (status === 429) return i;
      }
      return 'never';
    };
    assert.notEqual(await times(post), 'never');
    assert.equal((await callback()).status, 403, 'logouts do not limit callbacks');
    const asked = forger.requests.length;
    // The provider's requests before each callback: the limit frees a place every second, which a slow machine takes.
    const before: number[] = [];
    const counted = () => {
      before.push(forger.requests.length);
      return callback();
    };
    assert.notEqual(await times(counted), 'never');
    assert.ok(forger.requests.length > asked);
    assert.equal(forger.requests.length, before.at(-1), 'the provider gets no request for a callback that is refused');
  } finally {
    await node.stop();
  }
});

test('nobody learns the host of the provider or an error of the network without signing in', async () => {
  const node = await apiNode(settings('http://127.0.0.1:1'));
  try {
    await live(node);
    const begun = await node.call('POST', '/session/oidc', undefined, {}, fromConsole);
    assert.equal(begun.status, 409);
    const logout = await fetch(`${node.url}/sign-in/back-channel-logout`, {
      method: 'POST',
      body: new URLSearchParams({ logout_token: 'x' }),
    });
    assert.equal(logout.status, 400);
    for (const text of [JSON.stringify(begun.body), await logout.text()]) {
      assert.doesNotMatch(text, /127\.0\.0\.1|ECONN|connect|refused:/);
    }
  } finally {
    await node.stop();
  }
});

test('metadata of another issuer is refused, and the provider is not asked again at once', async () => {
  const node = await apiNode(settings(forger.issuer));
  try {
    forger.metadataIssuer = 'https://login.example';
    const asked = forger.requests.length;
    for (let i = 0; i < 5; i++) {
      const { status, body } = await begin(node);
      assert.equal(status, 409);
      assert.equal(body.code, 'operate.sign_in_unavailable');
    }
    assert.equal(forger.requests.length, asked + 1);
  } finally {
    forger.metadataIssuer = undefined;
    await node.stop();
  }
});

test('the callback needs the cookie that the start has set', async () => {
  const { query } = await signInForged({});
  const without = await fetch(`${forged.url}/sign-in/callback?${query}`);
  assert.equal(without.status, 403);
  const asked = forger.requests.length;
  for (const cookie of ['innbound_sign_in=x', `innbound_sign_in=${'A'.repeat(300)}`]) {
    assert.equal((await fetch(`${forged.url}/sign-in/callback?${query}`, { headers: { cookie } })).status, 403);
  }
  assert.equal(forger.requests.length, asked, 'and the provider gets no request');
  const other = cookiesOf(await begin(forged));
  const mixed = await fetch(`${forged.url}/sign-in/callback?${query}`, { headers: { cookie: other } });
  assert.equal(mixed.status, 403, 'a state of another sign-in');
  const wrong = await signInForged({}, (one) => one.set('state', 'another'));
  assert.equal(wrong.answer.status, 403);
  const failed = await signInForged({}, (one) => one.set('error', '<script>alert(1)</script>'));
  assert.equal(failed.answer.status, 403);
  assert.ok(!(await failed.answer.text()).includes('<script>'));
});

test('a sign-in below the required strength is refused', async () => {
  for (const acr of ['pwd', undefined]) assert.equal((await signInForged({ claims: { acr } })).answer.status, 403);
});

test('a person is known by issuer and subject', async () => {
  await signInForged({ claims: { sub: 'u-17', name: 'Ada' } });
  const { rows } = await forged.runtime.pool.query(
    `select subject from tokens where subject is not null and name = 'Ada'`,
  );
  assert.deepEqual(rows, [{ subject: `${forger.issuer} u-17` }]);
});

test('claims grant no more than the settings say', () => {
  const oidc = oidcSchema.parse({
    issuer: 'https://login.example',
    client_id: 'innbound',
    roles: { claim: 'constructor', viewer: ['staff'], admin: ['it'] },
  });
  const grant = (claims: Record<string, unknown>) => grantOf(oidc, claims as never, ['grand']);
  assert.equal(grant({ sub: 'a' }).kind, 'refused', 'nothing is inherited');
  assert.deepEqual(grant({ sub: 'a', constructor: 'staff it' }), {
    kind: 'granted',
    name: 'a',
    role: 'admin',
    integrations: null,
  });
  assert.equal(grant({ sub: 'a', constructor: { it: true } }).kind, 'refused');
  assert.equal(grant({ sub: 'a', constructor: ['IT'] }).kind, 'refused', 'values are exact');
  const named = grant({ email: 'ada\u202e@acme.example', constructor: ['staff'] });
  assert.equal(named.name, 'ada@acme.example');
});
