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
  /** Calls `run` once after the time. Returns a function that cancels it. */
  schedule(ms: number, run: () => void): () => void;
}

export const systemClock: Clock & Timers = {
  now: () => Date.now(),
  uptimeMs: () => performance.now(),
  schedule(ms, run) {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const done = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done, { once: true });
    }),
};
