import type { EpochMs } from '../../terms.ts';

export interface BucketRate {
  readonly perSecond: number;
  readonly burst: number;
}

/** Token buckets, one per key. A bucket that is full again is dropped. */
export class Buckets {
  readonly #rate: (key: string) => BucketRate;
  readonly #maxKeys: number;
  #levels = new Map<string, { tokens: number; at: EpochMs }>();

  constructor(rate: (key: string) => BucketRate, maxKeys: number) {
    this.#rate = rate;
    this.#maxKeys = maxKeys;
  }

  /** Takes the tokens if there are enough; otherwise returns how many seconds to wait. */
  take(key: string, now: EpochMs, tokens = 1): { kind: 'taken' } | { kind: 'wait'; seconds: number } {
    const rate = this.#rate(key);
    const level = this.#level(key, rate, now);
    if (level.tokens >= tokens) {
      level.tokens -= tokens;
      return { kind: 'taken' };
    }
    return { kind: 'wait', seconds: Math.max(1, Math.ceil((tokens - level.tokens) / rate.perSecond)) };
  }

  /** Whether a token is left, without taking it. */
  peek(key: string, now: EpochMs): { kind: 'taken' } | { kind: 'wait'; seconds: number } {
    return this.#levels.has(key) ? this.take(key, now, 0.000_001) : { kind: 'taken' };
  }

  /** Takes the tokens even below zero, so that the key waits longer. */
  charge(key: string, now: EpochMs, tokens: number): void {
    const rate = this.#rate(key);
    const level = this.#level(key, rate, now);
    level.tokens = Math.max(level.tokens - tokens, -rate.burst);
  }

  giveBack(key: string, tokens: number): void {
    const level = this.#levels.get(key);
    if (level) level.tokens = Math.min(this.#rate(key).burst, level.tokens + tokens);
  }

  #level(key: string, rate: BucketRate, now: EpochMs): { tokens: number; at: EpochMs } {
    let level = this.#levels.get(key);
    if (level === undefined) {
      if (this.#levels.size >= this.#maxKeys) this.#forget(now);
      level = { tokens: rate.burst, at: now };
      this.#levels.set(key, level);
      return level;
    }
    const elapsedMs = Math.max(0, now - level.at);
    level.tokens = Math.min(rate.burst, level.tokens + (elapsedMs / 1000) * rate.perSecond);
    level.at = now;
    return level;
  }

  /** Drops full buckets; if that is not enough, drops the oldest half, so that memory stays bounded. */
  #forget(now: EpochMs): void {
    for (const [key, level] of this.#levels) {
      const rate = this.#rate(key);
      if (level.tokens + (Math.max(0, now - level.at) / 1000) * rate.perSecond >= rate.burst) this.#levels.delete(key);
    }
    if (this.#levels.size < this.#maxKeys / 2) return;
    let surplus = this.#levels.size - this.#maxKeys / 2;
    for (const key of this.#levels.keys()) {
      if (surplus-- <= 0) break;
      this.#levels.delete(key);
    }
  }
}
