import { mentions, numberPattern } from '../../core/canonical/mentions.ts';
import type { Guest } from '../../core/canonical/reservation.ts';
import { isObject, type Json } from '../../terms.ts';

/** Finds a person in texts and payloads, however they are written: escaped, in capitals, numbers with or without separators. */
export class Traces {
  /** Also document numbers: texts that name nobody else. */
  readonly addresses: readonly string[];
  /** Regular expressions that mean the same in PostgreSQL and JavaScript. */
  readonly numbers: readonly string[];
  /** Together with the name, a guest id names the person. */
  readonly guestIds: readonly string[];
  readonly #numbers: readonly RegExp[];
  readonly #names: readonly Guest[];

  constructor(
    addresses: readonly string[],
    phones: readonly string[],
    names: readonly Guest[] = [],
    guestIds: readonly string[] = [],
  ) {
    this.#names = names;
    this.guestIds = guestIds;
    this.addresses = addresses.map((address) => address.toLowerCase());
    this.numbers = phones.map(numberPattern).filter((pattern) => pattern !== undefined);
    this.#numbers = this.numbers.map((pattern) => new RegExp(pattern));
  }

  inText(text: string): boolean {
    const lower = text.toLowerCase();
    return (
      this.addresses.some((address) => lower.includes(address)) || this.#numbers.some((number) => number.test(text))
    );
  }

  /** By the full name, for texts with the id of the person or of one of their reservations: elsewhere it may be somebody else's. */
  namedIn(text: string): boolean {
    return mentions(text, this.#names);
  }

  inJson(value: Json): boolean {
    if (typeof value === 'string') return this.inText(value);
    if (typeof value === 'number') return this.inText(String(value));
    if (Array.isArray(value)) return value.some((one) => this.inJson(one));
    if (isObject(value)) return Object.entries(value).some(([key, one]) => this.inText(key) || this.inJson(one));
    return false;
  }
}
