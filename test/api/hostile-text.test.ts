import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { type ApiNode, apiNode } from './node.ts';

/** Whatever text a viewer sends, the node stays responsive: the text is processed in another thread, within limits. */

let node: ApiNode;
let viewer: string;
before(async () => {
  node = await apiNode();
  viewer = await node.token('viewer');
});
after(() => node.stop());

/** The longest time that the main thread was blocked while `work` ran. */
async function longestPauseMs<T>(work: Promise<T>): Promise<{ result: T; pauseMs: number }> {
  let last = performance.now();
  let pauseMs = 0;
  const beat = setInterval(() => {
    const now = performance.now();
    pauseMs = Math.max(pauseMs, now - last);
    last = now;
  }, 5);
  const result = await work;
  clearInterval(beat);
  return { result, pauseMs };
}

const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}: 1`).join('\n');

test('a document of 3,000 keys is checked off the main thread', async () => {
  const text = `connector: hotel\n${keys(3_000)}\n`;
  const { result, pauseMs } = await longestPauseMs(
    node.call('POST', '/documents/validate', viewer, { kind: 'connector', text }),
  );
  assert.equal(result.status, 200);
  assert.ok(result.body.mistakes.length > 0);
  assert.ok(pauseMs < 2_000, `the main thread was blocked for ${pauseMs} ms`);
});

test('a mapping over a large sample runs off the main thread', async () => {
  const sample = JSON.stringify({
    reservations: Array.from({ length: 8_000 }, (_, i) => ({
      id: `R${i}`,
      check_in: '2026-05-01',
      note: 'x'.repeat(200),
    })),
  });
  const connector = 'connector: hotel\nshape: { root_path: reservations }\n';
  const { result, pauseMs } = await longestPauseMs(
    node.call('POST', '/map/preview', viewer, { connector, sample, limit: 100 }),
  );
  assert.equal(result.status, 200);
  assert.equal(result.body.total, 8_000);
  assert.ok(pauseMs < 2_000, `the main thread was blocked for ${pauseMs} ms`);
});

test('a sample is turned into a suggestion off the main thread', async () => {
  const record = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`field_${i}`, { a: i, b: `v${i}` }]));
  const sample = JSON.stringify({ data: Array.from({ length: 60 }, () => record) });
  const { result, pauseMs } = await longestPauseMs(node.call('POST', '/map/suggest', viewer, { sample }));
  assert.ok([200, 422].includes(result.status), JSON.stringify(result.body));
  assert.ok(pauseMs < 2_000, `the main thread was blocked for ${pauseMs} ms`);
});
