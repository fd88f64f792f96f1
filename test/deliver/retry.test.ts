import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type ReplayPorts, replayDeadLetters } from '../../src/core/deliver/replay.ts';
import { isLastTry, longestWaitMs, nextTry } from '../../src/core/deliver/send.ts';

/** The default of `retry`: 5s, 1m, 10m, 1h. */
const standardScheduleMs = [5_000, 60_000, 600_000, 3_600_000];

test('first try plus four retries: 5 s, 1 min, 10 min, 1 h, then dead', () => {
  const waits = [0, 1, 2, 3].map((used) => nextTry({}, used, standardScheduleMs, 0));
  assert.deepEqual(waits, [
    { kind: 'wait', delayMs: 5_000, triesUsed: 1 },
    { kind: 'wait', delayMs: 60_000, triesUsed: 2 },
    { kind: 'wait', delayMs: 600_000, triesUsed: 3 },
    { kind: 'wait', delayMs: 3_600_000, triesUsed: 4 },
  ]);
  assert.deepEqual(nextTry({}, 4, standardScheduleMs, 0), { kind: 'dead' });
  assert.equal(isLastTry(3, standardScheduleMs), false);
  assert.equal(isLastTry(4, standardScheduleMs), true);
});

test('jitter stretches a wait by a quarter at most and never shortens it', () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 0.999, noNaN: true }), fc.nat(3), (chance, used) => {
      const next = nextTry({}, used, standardScheduleMs, chance);
      const base = standardScheduleMs[used] ?? 0;
      assert.ok(next.kind === 'wait' && next.delayMs >= base && next.delayMs <= base * 1.25);
    }),
  );
});

test('a free wait never uses a try; Retry-After is respected and bounded', () => {
  const free = nextTry({ free: true, afterMs: 30_000 }, 4, standardScheduleMs, 0);
  assert.deepEqual(free, { kind: 'wait', delayMs: 30_000, triesUsed: 4 });
  const busy = nextTry({ afterMs: 90_000 }, 0, standardScheduleMs, 0);
  assert.deepEqual(busy, { kind: 'wait', delayMs: 90_000, triesUsed: 1 });
  const endless = nextTry({ free: true, afterMs: Number.MAX_SAFE_INTEGER }, 0, standardScheduleMs, 0);
  assert.ok(endless.kind === 'wait' && endless.delayMs === longestWaitMs);
});

test('replays are spaced, whatever the clock does', async () => {
  let now = 5_000;
  const at: number[] = [];
  const ports: ReplayPorts = {
    clock: {
      now: () => now,
      wait: async (ms) => {
        now += ms;
      },
    },
    preview: async () => ({ kind: 'ready', record: { type: 'reservation', id: 'r' }, after: {}, diff: [] }),
    replay: async () => {
      at.push(now);
      now += 10;
      if (at.length === 3) now -= 3_600_000;
      return true;
    },
    wake: () => {},
  };
  const letters = Array.from({ length: 5 }, (_, i) => ({ id: String(i), kind: 'delivery' as const }));
  await replayDeadLetters(ports, letters, { by: 'test', perSecond: 4 });
  assert.deepEqual(
    at.map((one) => one - 5_000),
    [0, 250, 500, 760 - 3_600_000, 1_010 - 3_600_000],
  );
});
