import assert from 'node:assert/strict';
import { test } from 'node:test';
import { StreamWorld } from './stream.ts';

const seeds = 75;

test('no seed loses an event of a stream', async () => {
  const seen = new Set<string>();
  for (let seed = 1; seed <= seeds; seed += 1) {
    const outcome = await new StreamWorld(seed).run();
    assert.deepEqual(outcome.violations, [], `seed ${seed}`);
    for (const one of outcome.seen) seen.add(one);
  }
  // A simulation in which nothing happens would find nothing.
  const expected = ['broken', 'drop', 'duplicate', 'ended', 'fenced', 'freeze', 'kill', 'overtaken'];
  expected.push('push.stream_taken', 'store_away');
  assert.deepEqual(
    expected.filter((one) => !seen.has(one)),
    [],
  );
});
