import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { onBehalfOf } from '../../src/kit/holder.ts';
import { type Offloaded, openOffload } from '../../src/kit/offload.ts';

const script = new URL('offload-tasks.ts', import.meta.url);
const offload = openOffload({ script, deadlineMs: 500, perHolder: 3, memoryMb: 64 });
after(() => offload.close());

const summary = (result: Offloaded) => (result.kind === 'done' ? result.value : result.reason);

test('a task runs in a thread and gives back its value', async () => {
  assert.deepEqual(await offload.run('double', 21), { kind: 'done', value: 42 });
});

test('an endless task is ended at its deadline, the main thread is not blocked, and the next task has a worker', async () => {
  let ticks = 0;
  const beat = setInterval(() => ticks++, 5);
  const ended = await offload.run('spin', null);
  clearInterval(beat);
  assert.equal(summary(ended), 'timeout');
  assert.ok(ticks > 2, `the main thread ran ${ticks} times`);
  assert.equal(summary(await offload.run('double', 2)), 4);
});

test('a task that takes too much memory ends alone', async () => {
  const slow = openOffload({ script, deadlineMs: 60_000, perHolder: 3, memoryMb: 32 });
  try {
    assert.equal(summary(await slow.run('hoard', null)), 'memory');
    assert.equal(summary(await slow.run('double', 3)), 6);
  } finally {
    await slow.close();
  }
});

test('an error is a value without the text that caused it; a worker that exits is replaced', async () => {
  const thrown = await offload.run('throw', null);
  assert.equal(summary(thrown), 'crashed');
  assert.ok(!JSON.stringify(thrown).includes('text that was sent'));
  assert.equal(summary(await offload.run('unknown', null)), 'crashed');
  assert.equal(summary(await offload.run('exit', null)), 'crashed');
  assert.equal(summary(await offload.run('double', 4)), 8);
});

test('the queue of a holder is bounded: a task too many is refused at once, the others run in order', async () => {
  const ended: unknown[] = [];
  const all = ['spin', 'double', 'double', 'double', 'double'].map(async (task, i) => {
    const result = await offload.run(task, i);
    ended.push(summary(result));
  });
  await Promise.all(all);
  assert.deepEqual(ended, ['busy', 'timeout', 2, 4, 6]);
});

test('holders take turns, and one that fills its queue does not fill that of others', async () => {
  const ended: string[] = [];
  const run = (holder: string, task: string) =>
    onBehalfOf(holder, async () => ended.push(`${holder} ${summary(await offload.run(task, 1))}`));
  await Promise.all([
    ...['spin', 'double', 'double', 'double', 'double'].map((task) => run('greedy', task)),
    ...['double', 'double'].map((task) => run('second', task)),
    run('third', 'double'),
  ]);
  const [first, ...rest] = ended;
  assert.equal(first, 'greedy busy');
  assert.deepEqual(rest, ['greedy timeout', 'greedy 2', 'second 2', 'third 2', 'greedy 2', 'second 2', 'greedy 2']);
});

test('closing ends running and waiting tasks', async () => {
  const own = openOffload({ script, deadlineMs: 60_000, perHolder: 3, memoryMb: 64 });
  const results = [own.run('spin', null), own.run('double', 1)];
  await own.close();
  assert.deepEqual((await Promise.all(results)).map(summary), ['closed', 'closed']);
  assert.equal(summary(await own.run('double', 1)), 'closed');
});
