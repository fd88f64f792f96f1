import assert from 'node:assert/strict';
import { after, before, type TestContext, test } from 'node:test';
import type { Json } from '../../src/terms.ts';
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

test('a document of 3,000 keys is checked off the main thread', async (t) => {
  const text = `connector: hotel\n${Array.from({ length: 3_000 }, (_, i) => `k${i}: 1`).join('\n')}\n`;
  const { status, body, tasks } = await post(t, '/documents/validate', { kind: 'connector', text });
  assert.equal(status, 200);
  assert.ok(body.mistakes.length > 0);
  assert.deepEqual(tasks, ['checkEdit']);
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
