import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { after, test } from 'node:test';
import {
  type SimulatorAuth,
  type SimulatorOptions,
  startSimulator,
} from '../../../packages/partner-kit/src/simulate/index.ts';

const open: { stop(): Promise<void> }[] = [];
after(() => Promise.all(open.map((one) => one.stop())));

async function start(auth: SimulatorAuth, options: SimulatorOptions = {}) {
  const simulator = await startSimulator({ reservations: 5, auth, ...options });
  open.push(simulator);
  const path = '/api/reservations?dateFrom=2026-06-15&dateTo=2026-06-21';
  return {
    simulator,
    path,
    status: async (headers: Record<string, string> = {}, extra = '') =>
      (await fetch(`${simulator.baseUrl}${path}${extra}`, { headers })).status,
  };
}

test('bearer, API key in either place, basic', async () => {
  const bearer = await start({ type: 'bearer', token: 't0ken' });
  assert.equal(await bearer.status({ authorization: 'Bearer t0ken' }), 200);
  assert.equal(await bearer.status({ authorization: 'Bearer other' }), 401);
  assert.equal(await bearer.status(), 401);

  const header = await start({ type: 'api_key', in: 'header', name: 'X-API-Key', key: 'k' });
  assert.equal(await header.status({ 'x-api-key': 'k' }), 200);
  assert.equal(await header.status({ 'x-api-key': 'K' }), 401);

  const query = await start({ type: 'api_key', in: 'query', name: 'key', key: 'k' });
  assert.equal(await query.status({}, '&key=k'), 200);
  assert.equal(await query.status({}, '&key='), 401);

  const basic = await start({ type: 'basic', username: 'desk', password: 'p:ß' });
  assert.equal(await basic.status({ authorization: `Basic ${Buffer.from('desk:p:ß').toString('base64')}` }), 200);
  assert.equal(await basic.status({ authorization: `Basic ${Buffer.from('desk:p').toString('base64')}` }), 401);
});

test('custom values in headers, query and body', async () => {
  const { status, simulator } = await start({ type: 'custom', headers: { 'X-Hotel': 'h1' }, query: { chain: 'c1' } });
  assert.equal(await status({ 'x-hotel': 'h1' }, '&chain=c1'), 200);
  assert.equal(await status({ 'x-hotel': 'h1' }), 401);
  await simulator.stop();
  const inBody = await start({ type: 'custom', body: { api_user: 'u' } });
  const search = (body: object) =>
    fetch(`${inBody.simulator.baseUrl}/api/reservations/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const dates = { date_from: '2026-06-15', date_to: '2026-06-21' };
  assert.equal((await search({ ...dates, api_user: 'u' })).status, 200);
  assert.equal((await search(dates)).status, 401);
});

test('hmac: default signing string, and templates with a single-use nonce', async () => {
  const seconds = String(Math.floor(Date.now() / 1000));
  const plain = await start({ type: 'hmac', secret: 's', algorithm: 'sha256', encoding: 'hex' });
  const signature = createHmac('sha256', 's').update(`${seconds}.GET.${plain.path}.`).digest('hex');
  assert.equal(await plain.status({ 'x-timestamp': seconds, 'x-signature': signature }), 200);
  assert.equal(await plain.status({ 'x-timestamp': seconds, 'x-signature': signature }, '&limit=1'), 401);
  const old = String(Number(seconds) - 4000);
  const oldSignature = createHmac('sha256', 's').update(`${old}.GET.${plain.path}.`).digest('hex');
  assert.equal(await plain.status({ 'x-timestamp': old, 'x-signature': oldSignature }), 401);

  const custom = await start({
    type: 'hmac',
    secret: 's',
    algorithm: 'sha512',
    encoding: 'base64',
    sign: '{method}|{path_query}|{nonce}|{timestamp}',
    headers: { Authorization: 'HMAC k1:{nonce}:{signature}', 'X-Date': '{timestamp}' },
  });
  const date = new Date().toISOString();
  const second = createHmac('sha512', 's').update(`GET|${custom.path}|n1|${date}`).digest('base64');
  const headers = { authorization: `HMAC k1:n1:${second}`, 'x-date': date };
  assert.equal(await custom.status(headers), 200);
  assert.equal(await custom.status(headers), 401, 'the nonce was used');
});

const client = { type: 'oauth2', clientId: 'innbound', clientSecret: 'shh' } as const;

async function token(baseUrl: string, form: Record<string, string>, secret = 'shh') {
  const response = await fetch(`${baseUrl}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${Buffer.from(`innbound:${secret}`).toString('base64')}` },
    body: new URLSearchParams(form),
  });
  return { status: response.status, body: (await response.json()) as Record<string, string> };
}

test('oauth2 with client credentials: tokens expire, and can be revoked', async () => {
  let nowMs = Date.now();
  const { simulator, status } = await start({ ...client, lifetimeSeconds: 60 }, { now: () => nowMs });
  assert.equal((await token(simulator.baseUrl, { grant_type: 'client_credentials' }, 'wrong')).status, 401);
  assert.equal(await status(), 401);
  const { body } = await token(simulator.baseUrl, { grant_type: 'client_credentials' });
  assert.deepEqual([body.token_type, body.expires_in, body.refresh_token], ['Bearer', 60, undefined]);
  assert.equal(await status({ authorization: `Bearer ${body.access_token}` }), 200);
  nowMs += 61_000;
  assert.equal(await status({ authorization: `Bearer ${body.access_token}` }), 401);
  const next = await token(simulator.baseUrl, { grant_type: 'client_credentials' });
  simulator.tokens?.expireAll();
  assert.equal(await status({ authorization: `Bearer ${next.body.access_token}` }), 401);
});

test('oauth2 with authorization code: consent, PKCE, single-use refresh tokens', async () => {
  const { simulator, status } = await start(client);
  const { baseUrl } = simulator;
  const verifier = 'v'.repeat(50);
  const asked = new URLSearchParams({
    response_type: 'code',
    client_id: 'innbound',
    redirect_uri: 'http://127.0.0.1:9/callback',
    state: '"><script>',
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const page = await (await fetch(`${baseUrl}/oauth/authorize?${asked}`)).text();
  assert.match(page, /Allow access/);
  assert.doesNotMatch(page, /"><script>/);
  const consent = async (decision: string) => {
    const form = new URLSearchParams(asked);
    form.set('decision', decision);
    const response = await fetch(`${baseUrl}/oauth/authorize`, { method: 'POST', body: form, redirect: 'manual' });
    return new URL(response.headers.get('location') ?? '').searchParams;
  };
  assert.equal((await consent('deny')).get('error'), 'access_denied');
  const back = await consent('allow');
  assert.equal(back.get('state'), '"><script>');
  const exchange = {
    grant_type: 'authorization_code',
    code: back.get('code') ?? '',
    redirect_uri: 'http://127.0.0.1:9/callback',
  };
  const first = await token(baseUrl, { ...exchange, code_verifier: verifier });
  assert.equal(first.status, 200);
  assert.equal(
    (await token(baseUrl, { ...exchange, code_verifier: verifier })).body.error,
    'invalid_grant',
    'a code works once',
  );
  const unproved = { ...exchange, code: (await consent('allow')).get('code') ?? '', code_verifier: 'w'.repeat(50) };
  assert.equal((await token(baseUrl, unproved)).body.error, 'invalid_grant');

  const refresh = { grant_type: 'refresh_token', refresh_token: first.body.refresh_token ?? '' };
  const second = await token(baseUrl, refresh);
  assert.equal(await status({ authorization: `Bearer ${second.body.access_token}` }), 200);
  assert.equal((await token(baseUrl, refresh)).body.error, 'invalid_grant');
  assert.equal(
    await status({ authorization: `Bearer ${second.body.access_token}` }),
    401,
    'reuse revokes all tokens of the family',
  );
});
