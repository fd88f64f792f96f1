import { setTimeout as delay } from 'node:timers/promises';

/** Time as an argument, so that tests can pass their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after the time, or at once when the signal aborts; it never rejects. */
  wait(ms: number, signal?: AbortSignal): Promise<void>;
}

/** Monotonic time and timers, for loops that must not depend on the wall clock: setting it back by an hour would stall them. */
export interface Timers {
  /** Milliseconds since an arbitrary start. */
  uptimeMs(): number;
  /** Calls `run` once after the time. Returns a function that cancels it. A background timer does not keep the process alive. */
  schedule(ms: number, run: () => void, options?: { readonly background?: boolean }): () => void;
}

/** Calls `run` at every interval. Returns a function that ends it. */
export function repeat(
  timers: Pick<Timers, 'schedule'>,
  everyMs: number,
  run: () => void,
  options?: { readonly background?: boolean },
): () => void {
  let cancel = () => {};
  const again = () => {
    cancel = timers.schedule(
      everyMs,
      () => {
        again();
        run();
      },
      options,
    );
  };
  again();
  return () => cancel();
}

/** The longest that setTimeout can wait: a longer time would end at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock & Timers = {
  now: () => Date.now(),
  uptimeMs: () => performance.now(),
  schedule(ms, run, options) {
    const timer = setTimeout(run, Math.min(ms, longestTimerMs));
    if (options?.background) timer.unref();
    return () => clearTimeout(timer);
  },
  wait: (ms, signal) => delay(Math.min(ms, longestTimerMs), undefined, signal && { signal }).catch(() => {}),
};
