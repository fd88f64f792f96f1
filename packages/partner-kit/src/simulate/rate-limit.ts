/** A sliding window over recent requests, as an API gateway has. */
export class RateLimit {
  readonly #most: number;
  readonly #spanMs: number;
  #times: number[] = [];

  constructor(settings: { readonly requests: number; readonly perSeconds: number }) {
    this.#most = settings.requests;
    this.#spanMs = settings.perSeconds * 1000;
  }

  /** Seconds to wait if the request exceeds the rate; otherwise undefined. */
  take(nowMs: number): number | undefined {
    this.#times = this.#times.filter((time) => time > nowMs - this.#spanMs);
    const [oldest] = this.#times;
    if (oldest === undefined || this.#times.length < this.#most) {
      this.#times.push(nowMs);
      return undefined;
    }
    return Math.max(1, Math.ceil((oldest + this.#spanMs - nowMs) / 1000));
  }
}
