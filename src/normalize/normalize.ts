import { type Guest, guestSchema, type Reservation } from '../canonical/reservation.ts';
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
 * back as the same object; a second time never changes anything.
 */
export function normalizeReservation(
  reservation: Reservation,
  context: NormalizeContext,
): { reservation: Reservation; notes: Note[] } {
  const notes: Note[] = [];
  let guests: Guest[] | undefined;
  for (const [index, guest] of reservation.guests.entries()) {
    const clean = normalizeGuest(guest, context, `guests[${index}].`);
    if (clean.guest === guest) continue;
    guests ??= [...reservation.guests];
    guests[index] = clean.guest;
    notes.push(...clean.notes);
  }
  return { reservation: guests ? { ...reservation, guests } : reservation, notes };
}

/** One guest, of a reservation (`guests[0].`) or of an event of its own (no prefix). */
export function normalizeGuest(
  guest: Guest,
  context: NormalizeContext,
  fieldPrefix = '',
): { guest: Guest; notes: Note[] } {
  const notes: Note[] = [];
  const prefix = fieldPrefix === '' || fieldPrefix.endsWith('.') ? fieldPrefix : `${fieldPrefix}.`;
  const note = (
    field: string,
    code: string,
    reason: string,
    before: Json | undefined,
    after: Json | undefined,
  ): void => {
    notes.push({
      step: 'normalize',
      field: prefix + field,
      code,
      reason,
      ...(before === undefined ? {} : { before }),
      ...(after === undefined ? {} : { after }),
    });
  };

  const draft: Draft = { ...guest };
  cleanNationality(draft, note);
  const regions = { nationality: draft.nationality, country: context.country?.toUpperCase() };
  cleanNames(draft, regions, note);
  cleanEmail(draft, note);
  cleanPhone(draft, regions, note);
  return notes.length === 0 ? { guest, notes } : { guest: inSchemaOrder(draft), notes };
}

type Draft = { -readonly [Key in keyof Guest]: Guest[Key] | undefined };
type AddNote = (field: string, code: string, reason: string, before: Json | undefined, after: Json | undefined) => void;
interface Regions {
  readonly nationality: string | undefined;
  readonly country: string | undefined;
}

function cleanNationality(draft: Draft, note: AddNote): void {
  const given = draft.nationality;
  const upper = given?.trim().toUpperCase();
  if (given === undefined || upper === given || upper === undefined || !/^[A-Z]{2}$/.test(upper)) return;
  draft.nationality = upper;
  note('nationality', 'nationality_case', 'Country codes are written in capitals.', given, upper);
}

const nameReasons: Readonly<Record<NameRule, string>> = {
  name_tidied: 'Spaces, invisible characters and stray marks were put in order.',
  name_placeholder: 'The text stands for a name that is not known.',
  name_split: 'Family and given name stood in one field.',
  name_title_removed: 'A form of address is not part of the name.',
  name_first_of_two: 'Two people stood in one field; the first is kept.',
  name_case: 'The name came in one case only.',
};

function cleanNames(draft: Draft, regions: Regions, note: AddNote): void {
  if (draft.first_name === undefined && draft.last_name === undefined) return;
  const { names, changes } = readNames({ first_name: draft.first_name, last_name: draft.last_name }, regions);
  if (changes.length === 0) return;
  draft.first_name = names.first_name;
  draft.last_name = names.last_name;
  for (const { field, rule, before, after } of changes) note(field, rule, nameReasons[rule], before, after);
}

function cleanEmail(draft: Draft, note: AddNote): void {
  const given = draft.email;
  if (given === undefined) return;
  const reading = readEmail(given);
  if (reading.kind === 'address') {
    if (reading.address !== given) {
      draft.email = reading.address;
      if (reading.several)
        note(
          'email',
          'email_first_of_several',
          'The field held several addresses; the first valid one is kept.',
          given,
          reading.address,
        );
      else note('email', 'email_tidied', 'The address was brought into its plain form.', given, reading.address);
    }
    if (reading.proxy && draft.email_proxy !== true) {
      draft.email_proxy = true;
      note(
        'email_proxy',
        'email_proxy',
        'The address is an alias made up by a booking site: it is never used to match guests.',
        undefined,
        true,
      );
    }
    return;
  }
  draft.email = undefined;
  draft.email_proxy = undefined;
  if (reading.kind === 'nothing') {
    note('email', 'email_placeholder', 'The text stands for an address that is not known.', given, undefined);
    return;
  }
  draft.email_raw = given;
  if (reading.why === 'made_up')
    note(
      'email',
      'email_made_up',
      'The address was typed to fill the field; it is kept as email_raw.',
      given,
      undefined,
    );
  else note('email', 'email_invalid', 'The text is no valid address; it is kept as email_raw.', given, undefined);
}

const phoneReasons: Readonly<Record<PhoneBasis, string>> = {
  international: 'Written in the international form E.164.',
  nationality: 'Written in the international form E.164, read as a number of the guest’s nationality.',
  country: 'Written in the international form E.164, read as a number of the property’s country.',
};

function cleanPhone(draft: Draft, regions: Regions, note: AddNote): void {
  const given = draft.phone;
  if (given === undefined) return;
  const reading = readPhone(given, regions);
  if (reading.kind === 'number') {
    if (reading.e164 === given) return;
    draft.phone = reading.e164;
    if (reading.several)
      note(
        'phone',
        'phone_first_of_several',
        'The field held several numbers; the first possible one is kept.',
        given,
        reading.e164,
      );
    else note('phone', 'phone_to_e164', phoneReasons[reading.by], given, reading.e164);
    if (reading.extension)
      note(
        'phone',
        'phone_extension_removed',
        'An extension cannot be part of E.164; it is left out.',
        given,
        reading.e164,
      );
    return;
  }
  draft.phone = undefined;
  if (reading.kind === 'nothing') {
    note('phone', 'phone_placeholder', 'The text stands for a number that is not known.', given, undefined);
    return;
  }
  draft.phone_raw = given;
  note('phone', 'phone_impossible', 'No numbering plan has this number; it is kept as phone_raw.', given, undefined);
}

const fieldOrder = Object.keys(guestSchema.shape) as readonly (keyof Guest)[];

/** Equal guests must have equal text, so the keys stand in the schema's order whatever was added. */
function inSchemaOrder(draft: Draft): Guest {
  const ordered: Record<string, unknown> = {};
  for (const field of fieldOrder) if (draft[field] !== undefined) ordered[field] = draft[field];
  return ordered as Guest;
}
