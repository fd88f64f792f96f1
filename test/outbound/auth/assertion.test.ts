import assert from 'node:assert/strict';
import { createPublicKey, createVerify, generateKeyPairSync } from 'node:crypto';
import { test } from 'node:test';
import { googleCredentials } from '../../../src/core/outbound/auth/assertion.ts';
import { openHttp } from '../../../src/core/outbound/http.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import { listen } from '../../deliver/http-server.ts';

const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;

test('a service account logs in with a signed statement, keeps its token, and replaces a refused one once', async (t) => {
  let nowMs = Date.UTC(2026, 10, 15, 12);
  let asked = 0;
  const server = await listen((request) => {
    const form = new URLSearchParams(request.text);
    assert.deepEqual([...form.keys()], ['grant_type', 'assertion']);
    const [header = '', claims = '', signature = ''] = (form.get('assertion') ?? '').split('.');
    const verify = createVerify('RSA-SHA256').update(`${header}.${claims}`);
    assert.ok(verify.verify(createPublicKey(pem), signature, 'base64url'));
    assert.deepEqual(JSON.parse(Buffer.from(header, 'base64url').toString()), { alg: 'RS256', typ: 'JWT', kid: 'k1' });
    const iat = Math.floor(nowMs / 1_000);
    const uri = `${server.url}/token`;
    const expected = { iss: 'loader@p.example', scope: 'bigquery', aud: uri, iat, exp: iat + 3_600 };
    assert.deepEqual(JSON.parse(Buffer.from(claims, 'base64url').toString()), expected);
    asked += 1;
    return { status: 200, body: { access_token: `t${asked}`, expires_in: 3_599, token_type: 'Bearer' } };
  });
  const http = openHttp({ allowPrivate: true, userAgent: 'test' });
  t.after(() => Promise.all([http.close(), server.close()]));
  const file = {
    client_email: 'loader@p.example',
    private_key: pem,
    private_key_id: 'k1',
    token_uri: `${server.url}/token`,
  };
  const clock = { ...systemClock, now: () => nowMs };
  const account = googleCredentials({ http, clock }, JSON.stringify(file), 'bigquery');
  const request = { method: 'POST', url: 'https://api.example/', headers: {} };
  const authorized = async () => {
    const got = await account.authorize(request);
    assert.equal(got.kind, 'ok');
    return got.kind === 'ok' ? got.request : request;
  };
  const first = await authorized();
  assert.deepEqual(first.headers, { authorization: 'Bearer t1' });
  assert.deepEqual((await authorized()).headers, { authorization: 'Bearer t1' });
  assert.equal(await account.refused(first), true);
  const second = await authorized();
  assert.deepEqual(second.headers, { authorization: 'Bearer t2' });
  assert.equal(await account.refused(second), false, 'a new token is refused too: the account itself is');
  nowMs += 3_600_000;
  assert.deepEqual((await authorized()).headers, { authorization: 'Bearer t3' });
});

test('what is no key file, and a clock that is wrong, are said', async (t) => {
  const nowMs = Date.UTC(2026, 10, 15, 12);
  const server = await listen(() => ({
    status: 400,
    headers: { date: new Date(nowMs - 7 * 60_000).toUTCString() },
    body: { error: 'invalid_grant', error_description: 'Invalid JWT: iat and exp must be in a reasonable timeframe.' },
  }));
  const http = openHttp({ allowPrivate: true, userAgent: 'test' });
  t.after(() => Promise.all([http.close(), server.close()]));
  const said = async (text: string) => {
    const got = await googleCredentials({ http, clock: { ...systemClock, now: () => nowMs } }, text, 's').authorize({
      method: 'GET',
      url: 'https://api.example/',
      headers: {},
    });
    return got.kind === 'failed' ? got.message : '';
  };
  assert.match(await said('{}'), /is not the JSON key file of a service account/);
  const file = { client_email: 'l@p.example', private_key: pem.replaceAll('\n', '\\n'), token_uri: server.url };
  assert.match(await said(JSON.stringify(file)), /answered 400 \(invalid_grant\); our clock is 7 min ahead of theirs/);
});
