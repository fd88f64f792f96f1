import type { Guest } from '../canonical/reservation.ts';
import { GuestFields } from '../canonical/unrolled.ts';
import type { Json, Note } from '../terms.ts';

/** One guest while it is cleaned. */
export class Cleaning extends GuestFields {
  readonly #given: Guest;
  readonly #index: number | undefined;
  readonly #notes: Note[];
  readonly #notesBefore: number;

  constructor(guest: Guest, index: number | undefined, notes: Note[]) {
    super(guest);
    this.#given = guest;
    this.#index = index;
    this.#notes = notes;
    this.#notesBefore = notes.length;
  }

  note(name: keyof Guest, code: string, reason: string, before: Json | undefined, after: Json | undefined): void {
    const step = 'normalize';
    const field = this.#index === undefined ? name : `guests[${this.#index}].${name}`;
    if (before === undefined)
      this.#notes.push(after === undefined ? { step, field, code, reason } : { step, field, code, reason, after });
    else if (after === undefined) this.#notes.push({ step, field, code, reason, before });
    else this.#notes.push({ step, field, code, reason, before, after });
  }

  /** The same object if nothing changed: every change leaves a note. */
  outcome(): Guest {
    return this.#notes.length === this.#notesBefore ? this.#given : this.toGuest();
  }
}
