import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import { sandboxOf } from '../../src/operator/operations/sandbox.ts';
import type { EndpointId, IntegrationName, Json } from '../../src/terms.ts';
import { type ApiNode, apiNode } from './node.ts';

/** Whatever text a viewer sends, the node stays responsive: the text is processed in another thread, within limits. */

let node: ApiNode;
let viewer: string;
before(async () => {
  node = await apiNode();
  viewer = await node.token('viewer');
});
after(() => node.stop());

/** Posts `body` and returns the answer, with the tasks that the worker thread got. */
async function post(t: TestContext, path: string, body: Json) {
  const { mock } = t.mock.method(node.runtime.offload, 'run');
  const answer = await node.call('POST', path, viewer, body);
  return { ...answer, tasks: mock.calls.map(({ arguments: [task] }) => task) };
}

test('a viewer who posts 34 costly texts at once does not keep an admin from applying a document', async () => {
  const admin = await node.token('admin');
  const lake = 'destination: lake\ntype: files\npath: elsewhere\n';
  const limited = await node.token('viewer', ['grand']);
  const description = JSON.stringify({ openapi: '3.1.0', info: {}, paths: {}, x: 'y'.repeat(1_000_000) });
  const flood = Array.from({ length: 34 }, () =>
    node.call('POST', '/import', limited, { description, name: 'flood' }).then(({ status }) => status),
  );
  const refused = Promise.any(flood.map((one) => one.then((status) => (status === 503 ? status : Promise.reject()))));
  await refused;
  const applied = await node.call('PUT', '/documents/destination/lake', admin, { text: lake });
  assert.equal(applied.status, 200, JSON.stringify(applied.body));
  await Promise.all(flood);
});

test('sandboxes have a separate worker', async (t) => {
  const [console, sandbox] = [node.runtime.offload, node.runtime.sandboxOffload].map((one) =>
    t.mock.method(one, 'run'),
  );
  const endpoint = { endpointId: 'sbx_1' as EndpointId, integration: 'grand' as IntegrationName, sandbox: true };
  const intake = { directory: { endpoint: async () => ({ ...endpoint, secrets: [], retired: false }) } };
  const rawBody = Buffer.from('{}');
  const arrived = { endpointId: 'sbx_1', headers: {}, rawBody, receivedAt: Date.now() };
  const report = await sandboxOf(node.runtime, intake as never).examine(arrived as never, undefined);
  assert.ok('report_id' in report, JSON.stringify(report));
  assert.deepEqual([console?.mock.callCount(), sandbox?.mock.callCount()], [0, 1]);
});

test('a document of 1,000 keys is checked off the main thread', async (t) => {
  const text = `connector: hotel\n${Array.from({ length: 1_000 }, (_, i) => `k${i}: 1`).join('\n')}\n`;
  const { status, body, tasks } = await post(t, '/documents/validate', { kind: 'connector', text });
  assert.equal(status, 200);
  assert.ok(body.mistakes.length > 0);
  assert.deepEqual(tasks, ['checkOffered']);
});

test('a mapping over a large sample runs off the main thread', async (t) => {
  const sample = JSON.stringify({
    reservations: Array.from({ length: 8_000 }, (_, i) => ({
      id: `R${i}`,
      check_in: '2026-05-01',
      note: 'x'.repeat(200),
    })),
  });
  const connector = 'connector: hotel\nshape: { root_path: reservations }\n';
  const { status, body, tasks } = await post(t, '/map/preview', { connector, sample, limit: 100 });
  assert.equal(status, 200);
  assert.equal(body.total, 8_000);
  assert.deepEqual(tasks, ['preview']);
});

test('a sample is turned into a suggestion off the main thread', async (t) => {
  const record = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`field_${i}`, { a: i, b: `v${i}` }]));
  const sample = JSON.stringify({ data: Array.from({ length: 60 }, () => record) });
  const { status, body, tasks } = await post(t, '/map/suggest', { sample });
  assert.ok([200, 422].includes(status), JSON.stringify(body));
  assert.deepEqual(tasks, ['suggest']);
});
