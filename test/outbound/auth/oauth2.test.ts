import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import type { PullPorts } from '../../../src/core/intake/pull/ports.ts';
import { consentLink, consentPage, finishConsent } from '../../../src/core/outbound/auth/consent.ts';
import { identityOf } from '../../../src/core/outbound/auth/oauth2.ts';
import type { Pool } from '../../../src/core/store/db/pool.ts';
import { openTokenStore } from '../../../src/core/store/runs/partner-tokens.ts';
import { openSpool } from '../../../src/kit/spool.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { type Asked, bookings, type Reply, type ScriptedPartner } from '../../intake/pull/support/partner.ts';
import { keyring, sync } from '../../intake/pull/support/runtime.ts';
import { setUpPulls } from '../../intake/pull/support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

const day = { from: '2026-03-01', to: '2026-03-01' };
const list = { json: { reservations: bookings(3, '2026-03-01') } };
let made = 0;

interface Issuer {
  /** Tokens that open the list. */
  readonly good: Set<string>;
  readonly tokenRequests: URLSearchParams[];
  readonly partner: ScriptedPartner;
  readonly integration: string;
  ports(more?: Partial<PullPorts>): PullPorts;
}

async function issuer(
  auth: Record<string, unknown>,
  token: (form: URLSearchParams, asked: Asked, issue: (count?: number) => string) => Reply | Promise<Reply>,
): Promise<Issuer> {
  const good = new Set<string>();
  const tokenRequests: URLSearchParams[] = [];
  let issued = 0;
  const issue = () => {
    const text = `access-${++issued}`;
    good.clear();
    good.add(text);
    return text;
  };
  const partner = await partnerOf((asked) => {
    if (asked.path !== '/token')
      return good.has(String(asked.headers.authorization).slice(7)) ? list : { status: 401, json: {} };
    const form = new URLSearchParams(asked.body);
    tokenRequests.push(form);
    return token(form, asked, issue);
  });
  const integration = `oauth${++made}`;
  const documents = {
    integration,
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'none' } } },
    pull: {
      auth: { type: 'oauth2', token_url: `${partner.url}/token`, client_id: 'us', client_secret: 'sé:cret', ...auth },
    },
  };
  return { good, tokenRequests, partner, integration, ports: (more) => runtime.ports(documents, more) };
}

const client = { grant: 'client_credentials', scopes: ['read', 'list'], audience: 'pms', params: { tenant: '7' } };

test('client credentials: scopes, audience, parameters; the secret in the header or in the body', async () => {
  const inHeader = await issuer(client, (form, { headers }, issue) => {
    assert.equal(headers.authorization, `Basic ${Buffer.from('us:s%C3%A9%3Acret').toString('base64')}`);
    assert.deepEqual(Object.fromEntries(form), {
      grant_type: 'client_credentials',
      scope: 'read list',
      audience: 'pms',
      tenant: '7',
    });
    return { json: { access_token: issue(), token_type: 'Bearer', expires_in: 3600 } };
  });
  assert.equal((await sync(inHeader.ports(), inHeader.integration, day)).state, 'complete');
  assert.equal((await sync(inHeader.ports(), inHeader.integration, day)).state, 'complete');
  assert.equal(inHeader.tokenRequests.length, 1, 'a token is kept');
  const moved = await issuer({ ...client, params: { tenant: '8' } }, (form, _asked, issue) => {
    assert.deepEqual([form.get('grant_type'), form.get('tenant')], ['client_credentials', '8']);
    return { json: { access_token: issue(), expires_in: 3600 } };
  });
  const name = moved.integration as IntegrationName;
  const planned = await moved.ports().plan(name);
  assert.ok(planned.kind === 'ok' && planned.plan.settings.auth.type === 'oauth2');
  const before = { accessToken: 'of tenant 7', refreshToken: 'of tenant 7' };
  await moved.ports().tokens.save(name, identityOf(planned.plan.settings.auth), before);
  assert.equal((await sync(moved.ports(), moved.integration, day)).state, 'complete');
  assert.equal(moved.tokenRequests.length, 1, 'a token that was made with other parameters is not used');
  const inBody = await issuer({ ...client, client_auth: 'post' }, (form, { headers }, issue) => {
    assert.equal(headers.authorization, undefined);
    assert.deepEqual([form.get('client_id'), form.get('client_secret')], ['us', 'sé:cret']);
    return { json: { access_token: issue(), expires_in: 3600 } };
  });
  assert.equal((await sync(inBody.ports(), inBody.integration, day)).state, 'complete');
});

test('token addresses that deviate from the standard', async () => {
  const answers: ((token: string) => Reply)[] = [
    (token) => ({ status: 201, json: { access_token: token } }),
    (token) => ({ json: { accessToken: token, expiresIn: '3600' } }),
    (token) => ({ json: { data: { access_token: token, expires_in: 60.5 } } }),
    (token) => ({ json: { token, token_type: 'bearer', expires_in: null } }),
    (token) => ({ json: { access_token: token, expires_in: 1e300 } }),
    (token) => ({
      raw: JSON.stringify({ access_token: token, token_type: 'JWT', expires_in: 0 }),
      headers: { 'content-type': 'text/plain' },
    }),
  ];
  for (const answer of answers) {
    const one = await issuer(client, (_form, _asked, issue) => answer(issue()));
    const result = await sync(one.ports(), one.integration, day);
    assert.equal(result.state, 'complete', `${answer} ${JSON.stringify(result)}`);
  }
});

test('a token is renewed before it expires, and after a 401 whatever its expiry', async () => {
  const short = await issuer(client, (_form, _asked, issue) => ({ json: { access_token: issue(), expires_in: 45 } }));
  await sync(short.ports(), short.integration, day);
  await sync(short.ports(), short.integration, day);
  assert.equal(short.tokenRequests.length, 2, 'with less than a minute left, a new one is fetched first');
  assert.equal(short.partner.requests.filter(({ path: at }) => at !== '/token').length, 2);

  const revoked = await issuer(client, (_form, _asked, issue) => ({
    json: { access_token: issue(), expires_in: 3600 },
  }));
  await sync(revoked.ports(), revoked.integration, day);
  revoked.good.clear();
  assert.equal((await sync(revoked.ports(), revoked.integration, day)).state, 'complete');
  assert.equal(revoked.tokenRequests.length, 2);
});

test('a refused client pauses the integration; a token address that is down is retried', async () => {
  const refused = await issuer(client, () => ({
    status: 401,
    json: { error: 'invalid_client', error_description: 'no such client sé:cret' },
  }));
  const result = await sync(refused.ports(), refused.integration, day);
  assert.equal(result.error?.code, 'pull.auth_failed');
  assert.match(result.error?.message ?? '', /401 \(invalid_client\)$/);
  assert.match((await runtime.partnerText(result.runId)) ?? '', /no such client \*\*\*/);
  const down = await issuer(client, () => ({ status: 503, json: {} }));
  assert.equal((await sync(down.ports(), down.integration, day)).error?.code, 'pull.token_failed');
  assert.equal(down.tokenRequests.length, 5);
  let fails = 2;
  const flaky = await issuer(client, (_form, _asked, issue) =>
    fails-- > 0 ? 'cut' : { json: { access_token: issue() } },
  );
  assert.equal((await sync(flaky.ports(), flaky.integration, day)).state, 'complete');
});

test('a hundred requests on several nodes renew the token once', async () => {
  const one = await issuer(client, async (_form, _asked, issue) => {
    await new Promise((resolve) => setTimeout(resolve, 50));
    return { json: { access_token: issue(), expires_in: 3600 } };
  });
  const { bearerToken } = await import('../../../src/core/outbound/auth/oauth2.ts');
  const planned = await one.ports().plan(one.integration as IntegrationName);
  assert.ok(planned.kind === 'ok' && planned.plan.settings.auth.type === 'oauth2');
  const { auth } = planned.plan.settings;
  if (auth.type !== 'oauth2') return;
  const nodes = Array.from({ length: 5 }, () => one.ports());
  const ask = (node: PullPorts, refused?: string) =>
    bearerToken(
      node,
      one.integration as IntegrationName,
      auth,
      refused === undefined ? undefined : { token: refused, generation: 1 },
    );
  const tokens = await Promise.all(Array.from({ length: 100 }, (_, i) => ask(nodes[i % 5] as PullPorts)));
  assert.deepEqual(
    new Set(tokens.map((got) => (got.kind === 'ok' ? got.bearer.token : got.message))),
    new Set(['access-1']),
  );
  const renewed = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(nodes[i % 5] as PullPorts, 'access-1')));
  assert.deepEqual(
    new Set(renewed.map((got) => (got.kind === 'ok' ? got.bearer.token : got.message))),
    new Set(['access-2']),
  );
  assert.equal(one.tokenRequests.length, 2);
});

const code = { grant: 'authorization_code', scopes: ['read'], authorize_params: { prompt: 'consent' } };
const redirect = 'https://innbound.example/oauth/callback';

/** An issuer with codes and refresh tokens that work once. */
async function codeIssuer(over: Record<string, unknown> = {}) {
  const refresh = new Set<string>();
  let challenge = '';
  let rotated = 0;
  const one = await issuer(
    { ...code, authorize_url: 'https://pms.example/consent?x=1', ...over },
    (form, _asked, issue) => {
      if (form.get('grant_type') === 'authorization_code') {
        const verified =
          createHash('sha256')
            .update(form.get('code_verifier') ?? '')
            .digest('base64url') === challenge;
        if (form.get('code') !== 'the-code' || !verified || form.get('redirect_uri') !== redirect)
          return { status: 400, json: { error: 'invalid_grant' } };
      } else if (!refresh.delete(form.get('refresh_token') ?? '')) {
        return { status: 400, json: { error: 'invalid_grant', error_description: 'token was used' } };
      }
      const next = `refresh-${++rotated}`;
      refresh.add(next);
      return { json: { access_token: issue(), refresh_token: next, expires_in: 3600 } };
    },
  );
  const integration = one.integration as IntegrationName;
  return {
    ...one,
    refresh,
    async consent(ports: PullPorts) {
      const link = await consentLink(ports, integration, { redirectUri: redirect, requestedBy: 'ana' });
      assert.ok(link.kind === 'ok');
      const url = new URL(link.url);
      challenge = url.searchParams.get('code_challenge') ?? '';
      return url;
    },
  };
}

test('authorization code: a link with state and PKCE, a callback that works once, rotating refresh tokens', async () => {
  const one = await codeIssuer();
  const ports = one.ports();
  assert.equal((await sync(ports, one.integration, day)).error?.code, 'pull.consent_needed');
  const url = await one.consent(ports);
  const { state, code_challenge: challenge, ...asked } = Object.fromEntries(url.searchParams);
  assert.deepEqual(asked, {
    x: '1',
    prompt: 'consent',
    response_type: 'code',
    client_id: 'us',
    redirect_uri: redirect,
    scope: 'read',
    code_challenge_method: 'S256',
  });
  assert.ok(state && challenge && state.length >= 32);
  const back = new URLSearchParams({ code: 'the-code', state });
  assert.deepEqual(await finishConsent(ports, back), { kind: 'ok', integration: one.integration });
  const twice = await finishConsent(ports, back);
  assert.equal(twice.kind, 'refused');
  assert.equal((await sync(ports, one.integration, day)).state, 'complete');
  for (let i = 0; i < 3; i++) {
    one.good.clear();
    assert.equal((await sync(ports, one.integration, day)).state, 'complete');
  }
  assert.deepEqual(
    one.tokenRequests.map((form) => form.get('refresh_token')),
    [null, 'refresh-1', 'refresh-2', 'refresh-3'],
  );
  const { rows } = await runtime.pool.query(
    `select encode(access, 'escape') || encode(refresh, 'escape') as text from partner_accounts where integration = $1`,
    [one.integration],
  );
  assert.doesNotMatch(rows[0].text, /access-|refresh-/, 'tokens are sealed at rest');
});

test('a failed consent says what happened; the partner cannot inject into the page', async () => {
  const one = await codeIssuer();
  const ports = one.ports();
  const foreign = await finishConsent(ports, new URLSearchParams({ code: 'the-code', state: 'guessed' }));
  assert.equal(foreign.kind, 'refused');
  const state = (await one.consent(ports)).searchParams.get('state') ?? '';
  const declined = await finishConsent(
    ports,
    new URLSearchParams({ state, error: 'access_denied', error_description: '<script>alert(1)</script>' }),
  );
  assert.ok(declined.kind === 'refused' && declined.integration === one.integration);
  const page = consentPage(declined);
  assert.equal(page.status, 400);
  assert.match(page.html, /access_denied/);
  assert.doesNotMatch(page.html, /<script>/);
  const wrong = (await one.consent(ports)).searchParams.get('state') ?? '';
  const refused = await finishConsent(ports, new URLSearchParams({ state: wrong, code: 'stolen' }));
  assert.ok(refused.kind === 'refused');
  assert.match(refused.message, /invalid_grant/);
  assert.match(consentPage({ kind: 'ok', integration: one.integration as IntegrationName }).html, /Access was granted/);
});

test('a single-use refresh token survives a crash between answer and commit', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-spool-'));
  const one = await codeIssuer();
  const spool = openSpool(folder);
  const tokens = () => openTokenStore(runtime.pool, [...keyring], spool);
  const state = (await one.consent(one.ports())).searchParams.get('state') ?? '';
  await finishConsent(one.ports({ tokens: tokens() }), new URLSearchParams({ code: 'the-code', state }));
  one.good.clear();
  // The store is lost at the moment of the commit: the same as a process that dies there.
  const dying = openTokenStore(
    failingAt(/^insert into partner_accounts as t \(integration, identity, generation/),
    [...keyring],
    spool,
  );
  await assert.rejects(sync(one.ports({ tokens: dying }), one.integration, day), /lost/);
  assert.equal((await readdir(folder)).length, 1);
  await runtime.pool.query(
    `update runs set state = 'failed', due_at = null where integration = $1 and state = 'running'`,
    [one.integration],
  );
  assert.equal((await sync(one.ports({ tokens: tokens() }), one.integration, day)).state, 'complete');
  assert.deepEqual(
    one.tokenRequests.map((form) => form.get('refresh_token')),
    [null, 'refresh-1'],
  );
  assert.equal((await readdir(folder)).length, 0);
  one.good.clear();
  assert.equal((await sync(one.ports({ tokens: tokens() }), one.integration, day)).state, 'complete');
  await rm(folder, { recursive: true });
});

test('without the spool, the old token is tried again, and a refusal explains why', async () => {
  const one = await codeIssuer();
  const state = (await one.consent(one.ports())).searchParams.get('state') ?? '';
  await finishConsent(one.ports(), new URLSearchParams({ code: 'the-code', state }));
  one.good.clear();
  const dying = openTokenStore(failingAt(/^insert into partner_accounts as t \(integration, identity, generation/), [
    ...keyring,
  ]);
  await assert.rejects(sync(one.ports({ tokens: dying }), one.integration, day), /lost/);
  await runtime.pool.query(
    `update runs set state = 'failed', due_at = null where integration = $1 and state = 'running'`,
    [one.integration],
  );
  one.refresh.add('refresh-1'); // a partner with a grace period
  assert.equal((await sync(one.ports(), one.integration, day)).state, 'complete');

  one.good.clear();
  await assert.rejects(sync(one.ports({ tokens: dying }), one.integration, day), /lost/);
  await runtime.pool.query(
    `update runs set state = 'failed', due_at = null where integration = $1 and state = 'running'`,
    [one.integration],
  );
  const lost = await sync(one.ports(), one.integration, day);
  assert.equal(lost.error?.code, 'pull.consent_needed');
  assert.match(lost.error?.message ?? '', /a crash interrupted the last renewal/);
});

/** The pool, except that one statement finds its connection lost. */
function failingAt(statement: RegExp): Pool {
  const wrap = <T extends { query: unknown }>(target: T): T =>
    new Proxy(target, {
      get(object, key) {
        const value = Reflect.get(object, key) as unknown;
        if (typeof value !== 'function') return value;
        if (key === 'connect') return async () => wrap((await runtime.pool.connect()) as unknown as T);
        if (key !== 'query') return value.bind(object);
        return (text: string, ...rest: unknown[]) =>
          statement.test(text)
            ? Promise.reject(new Error('the connection is lost'))
            : (value as (...all: unknown[]) => unknown).call(object, text, ...rest);
      },
    });
  return wrap(runtime.pool as unknown as { query: unknown }) as unknown as Pool;
}
