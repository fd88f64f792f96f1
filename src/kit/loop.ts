import { systemClock, type Timers } from './clock.ts';

/** Work that repeats until it is stopped. Stopping waits for the turn in progress. */
export interface Loop {
  stop(): Promise<void>;
}

interface LoopSettings<Result> {
  readonly name: string;
  /** One turn. A long one calls `beat` whenever it has made progress. */
  readonly turn: (signal: AbortSignal, beat: () => void) => Promise<Result>;
  /** Waits for the next turn. `result` is undefined if the turn failed. */
  readonly pause: (result: Result | undefined, signal: AbortSignal) => Promise<unknown>;
  /** A failed turn ends nothing: the next one follows after the pause. */
  readonly onError: (error: unknown) => void;
  /** Called once, after the last turn. */
  readonly finish?: () => Promise<unknown>;
  readonly heartbeats?: Heartbeats | undefined;
  /** How long a turn may go without progress before the loop counts as stalled; 30 seconds by default. */
  readonly stallsAfterMs?: number;
}

export function startLoop<Result>(settings: LoopSettings<Result>): Loop {
  const { name, heartbeats, stallsAfterMs = 30_000 } = settings;
  const stopping = new AbortController();
  const { signal } = stopping;
  const beat = () => heartbeats?.beat(name, stallsAfterMs);
  const running = (async () => {
    while (!signal.aborted) {
      beat();
      let result: Result | undefined;
      try {
        result = await settings.turn(signal, beat);
      } catch (error) {
        settings.onError(error);
      }
      heartbeats?.idle(name);
      if (!signal.aborted) await settings.pause(result, signal);
    }
    await settings.finish?.();
  })();
  return {
    async stop() {
      stopping.abort();
      await running;
    },
  };
}

/**
 * Which loops of the process are making progress. A loop reports the start of a turn, its progress, and its pauses; one whose
 * turn makes no progress for longer than `stallsAfterMs` has stalled, for example because the database no longer answers.
 */
export class Heartbeats {
  readonly #clock: Pick<Timers, 'uptimeMs'>;
  readonly #working = new Map<string, { readonly sinceMs: number; readonly stallsAfterMs: number }>();

  constructor(clock: Pick<Timers, 'uptimeMs'>) {
    this.#clock = clock;
  }

  /** The loop began a turn, or made progress in it. */
  beat(loop: string, stallsAfterMs: number): void {
    this.#working.set(loop, { sinceMs: this.#clock.uptimeMs(), stallsAfterMs });
  }

  /** The loop has nothing to do, or has ended. */
  idle(loop: string): void {
    this.#working.delete(loop);
  }

  /** The loops that have stalled, with the time since their last progress. */
  stalled(): readonly { readonly loop: string; readonly forMs: number }[] {
    const now = this.#clock.uptimeMs();
    return [...this.#working]
      .map(([loop, { sinceMs, stallsAfterMs }]) => ({ loop, forMs: now - sinceMs, stallsAfterMs }))
      .filter(({ forMs, stallsAfterMs }) => forMs > stallsAfterMs)
      .map(({ loop, forMs }) => ({ loop, forMs }));
  }
}

/**
 * Wakes waiting loops when there is work, so that they need not poll often. Signals inside the process arrive at once; `relay`
 * carries them to other processes. A lost signal only costs time: every waiter also wakes by itself.
 */
export class Wake {
  #waiters = new Map<string, Set<() => void>>();
  /** Signals without a waiter: the next wait returns at once. */
  #pending = new Set<string>();
  #relay: ((topic: string) => void) | undefined;
  readonly #timers: Pick<Timers, 'schedule'>;

  constructor(timers: Pick<Timers, 'schedule'> = systemClock) {
    this.#timers = timers;
  }

  relayTo(relay: (topic: string) => void): void {
    this.#relay = relay;
  }

  signal(topic: string): void {
    this.arrived(topic);
    this.signalOthers(topic);
  }

  signalOthers(topic: string): void {
    this.#relay?.(topic);
  }

  /** A signal from another process. */
  arrived(topic: string): void {
    const waiters = this.#waiters.get(topic);
    if (!waiters || waiters.size === 0) {
      this.#pending.add(topic);
      return;
    }
    this.#waiters.delete(topic);
    for (const wake of waiters) wake();
  }

  wait(topic: string, maxMs: number, signal?: AbortSignal): Promise<void> {
    if (this.#pending.delete(topic) || signal?.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const waiters = this.#waiters.getOrInsertComputed(topic, () => new Set());
      const done = () => {
        cancel();
        waiters.delete(done);
        signal?.removeEventListener('abort', done);
        resolve();
      };
      const cancel = this.#timers.schedule(maxMs, done);
      waiters.add(done);
      signal?.addEventListener('abort', done, { once: true });
    });
  }
}
