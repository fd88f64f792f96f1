import type { Note } from '../../terms.ts';
import { isEmptyGuest } from '../canonical/check.ts';
import { fields } from '../canonical/fields.ts';
import { type NoteCode, noteOf } from '../canonical/notes.ts';
import { hasCardToken } from '../canonical/replaced-card.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import { sexedTitle } from '../persons/fold.ts';
import { withoutRepeated } from '../persons/identifiers.ts';
import { readEmail } from './email.ts';
import { readNames } from './name.ts';
import type { NameRegions } from './name-rules.ts';
import { type PhoneBasis, readPhone } from './phone.ts';
import { saysNothing } from './text.ts';

export interface NormalizeContext {
  /** The integration's country: the region of a local phone number if the guest's nationality does not decide it. */
  readonly country?: string | undefined;
}

/**
 * Cleans ids, names, e-mail addresses and phone numbers of a checked record's guests. Each change leaves a note. An unchanged record is
 * returned as the same object; normalizing twice equals once. `isClean`: each value is clean, but a name and a nationality may have come in
 * different messages.
 */
export function normalizeReservation(
  reservation: Reservation,
  context: NormalizeContext,
  isClean = false,
): { reservation: Reservation; notes: Note[] } {
  const notes: Note[] = [];
  const country = context.country?.toUpperCase();
  let guests: Guest[] | undefined;
  const emptied: Guest[] = [];
  for (let index = 0; index < reservation.guests.length; index++) {
    const guest = reservation.guests[index] as Guest;
    const cleaning = new Cleaning(guest, index, notes);
    const done = isClean ? withNames(cleaning, country) : cleaned(cleaning, country);
    if (done === guest) continue;
    guests ??= [...reservation.guests];
    guests[index] = done;
    if (isEmptyGuest(done)) emptied.push(done);
  }
  // A guest with only a placeholder as name is left out. One that was empty before is an erased guest; its place stays.
  const named = emptied.length === 0 ? guests : guests?.filter((guest) => !emptied.includes(guest));
  const stated = named ?? reservation.guests;
  const persons = withoutRepeated(stated);
  if (persons !== stated)
    notes.push(noteOf('guest_repeated', 'guests', { before: stated.length, after: persons.length }));
  return { reservation: persons === reservation.guests ? reservation : { ...reservation, guests: persons }, notes };
}

/** One guest outside a reservation, from a guest.updated event. */
export function normalizeGuest(guest: Guest, context: NormalizeContext): { guest: Guest; notes: Note[] } {
  const notes: Note[] = [];
  return { guest: cleaned(new Cleaning(guest, undefined, notes), context.country?.toUpperCase()), notes };
}

function cleaned(cleaning: Cleaning, country: string | undefined): Guest {
  cleanId(cleaning);
  cleanNationality(cleaning);
  const regions = { nationality: cleaning.guest.nationality, country };
  cleanNames(cleaning, regions);
  cleanEmail(cleaning);
  cleanPhone(cleaning, regions);
  return cleaning.outcome();
}

function withNames(cleaning: Cleaning, country: string | undefined): Guest {
  cleanNames(cleaning, { nationality: cleaning.guest.nationality, country });
  return cleaning.outcome();
}

/** The rules of a guest's fields, each applied to the guest while it is cleaned. */

/** Zeros, also as a GUID, -1, a flag. Each would match many guests as one person. */
const noId = /^(?:[0-]+|-1|true|false)$/i;

function cleanId(cleaning: Cleaning): void {
  const given = cleaning.guest.guest_id;
  if (given === undefined || !(noId.test(given) || saysNothing(given) || hasCardToken.test(given))) return;
  cleaning.guest.guest_id = undefined;
  cleaning.note('guest_id', 'guest_id_placeholder', { before: given });
}

function cleanNationality(cleaning: Cleaning): void {
  const given = cleaning.guest.nationality;
  if (given === undefined || (given.length === 2 && capitals.test(given))) return;
  const upper = given.trim().toUpperCase();
  if (!capitals.test(upper)) return;
  cleaning.guest.nationality = upper;
  cleaning.note('nationality', 'nationality_case', { before: given, after: upper });
}
const capitals = /^[A-Z]{2}$/;

/** Reading names and numbers is most of the work, and each change of a booking brings the same ones again. */
const mostKnown = 5_000;
const knownNames = new Map<string, ReturnType<typeof readNames>>();
const knownPhones = new Map<string, ReturnType<typeof readPhone>>();

/** The result for a text made from the arguments. Forgets all of them when there are too many. */
function remembered<Of>(known: Map<string, Of>, key: string, read: () => Of): Of {
  if (known.size > mostKnown) known.clear();
  return known.getOrInsertComputed(key, read);
}

function cleanNames(cleaning: Cleaning, regions: NameRegions): void {
  const { first_name, last_name } = cleaning.guest;
  if (first_name === undefined && last_name === undefined) return;
  const key = JSON.stringify([first_name, last_name, regions]);
  const { names, changes } = remembered(knownNames, key, () => readNames({ first_name, last_name }, regions));
  if (changes.length === 0) return;
  cleaning.guest.first_name = names.first_name;
  cleaning.guest.last_name = names.last_name;
  for (const { field, rule, before, after } of changes) cleaning.note(field, rule, { before, after });
  const isUntitled = changes.some(({ rule }) => rule === 'name_title_removed');
  if (!isUntitled || names.first_name !== undefined || names.last_name === undefined) return;
  const { title = '' } = sexedTitle(`${first_name ?? ''} ${last_name ?? ''}`) ?? {};
  if (title !== '') cleaning.guest.title = `${title.slice(0, 1).toUpperCase()}${title.slice(1).toLowerCase()}`;
}

function cleanEmail(cleaning: Cleaning): void {
  const given = cleaning.guest.email;
  if (given === undefined) return;
  const reading = readEmail(given);
  if (reading.kind === 'address') {
    if (reading.address !== given) {
      cleaning.guest.email = reading.address;
      const code = reading.several ? 'email_first_of_several' : 'email_tidied';
      cleaning.note('email', code, { before: given, after: reading.address });
    }
    if (reading.proxy && cleaning.guest.email_proxy !== true) {
      cleaning.guest.email_proxy = true;
      cleaning.note('email_proxy', 'email_proxy', { after: true });
    }
    return;
  }
  cleaning.guest.email = undefined;
  cleaning.guest.email_proxy = undefined;
  if (reading.kind === 'nothing') cleaning.note('email', 'email_placeholder', { before: given });
  else {
    cleaning.guest.email_raw = given;
    cleaning.note('email', reading.why === 'made_up' ? 'email_made_up' : 'email_invalid', { before: given });
  }
}

function cleanPhone(cleaning: Cleaning, regions: NameRegions): void {
  const given = cleaning.guest.phone;
  if (given === undefined) return;
  const key = JSON.stringify([given, regions]);
  const reading = remembered(knownPhones, key, () => readPhone(given, regions));
  if (reading.kind === 'number') {
    const { e164, by, several, extension } = reading;
    if (e164 === given) return;
    cleaning.guest.phone = e164;
    if (several) cleaning.note('phone', 'phone_first_of_several', { before: given, after: e164 });
    else cleaning.note('phone', 'phone_to_e164', { before: given, after: e164, reason: readAs[by] });
    if (extension) cleaning.note('phone', 'phone_extension_removed', { before: given, after: e164 });
    return;
  }
  cleaning.guest.phone = undefined;
  if (reading.kind === 'nothing') cleaning.note('phone', 'phone_placeholder', { before: given });
  else {
    cleaning.guest.phone_raw = given;
    cleaning.note('phone', 'phone_impossible', { before: given });
  }
}

const readAs: Partial<Readonly<Record<PhoneBasis, string>>> = {
  nationality: 'Written in the international form E.164, read as a number of the guest’s nationality.',
  country: 'Written in the international form E.164, read as a number of the property’s country.',
  code: 'Written in the international form E.164; its digits begin with a country code.',
};

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
