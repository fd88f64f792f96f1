import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Json, Note } from '../terms.ts';
import { readEmail } from './email.ts';
import { readNames } from './name.ts';
import type { NameRule } from './name-rules.ts';
import { type PhoneBasis, readPhone } from './phone.ts';

export interface NormalizeContext {
  /** The integration's country: the region of a local phone number where the guest's nationality does not tell. */
  readonly country?: string | undefined;
}

/**
 * Cleans names, e-mail addresses and phone numbers of a checked record. Each change leaves a note. A record that needs none comes
 * back as the same object; a second time never changes anything. `clean` is a record that went through here before: guests that
 * are the very same objects are not looked at again.
 */
export function normalizeReservation(
  reservation: Reservation,
  context: NormalizeContext,
  clean?: Reservation,
): { reservation: Reservation; notes: Note[] } {
  let notes: Note[] | undefined;
  let guests: Guest[] | undefined;
  for (let index = 0; index < reservation.guests.length; index++) {
    const guest = reservation.guests[index] as Guest;
    if (guest === clean?.guests[index]) continue;
    const cleaning = new Cleaning(guest, index);
    const done = cleaned(cleaning, context);
    if (done === guest) continue;
    guests ??= [...reservation.guests];
    guests[index] = done;
    notes = notes === undefined ? cleaning.notes : [...notes, ...cleaning.notes];
  }
  return { reservation: guests ? { ...reservation, guests } : reservation, notes: notes ?? [] };
}

/** One guest by itself, as an event of its own brings it. */
export function normalizeGuest(guest: Guest, context: NormalizeContext): { guest: Guest; notes: Note[] } {
  const cleaning = new Cleaning(guest, undefined);
  return { guest: cleaned(cleaning, context), notes: cleaning.notes };
}

function cleaned(cleaning: Cleaning, context: NormalizeContext): Guest {
  cleanNationality(cleaning);
  const regions = { nationality: cleaning.now.nationality, country: context.country?.toUpperCase() };
  cleanNames(cleaning, regions);
  cleanEmail(cleaning);
  cleanPhone(cleaning, regions);
  return cleaning.outcome();
}

type Draft = { -readonly [Key in keyof Guest]: Guest[Key] | undefined };
interface Regions {
  readonly nationality: string | undefined;
  readonly country: string | undefined;
}

/** One guest while it is cleaned. It is copied at its first change. */
class Cleaning {
  readonly notes: Note[] = [];
  /** The guest with what was changed so far. */
  now: Readonly<Draft>;
  readonly #given: Guest;
  readonly #index: number | undefined;
  #draft: Draft | undefined;

  constructor(guest: Guest, index: number | undefined) {
    this.now = guest;
    this.#given = guest;
    this.#index = index;
  }

  set<Field extends keyof Guest>(field: Field, value: Draft[Field]): void {
    if (this.#draft === undefined) {
      this.#draft = { ...this.#given };
      this.now = this.#draft;
    }
    this.#draft[field] = value;
  }

  note(name: keyof Guest, code: string, reason: string, before: Json | undefined, after: Json | undefined): void {
    const step = 'normalize';
    const field = this.#index === undefined ? name : `guests[${this.#index}].${name}`;
    if (before === undefined)
      this.notes.push(after === undefined ? { step, field, code, reason } : { step, field, code, reason, after });
    else if (after === undefined) this.notes.push({ step, field, code, reason, before });
    else this.notes.push({ step, field, code, reason, before, after });
  }

  /** The same object where nothing changed. */
  outcome(): Guest {
    return this.#draft === undefined ? this.#given : inSchemaOrder(this.#draft);
  }
}

function cleanNationality(cleaning: Cleaning): void {
  const given = cleaning.now.nationality;
  if (given === undefined || (given.length === 2 && capitals.test(given))) return;
  const upper = given.trim().toUpperCase();
  if (!capitals.test(upper)) return;
  cleaning.set('nationality', upper);
  cleaning.note('nationality', 'nationality_case', 'Country codes are written in capitals.', given, upper);
}
const capitals = /^[A-Z]{2}$/;

const nameReasons: Readonly<Record<NameRule, string>> = {
  name_tidied: 'Spaces, invisible characters and stray marks were put in order.',
  name_placeholder: 'The text stands for a name that is not known.',
  name_split: 'Family and given name stood in one field.',
  name_title_removed: 'A form of address is not part of the name.',
  name_first_of_two: 'Two people stood in one field; the first is kept.',
  name_case: 'The name came in one case only.',
};

function cleanNames(cleaning: Cleaning, regions: Regions): void {
  const { first_name, last_name } = cleaning.now;
  if (first_name === undefined && last_name === undefined) return;
  const { names, changes } = readNames({ first_name, last_name }, regions);
  if (changes.length === 0) return;
  if (names.first_name !== first_name) cleaning.set('first_name', names.first_name);
  if (names.last_name !== last_name) cleaning.set('last_name', names.last_name);
  for (const { field, rule, before, after } of changes) cleaning.note(field, rule, nameReasons[rule], before, after);
}

function cleanEmail(cleaning: Cleaning): void {
  const given = cleaning.now.email;
  if (given === undefined) return;
  const reading = readEmail(given);
  if (reading.kind === 'address') {
    if (reading.address !== given) {
      cleaning.set('email', reading.address);
      if (reading.several)
        cleaning.note(
          'email',
          'email_first_of_several',
          'The field held several addresses; the first valid one is kept.',
          given,
          reading.address,
        );
      else
        cleaning.note('email', 'email_tidied', 'The address was brought into its plain form.', given, reading.address);
    }
    if (reading.proxy && cleaning.now.email_proxy !== true) {
      cleaning.set('email_proxy', true);
      cleaning.note(
        'email_proxy',
        'email_proxy',
        'The address is an alias made up by a booking site: it is never used to match guests.',
        undefined,
        true,
      );
    }
    return;
  }
  cleaning.set('email', undefined);
  cleaning.set('email_proxy', undefined);
  if (reading.kind === 'nothing') {
    cleaning.note('email', 'email_placeholder', 'The text stands for an address that is not known.', given, undefined);
    return;
  }
  cleaning.set('email_raw', given);
  if (reading.why === 'made_up')
    cleaning.note(
      'email',
      'email_made_up',
      'The address was typed to fill the field; it is kept as email_raw.',
      given,
      undefined,
    );
  else
    cleaning.note('email', 'email_invalid', 'The text is no valid address; it is kept as email_raw.', given, undefined);
}

const phoneReasons: Readonly<Record<PhoneBasis, string>> = {
  international: 'Written in the international form E.164.',
  nationality: 'Written in the international form E.164, read as a number of the guest’s nationality.',
  country: 'Written in the international form E.164, read as a number of the property’s country.',
};

function cleanPhone(cleaning: Cleaning, regions: Regions): void {
  const given = cleaning.now.phone;
  if (given === undefined) return;
  const reading = readPhone(given, regions);
  if (reading.kind === 'number') {
    if (reading.e164 === given) return;
    cleaning.set('phone', reading.e164);
    if (reading.several)
      cleaning.note(
        'phone',
        'phone_first_of_several',
        'The field held several numbers; the first possible one is kept.',
        given,
        reading.e164,
      );
    else cleaning.note('phone', 'phone_to_e164', phoneReasons[reading.by], given, reading.e164);
    if (reading.extension)
      cleaning.note(
        'phone',
        'phone_extension_removed',
        'An extension cannot be part of E.164; it is left out.',
        given,
        reading.e164,
      );
    return;
  }
  cleaning.set('phone', undefined);
  if (reading.kind === 'nothing') {
    cleaning.note('phone', 'phone_placeholder', 'The text stands for a number that is not known.', given, undefined);
    return;
  }
  cleaning.set('phone_raw', given);
  cleaning.note(
    'phone',
    'phone_impossible',
    'No numbering plan has this number; it is kept as phone_raw.',
    given,
    undefined,
  );
}

/**
 * Equal guests must have equal text, so the keys stand in the schema's order whatever was added. Written out, as the check does
 * it, so that both make one hidden class: a loop over the names took four times as long, and the encoder after it twice.
 */
function inSchemaOrder(draft: Readonly<Draft>): Guest {
  const guest: Guest = {};
  if (draft.guest_id !== undefined) guest.guest_id = draft.guest_id;
  if (draft.first_name !== undefined) guest.first_name = draft.first_name;
  if (draft.last_name !== undefined) guest.last_name = draft.last_name;
  if (draft.email !== undefined) guest.email = draft.email;
  if (draft.email_raw !== undefined) guest.email_raw = draft.email_raw;
  if (draft.email_proxy !== undefined) guest.email_proxy = draft.email_proxy;
  if (draft.phone !== undefined) guest.phone = draft.phone;
  if (draft.phone_raw !== undefined) guest.phone_raw = draft.phone_raw;
  if (draft.date_of_birth !== undefined) guest.date_of_birth = draft.date_of_birth;
  if (draft.nationality !== undefined) guest.nationality = draft.nationality;
  if (draft.document_type !== undefined) guest.document_type = draft.document_type;
  if (draft.document_number !== undefined) guest.document_number = draft.document_number;
  if (draft.marketing_consent !== undefined) guest.marketing_consent = draft.marketing_consent;
  return guest;
}
