import { fields } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import type { Json, Note } from '../terms.ts';

const names = Object.keys(fields.guests) as (keyof Guest)[];

/** What each code of a note means. */
const reasons = {
  guest_id_placeholder: 'The text is a placeholder, not an id.',
  nationality_case: 'Country codes are written in capitals.',
  name_tidied: 'Spaces, invisible characters and stray punctuation were cleaned up.',
  name_placeholder: 'The text is a placeholder, not a name.',
  name_split: 'Family name and given name were in one field.',
  name_title_removed: 'A title is not part of the name.',
  name_first_of_two: 'The field named two people; the first is kept.',
  name_case: 'The name was all upper case or all lower case.',
  email_tidied: 'The address was trimmed and lower-cased.',
  email_first_of_several: 'The field held several addresses; the first valid one is kept.',
  email_proxy: 'The address is an alias created by a booking site: it is never used to match guests.',
  email_placeholder: 'The text is a placeholder, not an address.',
  email_made_up: 'The address is a dummy typed to fill the field; it is kept as email_raw.',
  email_invalid: 'The text is not a valid address; it is kept as email_raw.',
  phone_to_e164: 'Written in the international form E.164',
  phone_first_of_several: 'The field held several numbers; the first possible one is kept.',
  phone_extension_removed: 'E.164 has no extensions; the extension was removed.',
  phone_placeholder: 'The text is a placeholder, not a number.',
  phone_impossible: 'The number is not valid in any numbering plan; it is kept as phone_raw.',
} as const;

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

  /** `more` completes the reason. */
  note(
    name: keyof Guest,
    code: keyof typeof reasons,
    before: Json | undefined,
    after: Json | undefined,
    more = '',
  ): void {
    const step = 'normalize';
    const reason = reasons[code] + more;
    const field = this.#index === undefined ? name : `guests[${this.#index}].${name}`;
    const values = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
    this.#notes.push({ step, field, code, reason, ...values });
  }

  /** The same object if nothing changed: every change leaves a note. Otherwise in the order of the schema. */
  outcome(): Guest {
    if (this.#notes.length === this.#notesBefore) return this.#given;
    const guest: Record<string, unknown> = {};
    for (const name of names) if (this.guest[name] !== undefined) guest[name] = this.guest[name];
    return guest;
  }
}
