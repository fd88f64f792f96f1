import type { Status } from './reservation.ts';

/** The spellings that need no value map. The last ones stand for all that differ from them in case, spaces and separators; the first only spare the common ones that step. */
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

/** The canonical status of a spelling that is understood unlisted, or undefined. `other` is ours and no partner's spelling. */
export function readStatus(text: string): Status | undefined {
  return spellings.get(text) ?? spellings.get(foldSpelling(text));
}
