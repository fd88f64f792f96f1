import { type Clock, systemClock, type Timers } from '../../../../src/kit/clock.ts';

/** A clock whose waits take no time: it jumps ahead instead, and remembers by how much. Timers run in real time. */
export interface JumpingClock extends Clock, Timers {
  readonly waits: readonly number[];
}

export function jumpingClock(): JumpingClock {
  let ahead = 0;
  const waits: number[] = [];
  return {
    ...systemClock,
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
