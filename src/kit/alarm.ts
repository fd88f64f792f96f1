import type { Timers } from './clock.ts';

/** One timer that rings at the earliest time asked for. What it wakes must look for itself what is due: an early ring is harmless. */
export class Alarm {
  readonly #clock: Timers;
  readonly #ring: () => void;
  #next: { readonly atMs: number; readonly cancel: () => void } | undefined;
  #isClosed = false;

  constructor(clock: Timers, ring: () => void) {
    this.#clock = clock;
    this.#ring = ring;
  }

  ringIn(ms: number): void {
    const atMs = this.#clock.uptimeMs() + ms;
    if (this.#isClosed || (this.#next !== undefined && this.#next.atMs <= atMs)) return;
    this.#next?.cancel();
    const cancel = this.#clock.schedule(ms, () => {
      this.#next = undefined;
      this.#ring();
    });
    this.#next = { atMs, cancel };
  }

  close(): void {
    this.#isClosed = true;
    this.#next?.cancel();
  }
}
