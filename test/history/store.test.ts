import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../deliver/support.ts';
import { checkHistory } from './check.ts';
import { tellStory } from './tell-story.ts';

test('frozen nodes, lost answers, repeated pages and an erased guest break no promise of the store', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const history = await tellStory(pool);
  assert.deepEqual(checkHistory(history), []);
  assert.ok(history.versions.length >= 16);
});
