import type { Clock, Timers } from '../kit/clock.ts';

/**
 * How long a lease still lasts, as seen from this node. It starts before the statement is sent, so it never outlasts the
 * database's own. Of two clocks the one that reaches the end first decides: the wall clock may be set back, and monotonic time may
 * stop while the machine is suspended.
 */
export class Lease {
  readonly #clock: Clock & Timers;
  readonly #endsAtMs: number;
  readonly #endsAtUptimeMs: number;

  constructor(clock: Clock & Timers, lengthMs: number) {
    this.#clock = clock;
    this.#endsAtMs = clock.now() + lengthMs;
    this.#endsAtUptimeMs = clock.uptimeMs() + lengthMs;
  }

  get leftMs(): number {
    return Math.min(this.#endsAtMs - this.#clock.now(), this.#endsAtUptimeMs - this.#clock.uptimeMs());
  }
}
