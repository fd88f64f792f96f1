export const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'] as const;
export type Status = (typeof statuses)[number];

/** Spellings that need no value map. Folded spellings (checkedin) cover every variant in case and separators; the unfolded ones are a shortcut for the common variants. */
const spellings: ReadonlyMap<string, Status> = new Map([
  ['checked_in', 'checked_in'],
  ['checked-in', 'checked_in'],
  ['checked_out', 'checked_out'],
  ['checked-out', 'checked_out'],
  ['no_show', 'no_show'],
  ['confirmed', 'confirmed'],
  ['checkedin', 'checked_in'],
  ['checkedout', 'checked_out'],
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['noshow', 'no_show'],
]);

/** Checked-In, CHECKED_IN and "checked in" are one spelling. */
export function foldSpelling(text: string): string {
  return text.toLowerCase().replace(/[\s_.\-‐-―]+/gu, '');
}

/** The canonical status of a spelling that needs no value map, or undefined. `other` is never a partner's spelling. */
export function readStatus(text: string): Status | undefined {
  return spellings.get(text) ?? spellings.get(foldSpelling(text));
}
