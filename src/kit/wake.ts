import { systemClock, type Timers } from './clock.ts';

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
      const waiters = this.#waiters.get(topic) ?? new Set();
      this.#waiters.set(topic, waiters);
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
