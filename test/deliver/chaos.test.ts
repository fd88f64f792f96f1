import assert from 'node:assert/strict';
import { test } from 'node:test';
import { chaos } from './chaos.ts';

/** Small enough for every run; `npm run bench -- chaos deliveries` does 200,000. */
test('killed nodes, failing destinations and a restarted database lose and duplicate nothing', async () => {
  const result = await chaos({ records: 150, versions: 4, kills: 6, restarts: 1 });
  assert.equal(result.accepted, 2_400 + result.superseded);
  assert.equal(result.superseded, 240);
  assert.ok(result.delivered > 2_300);
});
