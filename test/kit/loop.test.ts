import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Heartbeats, startLoop } from '../../src/kit/loop.ts';

test('turns and rests alternate; a failed turn is reported and the next one follows; stop waits for the turn', async () => {
  const happened: string[] = [];
  const { promise: third, resolve: release } = Promise.withResolvers<void>();
  const { promise: reached, resolve: reach } = Promise.withResolvers<void>();
  let turns = 0;
  const loop = startLoop({
    name: 'test',
    turn: async () => {
      turns++;
      happened.push(`turn ${turns}`);
      if (turns === 2) throw new RangeError('no');
      if (turns === 3) {
        reach();
        await third;
        happened.push('turn 3 ended');
      }
      return turns;
    },
    pause: async (result) => happened.push(`pause ${result}`),
    onError: (error) => happened.push((error as Error).name),
    finish: async () => happened.push('finish'),
  });
  await reached;
  const stopped = loop.stop();
  release();
  await stopped;
  assert.deepEqual(happened, [
    'turn 1',
    'pause 1',
    'turn 2',
    'RangeError',
    'pause undefined',
    'turn 3',
    'turn 3 ended',
    'finish',
  ]);
});

test('a loop that stops making progress has stalled; one that rests, or beats, has not', async () => {
  let nowMs = 0;
  const heartbeats = new Heartbeats({ uptimeMs: () => nowMs });
  let progress = () => {};
  const { promise: work, resolve: end } = Promise.withResolvers<void>();
  const loop = startLoop({
    name: 'worker',
    heartbeats,
    stallsAfterMs: 100,
    turn: async (_, beat) => {
      progress = beat;
      await work;
    },
    pause: (_, signal) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    onError: () => {},
  });
  nowMs = 100;
  assert.deepEqual(heartbeats.stalled(), []);
  nowMs = 101;
  assert.deepEqual(heartbeats.stalled(), [{ loop: 'worker', forMs: 101 }]);
  progress();
  nowMs = 150;
  assert.deepEqual(heartbeats.stalled(), []);
  end();
  await new Promise((resolve) => setImmediate(resolve));
  nowMs = 10_000;
  assert.deepEqual(heartbeats.stalled(), []);
  await loop.stop();
});
