import type { Clock } from '../../../../src/kit/clock.ts';

/** A clock whose waits take no time: it jumps ahead instead, and remembers by how much. */
export interface JumpingClock extends Clock {
  readonly waits: readonly number[];
}

export function jumpingClock(): JumpingClock {
  let ahead = 0;
  const waits: number[] = [];
  return {
    waits,
    now: () => Date.now() + ahead,
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (!signal?.aborted) {
          ahead += ms;
          waits.push(ms);
        }
        setImmediate(resolve);
      }),
  };
}
