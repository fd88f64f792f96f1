import type { Status } from './reservation.ts';

/** The spellings that need no value map, without case, spaces and separators. Anything else is the connector's to say. */
const spellings: ReadonlyMap<string, Status> = new Map([
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
