import type { Clock, Timers } from '../../src/kit/clock.ts';
import type { Transaction } from './model/transaction.ts';
import type { VirtualTime } from './time.ts';

/**
 * A machine that a node runs on. Everything from outside (timers, answers) enters a node through it: nothing once it is dead,
 * and later while it is frozen.
 */
export class Host {
  readonly name: string;
  readonly clock: Clock & Timers;
  /** How far the wall clock is ahead. */
  clockAheadMs: number;
  readonly transactions = new Set<Transaction>();
  readonly #time: VirtualTime;
  #isDead = false;
  #isFrozen = false;
  #waiting: (() => void)[] = [];

  constructor(name: string, time: VirtualTime, clockAheadMs: number) {
    this.name = name;
    this.#time = time;
    this.clockAheadMs = clockAheadMs;
    const schedule = (ms: number, run: () => void) => {
      let isCancelled = false;
      // As clearTimeout does, this also ends a timer that is due and has not run because the process was stopped.
      const cancel = time.after(ms, () => this.enter(() => !isCancelled && run()));
      return () => {
        isCancelled = true;
        cancel();
      };
    };
    this.clock = {
      now: () => time.nowMs + this.clockAheadMs,
      uptimeMs: () => time.nowMs,
      schedule,
      wait: (ms, signal) =>
        new Promise((resolve) => {
          if (signal?.aborted) return resolve();
          const done = () => {
            cancel();
            signal?.removeEventListener('abort', done);
            resolve();
          };
          const cancel = schedule(ms, done);
          signal?.addEventListener('abort', done, { once: true });
        }),
    };
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  /** Runs code of the node. */
  enter(run: () => void): void {
    if (this.#isDead) return;
    if (this.#isFrozen) this.#waiting.push(run);
    else run();
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  thaw(): void {
    if (!this.#isFrozen) return;
    this.#isFrozen = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const run of waiting) this.#time.after(0, () => this.enter(run));
  }

  /** The server notices that the connections are gone and rolls back. */
  kill(): void {
    this.#isDead = true;
    for (const tx of this.transactions) tx.rollBack();
  }
}
