import type { Json, Note } from '../../terms.ts';

/** Every kind of note: the step that makes it, and its sentence unless every note brings its own. */
const kinds = {
  requested_by_id: ['shape', 'The partner was asked for this reservation by its id.'],
  flat_conflict: ['shape'],
  join_missing: ['shape'],
  empty_item: ['shape', 'An item in which no mapped field has a value was left out.'],
  invalid_dropped: ['shape', 'The value broke the rule of its field and was left out, as the connector requests.'],
  placeholder_date: ['shape', 'The date is a placeholder for "no date"; it was read as empty.'],
  country_to_code: ['shape', 'The country was written as a two-letter code.'],
  currency_to_code: ['shape', 'The currency was written in capitals.'],
  card_removed: ['shape', 'Card data was replaced before this was stored; the last four digits of a number are kept.'],
  guest_id_placeholder: ['normalize', 'The text is a placeholder, not an id.'],
  guest_repeated: ['normalize', 'The list named a guest more than once.'],
  nationality_case: ['normalize', 'Country codes are written in capitals.'],
  name_tidied: ['normalize', 'Spaces, invisible characters and stray punctuation were cleaned up.'],
  name_placeholder: ['normalize', 'The text is a placeholder, not a name.'],
  name_split: ['normalize', 'Family name and given name were in one field.'],
  name_title_removed: ['normalize', 'A title is not part of the name.'],
  name_first_of_two: ['normalize', 'The field named two people; the first is kept.'],
  name_case: ['normalize', 'The name was all upper case or all lower case.'],
  email_tidied: ['normalize', 'The address was trimmed and lower-cased.'],
  email_first_of_several: ['normalize', 'The field held several addresses; the first valid one is kept.'],
  email_proxy: ['normalize', 'The address is an alias created by a booking site: it is never used to match guests.'],
  email_placeholder: ['normalize', 'The text is a placeholder, not an address.'],
  email_made_up: ['normalize', 'The address is a dummy typed to fill the field; it is kept as email_raw.'],
  email_invalid: ['normalize', 'The text is not a valid address; it is kept as email_raw.'],
  phone_to_e164: ['normalize', 'Written in the international form E.164.'],
  phone_first_of_several: ['normalize', 'The field held several numbers; the first possible one is kept.'],
  phone_extension_removed: ['normalize', 'E.164 has no extensions; the extension was removed.'],
  phone_placeholder: ['normalize', 'The text is a placeholder, not a number.'],
  phone_impossible: ['normalize', 'The number is not valid in any numbering plan; it is kept as phone_raw.'],
  rule_set: ['transform'],
  rule_removed: ['transform'],
  rule_item_dropped: ['transform'],
  removed: ['transform'],
  status_from_event: ['shape', 'The event is reservation.cancelled and its payload has no final status.'],
  gone_is_cancelled: [
    'reconcile',
    'The partner no longer has this reservation, and the connector treats such a reservation as cancelled (gone: cancelled).',
  ],
  consent_given: ['reconcile'],
  consent_withdrawn: ['reconcile'],
  profile_edited: ['reconcile'],
  held: ['reconcile'],
  refused: ['reconcile', 'This value was refused: it is dropped.'],
  guest_updated: ['reconcile', 'The guest’s own profile changed.'],
} as const satisfies { readonly [code: string]: readonly [step: Note['step'], sentence?: string] };

export type NoteCode = keyof typeof kinds;

interface NoteValues {
  readonly before?: Json | undefined;
  readonly after?: Json | undefined;
  /** Instead of the sentence of the code. */
  readonly reason?: string | undefined;
}

export function noteOf(code: NoteCode, field: string, { before, after, reason }: NoteValues = {}): Note {
  const values = { ...(before !== undefined && { before }), ...(after !== undefined && { after }) };
  return { step: stepOf(code), field, code, reason: reason ?? sentenceOf(code) ?? '', ...values };
}

/** The list no longer shows the booking. */
export const isAbsence = ({ code }: Note): boolean => code === ('gone_is_cancelled' satisfies NoteCode);

/** As it is stored, without what the code tells: [code, field, before, after, reason], up to the last that there is. */
export type PackedNote = readonly [code: string, field: string, ...rest: (Json | undefined)[]];

export function packedNote({ code, field, reason, before, after }: Note): PackedNote {
  if (reason !== sentenceOf(code)) return [code, field, before, after, reason];
  if (after !== undefined) return [code, field, before, after];
  return before === undefined ? [code, field] : [code, field, before];
}

export function unpackedNote([code, field, before, after, reason]: PackedNote): Note {
  const note = { step: stepOf(code), field, code, reason: (reason as string | undefined) ?? sentenceOf(code) ?? '' };
  return { ...note, ...((before ?? null) !== null && { before }), ...((after ?? null) !== null && { after }) } as Note;
}

const isKnown = (code: string): code is NoteCode => Object.hasOwn(kinds, code);
const sentenceOf = (code: string): string | undefined => (isKnown(code) ? kinds[code][1] : undefined);
/** Notes about sources have the codes of the sources. */
const stepOf = (code: string): Note['step'] => (isKnown(code) ? kinds[code][0] : 'reconcile');
