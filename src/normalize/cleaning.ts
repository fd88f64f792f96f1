import { fields } from '../canonical/fields.ts';
import { type NoteCode, noteOf } from '../canonical/notes.ts';
import type { Guest } from '../canonical/reservation.ts';
import type { Note } from '../terms.ts';

const names = Object.keys(fields.guests) as (keyof Guest)[];

/** One guest while it is cleaned. */
export class Cleaning {
  /** A copy, to be changed. */
  readonly guest: Guest;
  readonly #given: Guest;
  readonly #index: number | undefined;
  readonly #notes: Note[];
  readonly #notesBefore: number;

  constructor(guest: Guest, index: number | undefined, notes: Note[]) {
    this.guest = { ...guest };
    this.#given = guest;
    this.#index = index;
    this.#notes = notes;
    this.#notesBefore = notes.length;
  }

  note(name: keyof Guest, code: NoteCode, values: Parameters<typeof noteOf>[2]): void {
    this.#notes.push(noteOf(code, this.#index === undefined ? name : `guests[${this.#index}].${name}`, values));
  }

  /** The same object if nothing changed: every change leaves a note. Otherwise in the order of the schema. */
  outcome(): Guest {
    if (this.#notes.length === this.#notesBefore) return this.#given;
    const guest: Record<string, unknown> = {};
    for (const name of names) if (this.guest[name] !== undefined) guest[name] = this.guest[name];
    return guest;
  }
}
