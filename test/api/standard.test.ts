import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { apiRoutes } from '../../src/operator/api/api.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** Rules of the security standard (docs/security/asvs.md) that no other test checks. */

let node: ApiNode;
const logged: { readonly action?: string; readonly status?: number; readonly address?: string }[] = [];
before(async () => {
  node = await apiNode('public_url: https://hub.example\n');
  const { log } = node.runtime as { log: { warn: (entry: object, text: string) => void } };
  log.warn = (entry) => void logged.push(entry);
  await node.take('grand', reservation('R1'));
});
after(() => node.stop());

const console_ = { 'x-innbound-console': '1' };
const cookieOf = (headers: Headers): string => headers.getSetCookie()[0]?.split(';')[0] ?? '';

test('a new store has no token', async () => {
  const { rows } = await node.runtime.pool.query('select from tokens');
  assert.equal(rows.length, 0);
});

test('every page and every answer has a strict policy', async () => {
  for (const at of [
    '/healthz',
    '/api/reference',
    '/api/v1/openapi.json',
    '/api/v1/session',
    '/oauth/callback',
    '/sign-in/callback',
    '/x',
  ]) {
    const { headers } = await fetch(`${node.url}${at}`);
    const policy = headers.get('content-security-policy') ?? '';
    for (const rule of ['default-src', 'base-uri', 'form-action', 'frame-ancestors']) {
      assert.ok(policy.includes(`${rule} 'none'`), `${at}: ${policy}`);
    }
    assert.ok(!policy.includes('script-src'), `${at}: ${policy}`);
    assert.equal(headers.get('referrer-policy'), 'no-referrer', at);
  }
});

test('answers to requests that reach no route have the same headers', async () => {
  const requests = {
    400: 'GET /%zz HTTP/1.1\r\nhost: hub.example\r\nconnection: close\r\n\r\n',
    '400 without host': 'GET /healthz HTTP/1.1\r\nconnection: close\r\n\r\n',
    '400 not HTTP': 'hello\r\n\r\n',
    417: 'GET /healthz HTTP/1.1\r\nhost: hub.example\r\nexpect: a cookie\r\nconnection: close\r\n\r\n',
    431: `GET /healthz HTTP/1.1\r\nhost: hub.example\r\nx: ${'y'.repeat(20_000)}\r\n\r\n`,
  };
  for (const [status, request] of Object.entries(requests)) {
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
    socket.write(request);
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close');
    const answer = Buffer.concat(chunks).toString().toLowerCase();
    assert.ok(answer.startsWith(`http/1.1 ${status.slice(0, 3)} `), `${status}: ${answer}`);
    for (const header of [
      'x-content-type-options: nosniff',
      'x-frame-options: deny',
      'referrer-policy: no-referrer',
      "content-security-policy: default-src 'none'; base-uri 'none'",
      'strict-transport-security: max-age=31536000; includesubdomains',
    ]) {
      assert.ok(answer.includes(`\r\n${header}`), `${status}: ${header} in ${answer}`);
    }
    if (!answer.endsWith('\r\n\r\n'))
      assert.match(answer, /\r\ncontent-type: application\/problem\+json; charset=utf-8\r\n/);
  }
});

test('no answer allows another origin', async () => {
  for (const method of ['GET', 'OPTIONS']) {
    const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const answer = await fetch(`${node.url}/api/v1/session`, { method, headers });
    for (const [name] of answer.headers) assert.ok(!name.startsWith('access-control'), name);
  }
});

test('methods that no route has are refused', async () => {
  for (const method of ['TRACE', 'TRACK', 'PROPFIND', 'CONNECT']) {
    const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
    socket.write(
      `${method} /api/v1/session HTTP/1.1\r\nhost: hub.example\r\nx-secret: canary\r\nconnection: close\r\n\r\n`,
    );
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await once(socket, 'close').catch(() => {});
    const answer = Buffer.concat(chunks).toString();
    assert.doesNotMatch(answer, /^HTTP\/1\.1 2/, method);
    assert.ok(!answer.includes('canary'), method);
  }
});

test('every answer names its type, and texts their character set', async () => {
  const token = await node.token('admin');
  for (const at of [
    '/healthz',
    '/readyz',
    '/api/reference',
    '/api/v1/openapi.json',
    '/api/v1/overview',
    '/oauth/callback',
    '/nowhere',
  ]) {
    const answer = await fetch(`${node.url}${at}`, { headers: { authorization: `Bearer ${token}` } });
    const type = answer.headers.get('content-type') ?? '';
    assert.match(type, /^(?:application\/(?:problem\+)?json|text\/(?:html|plain)); charset=utf-8$/, `${at}: ${type}`);
    const text = await answer.text();
    if (type.includes('json')) JSON.parse(text);
  }
});

test('a parameter sent twice, an unknown field and a wrong type are refused', async () => {
  const admin = await node.token('admin');
  for (const at of ['/runs?limit=1&limit=2', '/runs?limit[]=1', '/runs?unknown=1', '/reservations?q=a&q=b']) {
    assert.equal((await node.call('GET', at, admin)).status, 422, at);
  }
  const sound = { name: 'report', role: 'viewer' };
  for (const body of [
    { ...sound, token_id: 'tok_mine' },
    { ...sound, created_by: 'somebody' },
    { ...sound, role: ['viewer'] },
    { ...sound, role: 'root' },
    { ...sound, name: 7 },
    [sound],
  ]) {
    assert.equal((await node.call('POST', '/tokens', admin, body as never)).status, 422, JSON.stringify(body));
  }
  const polluted = await fetch(`${node.url}/api/v1/tokens`, {
    method: 'POST',
    headers: { authorization: `Bearer ${admin}`, 'content-type': 'application/json' },
    body: '{"name":"report","role":"viewer","__proto__":{"role":"admin"}}',
  });
  assert.ok(polluted.status === 400 || polluted.status === 422, String(polluted.status));
});

test('no GET route changes anything', async () => {
  const admin = await node.token('admin');
  await node.call('GET', '/overview', admin);
  const tables = ['records', 'documents', 'secrets', 'endpoints', 'runs', 'tokens', 'outbox', 'alerts'];
  const dump = async () => {
    const parts: string[] = [];
    for (const table of tables) {
      const hidden = table === 'tokens' ? `- 'last_used_at'` : '';
      const { rows } = await node.runtime.pool.query(
        `select coalesce(string_agg((to_jsonb(t) ${hidden})::text, ' ' order by to_jsonb(t)::text), '') as all from ${table} t`,
      );
      parts.push(rows[0].all);
    }
    return parts.join('\n');
  };
  const before = await dump();
  const places: Record<string, string> = { integration: 'grand', kind: 'connector', name: 'hotel', id: 'R1' };
  for (const route of apiRoutes(node.api).filter(({ method, id }) => method === 'GET' && id !== 'live')) {
    const at = route.path.replace(/\{(\w+)\}/g, (_, name: string) => places[name] ?? '1');
    const { status } = await node.call('GET', at, admin);
    assert.ok(status < 500, `${route.id} answered ${status}`);
  }
  assert.equal(await dump(), before);
});

test('answers of the API are not cached', async () => {
  const token = await node.token('admin');
  for (const at of ['/overview', '/reservations?q=R1', '/session', '/nowhere-at-all']) {
    const { headers, status } = await node.call('GET', at, token);
    if (status !== 404) assert.equal(headers.get('cache-control'), 'no-store', at);
  }
});

test('an unexpected error says nothing about its cause', async () => {
  const token = await node.token('admin');
  await node.runtime.pool.query('alter table audit rename to audit_away');
  try {
    const { status, body } = await node.call('GET', '/reservations?q=R1', token);
    assert.equal(status, 500);
    assert.equal(body.code, 'operate.unexpected');
    assert.doesNotMatch(JSON.stringify(body), /audit|relation|select|insert|node_modules|\.ts/i);
  } finally {
    await node.runtime.pool.query('alter table audit_away rename to audit');
  }
});

test('signing in again ends the session that the browser had', async () => {
  const token = await node.token('viewer');
  const first = cookieOf((await node.call('POST', '/session', undefined, { token })).headers);
  const second = cookieOf((await node.call('POST', '/session', undefined, { token }, { cookie: first })).headers);
  assert.notEqual(first, second);
  const status = async (cookie: string) =>
    (await node.call('GET', '/session', undefined, undefined, { cookie })).status;
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
});

test('a session ends after twelve hours, used or not', async () => {
  const token = await node.token('viewer');
  const made = await node.call('POST', '/session', undefined, { token });
  const hours = (Date.parse(made.body.expires_at) - Date.now()) / 3_600_000;
  assert.ok(hours > 11.9 && hours <= 12, String(hours));
  const cookie = cookieOf(made.headers);
  await node.runtime.pool.query(
    `update tokens set expires_at = now() - interval '1 s', last_used_at = now() where kind = 'session'`,
  );
  assert.equal((await node.call('GET', '/session', undefined, undefined, { cookie })).status, 401);
});

test('an administrator lists and ends sessions', async () => {
  const [admin, viewer] = [await node.token('admin'), await node.token('viewer')];
  const cookie = cookieOf((await node.call('POST', '/session', undefined, { token: viewer })).headers);
  const { body } = await node.call('GET', '/tokens', admin);
  const { token_id: id } = body.items.find((one: { kind: string }) => one.kind === 'session');
  assert.equal((await node.call('DELETE', `/tokens/${id}`, admin)).status, 200);
  assert.equal((await node.call('GET', '/session', undefined, undefined, { cookie })).status, 401);
});

test('signing in and refused access are recorded with time, caller and address', async () => {
  const token = await node.token('viewer');
  await node.call('POST', '/session', undefined, { token });
  const { rows } = await node.runtime.pool.query(
    `select at, actor, address, request_id, status from audit where action = 'session.create' order by audit_id desc limit 1`,
  );
  assert.ok(
    rows[0].at instanceof Date && rows[0].address === '127.0.0.1' && rows[0].request_id && rows[0].status === 200,
  );
  assert.notEqual(rows[0].actor, 'anonymous');
  logged.length = 0;
  await node.call('GET', '/tokens', token);
  await node.call('GET', '/tokens', 'ib_wrong-token-xxxx');
  await node.call('DELETE', '/session', undefined, undefined, console_);
  assert.deepEqual(
    logged.map(({ action, status, address }) => [action, status, address]),
    [
      ['tokens.list', 403, '127.0.0.1'],
      ['tokens.list', 401, '127.0.0.1'],
      ['session.end', 401, '127.0.0.1'],
    ],
  );
});

const consoleFolder = path.join(import.meta.dirname, '..', '..', 'console', 'src');
const consoleFiles = readdirSync(consoleFolder, { recursive: true, encoding: 'utf8' })
  .filter((file) => /\.tsx?$/.test(file))
  .map((file) => ({ file, text: readFileSync(path.join(consoleFolder, file), 'utf8') }));

test('the console writes no HTML from text', () => {
  const bad = /dangerouslySetInnerHTML|\.innerHTML|insertAdjacentHTML|document\.write|postMessage|javascript:/;
  assert.deepEqual(
    consoleFiles.filter(({ text }) => bad.test(text)).map(({ file }) => file),
    [],
  );
});

test('tokens and secrets are typed into masked fields', () => {
  const texts = new Map(consoleFiles.map(({ file, text }) => [file, text]));
  assert.match(texts.get('shell/SignIn.tsx') ?? '', /name="token" type="password"/);
  assert.match(texts.get('pages/Secrets.tsx') ?? '', /<PasswordInput name="value"/);
});
