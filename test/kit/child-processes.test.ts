import assert from 'node:assert/strict';
import cluster from 'node:cluster';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { pino } from 'pino';
import { type Children, startChildren } from '../../src/kit/child-processes.ts';
import { systemClock } from '../../src/kit/clock.ts';

cluster.setupPrimary({ exec: fileURLToPath(new URL('./child.ts', import.meta.url)), args: [] });

/** Children that do one job after another, without pauses; the last job is repeated. */
function children(jobs: readonly string[], isPassing = true): { started: Children; pauses: number[] } {
  const pauses: number[] = [];
  const left = [...jobs];
  const started = startChildren({
    count: 1,
    job: () => (left.length > 1 ? left.shift() : left[0]),
    isPassing: () => isPassing,
    clock: {
      ...systemClock,
      wait: async (ms) => {
        pauses.push(ms);
      },
    },
    log: pino({ level: 'silent' }),
  });
  return { started, pauses };
}

test('a child that ends before its first start is complete is not restarted', async () => {
  const { started, pauses } = children(['exit', 'stay']);
  assert.deepEqual(await started.failed, { number: 1, report: undefined, ended: 'code 3' });
  assert.deepEqual(pauses, []);
  await started.stop();
});

test('a child that crashes is restarted after growing pauses, and given up after eight short lives', async () => {
  const { started, pauses } = children(['crash', 'exit']);
  assert.equal(await started.ready, 'crash');
  assert.deepEqual(await started.failed, { number: 1, report: undefined, ended: 'code 3' });
  assert.deepEqual(pauses, [250, 500, 1000, 2000, 4000, 8000, 16000]);
  await started.stop();
});

test('a restarted child that reports a lasting failure is given up at once', async () => {
  const { started, pauses } = children(['crash', 'report', 'stay'], false);
  const report = { code: 'some.code', message: 'cannot start' };
  assert.deepEqual(await started.failed, { number: 1, report, ended: 'code 1' });
  assert.deepEqual(pauses, [250]);
  await started.stop();
});
