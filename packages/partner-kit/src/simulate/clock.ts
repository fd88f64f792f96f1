/** The hotel's calendar: it may run faster than the wall clock, and can be moved forward. */
export class HotelClock {
  readonly now: () => number;
  readonly #speed: number;
  readonly #startedAt: number;
  #skippedMs = 0;

  constructor(now: () => number, speed: number) {
    this.now = now;
    this.#speed = speed;
    this.#startedAt = now();
  }

  readonly hotelNow = (): number => this.#startedAt + (this.now() - this.#startedAt) * this.#speed + this.#skippedMs;

  skipDays(days: number): void {
    this.#skippedMs += days * 86_400_000;
  }
}
