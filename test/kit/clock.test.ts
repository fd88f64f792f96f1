import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/kit/clock.ts';

test('a wait longer than a timer can hold does not end at once', async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  const cancel = systemClock.schedule(3_000_000_000, () => ended.push('timer'));
  const wait = systemClock.wait(3_000_000_000, stop.signal).then(() => ended.push('wait'));
  await systemClock.wait(50);
  assert.deepEqual(ended, []);
  cancel();
  stop.abort();
  await wait;
});
