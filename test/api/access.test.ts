import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import { systemClock } from '../../src/kit/clock.ts';
import { buildServer } from '../../src/operator/api/server.ts';
import { createSession } from '../../src/operator/operations/tokens.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** Who gets access, how often a client may try, and what the audit log records. */

let node: ApiNode;
before(async () => {
  node = await apiNode(
    'public_url: https://hub.example\nnetwork: { trusted_proxies: [127.0.0.1] }\nlimits: { connections_per_address: 40 }\n',
  );
  await node.take('grand', reservation('R1'));
});
after(() => node.stop());

const from = (address: string) => ({ 'x-forwarded-for': address });

test('session guesses are limited per address, and none becomes an audit row', async () => {
  const guess = (i: number) =>
    node.call('POST', '/session', undefined, { token: `ibs_guess-number-${i}` }, from('192.0.2.1'));
  const statuses: number[] = [];
  for (let i = 0; i < 70; i++) statuses.push((await guess(i)).status);
  assert.equal(statuses[0], 401);
  assert.equal(statuses.at(-1), 429);
  const { rows } = await node.runtime.pool.query(`select 1 from audit where action = 'session.create'`);
  assert.equal(rows.length, 0);
});

test('behind one proxy, a client with a wrong token does not lock out the others', async () => {
  const good = await node.token('viewer');
  let last = 0;
  for (let i = 0; i < 100 && last !== 429; i++) {
    last = (await node.call('GET', '/runs', `ib_wrong-${i}xxxx`, undefined, from('192.0.2.2'))).status;
  }
  assert.equal(last, 429);
  assert.equal((await node.call('GET', '/runs', good, undefined, from('192.0.2.2'))).status, 200, 'a valid token');
  assert.equal((await node.call('GET', '/runs', 'ib_wrong-xxxx', undefined, from('192.0.2.3'))).status, 401);
});

test('the address in the audit log is the client’s, not the proxy’s', async () => {
  const admin = await node.token('admin');
  await node.call('GET', '/reservations?q=R1', admin, undefined, from('198.51.100.7'));
  const { rows } = await node.runtime.pool.query<{ address: string }>(
    `select address from audit where action = 'reservations.search' order by audit_id desc limit 1`,
  );
  assert.equal(rows[0]?.address, '198.51.100.7');
});

test('only a trusted proxy can name another client', async (t) => {
  const { runtime } = node;
  const app = buildServer({ log: runtime.log, notReady: async () => [], trustedProxies: ['10.0.0.1'] });
  app.get('/address', (request, reply) => reply.send(request.ip));
  t.after(() => app.close());
  const seenBy = async (remoteAddress: string, forwarded: string) =>
    (await app.inject({ url: '/address', remoteAddress, headers: from(forwarded) })).body;
  assert.equal(await seenBy('192.0.2.9', '198.51.100.7'), '192.0.2.9');
  assert.equal(await seenBy('10.0.0.1', '198.51.100.7'), '198.51.100.7');
  assert.equal(await seenBy('10.0.0.1', '10.0.0.1, 198.51.100.7'), '198.51.100.7', 'the client’s own part is ignored');
});

test('a search is audited with a keyed hash of its text', async () => {
  const operator = await node.token('operator');
  for (const q of ['ana.r1@mail.example', 'ANA.R1@mail.example ', 'somebody else']) {
    await node.call('GET', `/reservations?integration=grand&q=${encodeURIComponent(q)}`, operator);
  }
  const { rows } = await node.runtime.pool.query<{ integration: string; target: { q: string } }>(
    `select integration, target from audit where action = 'reservations.search' order by audit_id desc limit 3`,
  );
  const [other, second, first] = rows.map(({ target }) => target.q);
  assert.match(first ?? '', /^hmac:[0-9a-f]{32}$/);
  assert.equal(first, second, 'the same person has the same hash');
  assert.notEqual(first, other);
  assert.equal(rows[0]?.integration, 'grand');
});

test('a session ends with its token, and when it is not used', async () => {
  const cookie = (session: string) => ({ cookie: `__Host-innbound_session=${session}` });
  const call = async (session: string) =>
    (await node.call('GET', '/session', undefined, undefined, cookie(session))).status;
  const token = await node.token('viewer');
  const expiring = await createSession(node.runtime, token);
  assert.equal(await call(expiring?.session ?? ''), 200);
  await node.runtime.pool.query('update tokens set expires_at = now() where token_id = $1', [expiring?.row.created_by]);
  assert.equal(await call(expiring?.session ?? ''), 401, 'the token has expired');

  const idle = await createSession(node.runtime, await node.token('viewer'));
  assert.equal(await call(idle?.session ?? ''), 200);
  await node.runtime.pool.query(`update tokens set last_used_at = now() - interval '3 hours' where token_id = $1`, [
    idle?.row.token_id,
  ]);
  assert.equal(await call(idle?.session ?? ''), 401, 'not used for hours');
});

test('behind https the session cookie is bound to the host, and a plain one is not read', async () => {
  const token = await node.token('viewer');
  const made = await node.call('POST', '/session', undefined, { token }, from('192.0.2.9'));
  const cookie = made.headers.get('set-cookie') ?? '';
  assert.match(cookie, /^__Host-innbound_session=[\w-]+; Path=\/; HttpOnly; SameSite=Strict; Max-Age=\d+; Secure$/);
  const [, session = ''] = /=([\w-]+);/.exec(cookie) ?? [];
  const plain = await node.call('GET', '/session', undefined, undefined, { cookie: `innbound_session=${session}` });
  assert.equal(plain.status, 401);
});

test('every response forbids sniffing and framing, and asks for https', async () => {
  for (const path of [
    '/readyz',
    '/api/v1/runs',
    '/api/reference',
    '/api/v1/openapi.json',
    '/oauth/callback',
    '/nowhere',
  ]) {
    const { headers } = await fetch(`${node.url}${path}`);
    assert.equal(headers.get('x-content-type-options'), 'nosniff', path);
    assert.equal(headers.get('x-frame-options'), 'DENY', path);
    for (const rule of ['default-src', 'base-uri', 'form-action', 'frame-ancestors']) {
      assert.match(headers.get('content-security-policy') ?? '', new RegExp(`${rule} 'none'`), path);
    }
    assert.equal(headers.get('referrer-policy'), 'no-referrer', path);
    assert.equal(headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains', path);
  }
});

test('a body is not read before the token is checked', async () => {
  const socket = connect(Number(new URL(node.url).port), '127.0.0.1');
  socket.write(
    'POST /api/v1/documents/validate HTTP/1.1\r\nhost: hub.example\r\ncontent-type: application/json\r\ncontent-length: 8000000\r\n\r\n{',
  );
  const [answer] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  assert.match(answer.toString(), /^HTTP\/1\.1 401 /);
});

test('a body or a text that is nested deep, or that no database stores, is the caller’s mistake', async () => {
  const admin = await node.token('admin');
  const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
  const connector = 'connector: hotel\nshape: { root_path: reservations }\n';
  const post = async (path: string, text: string) => {
    const headers = { authorization: `Bearer ${admin}`, 'content-type': 'application/json' };
    return (await fetch(`${node.url}/api/v1${path}`, { method: 'POST', headers, body: text })).status;
  };
  for (const depth of [70, 5_000, 20_000]) {
    const list = nested(depth);
    const yaml = `openapi: 3.1.0\ninfo: {}\npaths:\n  ${'- '.repeat(depth)}x\n`;
    const asked: readonly (readonly [string, unknown])[] = [
      ['/map/preview', { connector, sample: list }],
      ['/map/preview', { connector, sample: `{"reservations":${list}}` }],
      ['/map/preview', { connector: `connector: hotel\nshape: ${list}\n`, sample: '[]' }],
      ['/map/suggest', { sample: list }],
      ['/map/suggest', { sample: `{"reservations":[{"id":${list}}]}` }],
      ['/import', { name: 'deep', description: `{"openapi":"3.1.0","info":{},"paths":${list}}` }],
      ['/import', { name: 'deep', description: yaml }],
      ['/import', { name: 'deep', description: '{"openapi":"3.1.0","info":{},"paths":{}}', sample: list }],
      ['/documents/validate', { kind: 'connector', text: `connector: hotel\nmap: ${list}\n` }],
    ];
    for (const [path, body] of asked) {
      const status = await post(path, JSON.stringify(body));
      assert.ok([200, 422].includes(status), `${path} ${JSON.stringify(body).slice(0, 60)} ${depth}: ${status}`);
    }
    assert.equal(await post('/map/preview', `{"connector":${list}}`), 400, `a body of ${depth} levels`);
  }
  for (const text of ['\\u0000', '\\ud800', '\\udfff x']) {
    assert.equal(await post('/jobs', `{"operation":"replay","destination":"${text}"}`), 400, text);
  }
  assert.equal((await fetch(`${node.url}/webhooks/sbx_1/reports/%00`)).status, 400);
  assert.equal(
    (await fetch(`${node.url}/api/v1/jobs/%00`, { headers: { authorization: `Bearer ${admin}` } })).status,
    400,
  );
});

test('NUL characters and forged cursors are bad requests', async () => {
  const admin = await node.token('admin');
  const cursor = (parts: unknown) => Buffer.from(JSON.stringify(parts)).toString('base64url');
  for (const path of [
    '/reservations?q=%00',
    '/integrations/gra%00nd',
    '/integrations/grand/reservations/%00',
    `/reservations?cursor=${cursor(['2026-13-45T99:00:00.000Z', 'x', 'y'])}`,
    `/reservations?cursor=${cursor(['1', 'x', 'y'])}`,
    `/reservations?cursor=${cursor(['2026-01-01T00:00:00.000Z', '\0', 'y'])}`,
    `/audit?cursor=${cursor(['9'.repeat(40)])}`,
    `/events?cursor=${cursor(['infinity', '1'])}`,
    `/dead-letters?cursor=${cursor(['-1'])}`,
  ]) {
    const { status, body } = await node.call('GET', path, admin);
    assert.deepEqual([status, body.code], [400, 'operate.bad_request'], path);
  }
  const posted = await node.call('POST', '/tokens', admin, { name: 'a\0b', role: 'viewer' });
  assert.equal(posted.status, 400);
});

test('one token has at most ten live streams', async () => {
  const token = await node.token('viewer');
  const open = () => fetch(`${node.url}/api/v1/live`, { headers: { authorization: `Bearer ${token}` } });
  const streams = await Promise.all(Array.from({ length: 10 }, open));
  assert.deepEqual(new Set(streams.map(({ status }) => status)), new Set([200]));
  const refused = await open();
  assert.equal(refused.status, 503);
  assert.equal(((await refused.json()) as { code: string }).code, 'operate.busy');
  const other = await fetch(`${node.url}/api/v1/live`, {
    headers: { authorization: `Bearer ${await node.token('viewer')}` },
  });
  assert.equal(other.status, 200, 'other tokens are not affected');
  for (const stream of [...streams, other]) await stream.body?.cancel();
});

test('viewers see neither the partner’s guest ids nor what a destination answered', async () => {
  const viewer = await node.token('viewer');
  await node.runtime.pool.query(
    `insert into dead_letters (integration, kind, type, id, destination, code, message, detail, raw, fingerprint)
     values ('grand', 'delivery', 'reservation', 'R1', 'lake', 'deliver.refused', 'refused', $1, '{}', 'x')`,
    [JSON.stringify({ answer: 'no such contact: ana.prado@mail.example', status: 422 })],
  );
  const { body: listed } = await node.call('GET', '/dead-letters', viewer);
  const id = listed.items.find((one: { kind: string }) => one.kind === 'delivery')?.id;
  const { body: letter } = await node.call('GET', `/dead-letters/${id}`, viewer);
  assert.deepEqual(letter.detail, { answer: '•••', status: 422 });
  const { body: record } = await node.call('GET', '/integrations/grand/reservations/R1', viewer);
  assert.equal(record.data.guests[0].guest_id, '•••');
});

test('without a database the API answers 503', async () => {
  const broken = await apiNode();
  const token = await broken.token('viewer');
  const { pool } = broken.runtime;
  const { rows } = await pool.query<{ name: string }>('select current_database() as name');
  const name = rows[0]?.name ?? '';
  await node.runtime.pool.query(`alter database ${name} with allow_connections false`);
  await node.runtime.pool.query('select pg_terminate_backend(pid) from pg_stat_activity where datname = $1', [name]);
  try {
    const { status, body, headers } = await broken.call('GET', '/runs', token);
    assert.deepEqual([status, body.code], [503, 'store.unreachable']);
    assert.equal(headers.get('retry-after'), '5');
  } finally {
    await node.runtime.pool.query(`alter database ${name} with allow_connections true`);
    await broken.stop();
  }
});

test('one address cannot take all connections', async (t) => {
  const other = await apiNode('limits: { connections_per_address: 10 }\n');
  t.after(() => other.stop());
  const port = Number(new URL(other.url).port);
  const sockets = await Promise.all(
    Array.from({ length: 30 }, async () => {
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => {});
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]);
      return socket;
    }),
  );
  const open = () => sockets.filter((socket) => !socket.closed && socket.readyState === 'open').length;
  while (open() > 10) await systemClock.wait(5);
  assert.equal(open(), 10);
  for (const socket of sockets) socket.destroy();
});
