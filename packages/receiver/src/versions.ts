import type { Message } from './message.ts';

/** What to keep of the newest version of a record. */
export interface Version {
  readonly epoch?: number | undefined;
  readonly version: number;
}

/** Names a record across brands: the key under which to keep its state. */
export function recordKey({ type, integration, data }: Message): string {
  return JSON.stringify([type, integration, data.id]);
}

/**
 * Whether the message is newer than what is stored. Deliveries arrive at least once, and after a lost connection an old version may arrive
 * behind a newer one: store a message only if this is true, in the transaction that reads the stored version.
 */
export function isNewer(message: Version, stored: Version | undefined): boolean {
  if (stored === undefined) return true;
  const epochs = (message.epoch ?? 1) - (stored.epoch ?? 1);
  return epochs > 0 || (epochs === 0 && message.version > stored.version);
}

/**
 * Remembers the last idempotency keys, for effects that have no version, such as an e-mail. It forgets with the process: where a repetition
 * would do harm, keep the keys in your database instead, under a unique index.
 */
export class SeenKeys {
  readonly #keys = new Set<string>();
  readonly #most: number;

  constructor(most = 100_000) {
    this.#most = most;
  }

  /** True at the first call with a key. */
  add(key: string): boolean {
    if (this.#keys.has(key)) return false;
    this.#keys.add(key);
    if (this.#keys.size > this.#most) this.#keys.delete(this.#keys.values().next().value as string);
    return true;
  }

  /** For work that failed: the next attempt is the first one again. */
  remove(key: string): void {
    this.#keys.delete(key);
  }
}
