import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { apiRoutes } from '../../src/operator/api/api.ts';
import { openApiDocument } from '../../src/operator/api/openapi.ts';
import { listDeadLetters } from '../../src/operator/store/dead-letters.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** Every operation of the OpenAPI document, called without a token, with each role, and for a brand that is not the token's. */

interface Operation {
  readonly method: string;
  readonly path: string;
  readonly id: string;
  readonly role: 'public' | 'feed' | 'viewer' | 'operator' | 'admin';
  readonly scope: 'any' | 'param' | 'object' | 'all';
}

let node: ApiNode;
let operations: Operation[];
/** Values for path parameters: objects of the brand `other`. */
const others = new Map<string, string>([
  ['integration', 'other'],
  ['kind', 'connector'],
  ['name', 'hotel'],
  ['seq', '1'],
]);

before(async () => {
  node = await apiNode();
  await node.take('other', reservation('R1'), { id: 'broken' });
  others.set('id', (await listDeadLetters(node.runtime.pool))[0]?.id ?? '');
  const path = '/integrations/other/runs';
  const { body: run } = await node.call('POST', path, await node.token('operator'), { sync: 'pre_stay' });
  others.set('run_id', run.run_id);
  const document = openApiDocument(apiRoutes(node.api)) as {
    paths: Record<string, Record<string, { operationId: string; 'x-role': string; 'x-scope': string }>>;
  };
  operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({
      method: method.toUpperCase(),
      path,
      id: one.operationId,
      role: one['x-role'] as Operation['role'],
      scope: one['x-scope'] as Operation['scope'],
    })),
  );
});
after(() => node.stop());

const addressOf = ({ path }: Operation): string =>
  path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(others.get(name) ?? 'nothing'));
/** A body that no operation accepts: a call that passes the guards gets 422, or 200 if no body is read. */
const wrongBody = { 'no such field': true };
const call = (operation: Operation, token?: string) =>
  node.call(operation.method, addressOf(operation), token, operation.method === 'GET' ? undefined : wrongBody);
const ranks = ['viewer', 'operator', 'admin'];

test('every operation has a unique name', () => {
  assert.ok(operations.length > 50);
  assert.equal(new Set(operations.map(({ id }) => id)).size, operations.length);
});

test('only public operations answer without a token or with a wrong one', async () => {
  for (const operation of operations.filter(({ role }) => role !== 'public')) {
    const { status, body, headers } = await call(operation);
    assert.equal(status, 401, operation.id);
    assert.equal(body.code, 'operate.unauthorized');
    assert.match(headers.get('content-type') ?? '', /^application\/problem\+json/);
    assert.match(headers.get('www-authenticate') ?? '', /^Bearer/);
  }
  const [first] = operations.filter(({ role }) => role === 'viewer');
  assert.ok(first);
  assert.equal((await call(first, 'ib_not-a-token-of-ours')).status, 401);
});

for (const role of ['feed', 'viewer', 'operator', 'admin'] as const) {
  test(`a ${role} may do what its role allows, and nothing more`, async () => {
    const token = await node.token(role);
    for (const operation of operations) {
      if (operation.role === 'public' || operation.id === 'session.end' || operation.id === 'live') continue;
      const { status, body } = await call(operation, token);
      const isFeed = operation.role === 'feed';
      const allowed = isFeed
        ? role !== 'viewer'
        : role !== 'feed' && ranks.indexOf(role) >= ranks.indexOf(operation.role);
      if (allowed) assert.ok(![401, 403, 500].includes(status), `${operation.id}: ${status} ${JSON.stringify(body)}`);
      else assert.equal(status, 403, operation.id);
    }
  });
}

test('a token for one integration gets 404 for the others', async () => {
  const token = await node.token('admin', ['grand']);
  for (const operation of operations) {
    if (operation.role === 'public' || operation.id === 'session.end' || operation.id === 'live') continue;
    const { status, body } = await call(operation, token);
    if (operation.scope === 'all') assert.equal(status, 403, operation.id);
    else if (operation.scope === 'any') {
      const text = JSON.stringify(body);
      // Jobs and incidents of several brands check each object themselves; these ids name nothing.
      const isAbsent = status === 404 && operation.path.includes('{');
      const isHarmless = status === 422 || (status < 300 && !/other/.test(text));
      assert.ok(isAbsent || isHarmless, `${operation.id}: ${status} ${text}`);
    } else assert.equal(status, 404, operation.id);
  }
});

test('a list filtered by another integration is 404 too', async () => {
  const token = await node.token('admin', ['grand']);
  for (const path of [
    '/runs',
    '/reservations',
    '/guests',
    '/events',
    '/dead-letters',
    '/overview',
    '/alerts',
    '/deliveries',
  ]) {
    assert.equal((await node.call('GET', `${path}?integration=other`, token)).status, 404, path);
    assert.equal((await node.call('GET', `${path}?integration=grand`, token)).status, 200, path);
  }
});

test('revoked and expired tokens are refused', async () => {
  const admin = await node.token('admin');
  const made = await node.call('POST', '/tokens', admin, { name: 'short', role: 'viewer' });
  assert.equal(made.status, 201);
  assert.equal((await node.call('GET', '/runs', made.body.token)).status, 200);
  assert.equal((await node.call('DELETE', `/tokens/${made.body.token_id}`, admin)).status, 200);
  assert.equal((await node.call('GET', '/runs', made.body.token)).status, 401);
  const second = await node.call('POST', '/tokens', admin, { name: 'ends', role: 'viewer', days: 1 });
  await node.runtime.pool.query(`update tokens set expires_at = now() where token_id = $1`, [second.body.token_id]);
  assert.equal((await node.call('GET', '/runs', second.body.token)).status, 401);
});

test('the store contains no token in plain text', async () => {
  const token = await node.token('viewer');
  const { rows } = await node.runtime.pool.query<{ found: boolean }>(
    `select bool_or(position($1 in t::text) > 0 or position(encode(convert_to($1, 'UTF8'), 'hex') in t::text) > 0) as found from tokens t`,
    [token],
  );
  assert.equal(rows[0]?.found, false);
});

test('an address that keeps sending wrong tokens gets 429', async () => {
  let last = 0;
  for (let i = 0; i < 100 && last !== 429; i++) last = (await node.call('GET', '/runs', `ib_wrong-${i}xxxx`)).status;
  assert.equal(last, 429);
});
