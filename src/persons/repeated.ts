import { fields } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import { listedNames } from './names.ts';

/**
 * Whether two elements of one list mention one person twice, as partners repeat who booked for every room: with the full name and an
 * address or number in common, and nothing that both state differs.
 */
export const isRepeated = (a: Guest, b: Guest): boolean =>
  ((a.email !== undefined && a.email === b.email) || (a.phone !== undefined && a.phone === b.phone)) &&
  listedNames(a).some((name) => listedNames(b).includes(name)) &&
  !differ(a, b);

/** One element for each person, at the first place, with what all mentions state. Somebody who may be either of two namesakes stays. */
export function withoutRepeated(list: Guest[]): Guest[] {
  for (const [place, one] of list.entries()) {
    const again = list.findIndex((other, i) => i > place && isRepeated(one, other) && !areSeveral(one, other, list));
    const other = list[again];
    if (other !== undefined) return withoutRepeated(list.with(place, joined(one, other)).toSpliced(again, 1));
  }
  return list;
}

const areSeveral = (one: Guest, other: Guest, list: readonly Guest[]): boolean =>
  list.some((third) => [one, other].some((a) => isRepeated(third, a)) && [one, other].some((a) => differ(third, a)));

function joined(one: Guest, other: Guest): Guest {
  const both = { ...other, ...one, ...((one.extra ?? other.extra) && { extra: { ...other.extra, ...one.extra } }) };
  const inOrder = (Object.keys(fields.guests) as (keyof Guest)[]).filter((field) => both[field] !== undefined);
  return Object.fromEntries(inOrder.map((field) => [field, both[field]]));
}

const differ = (a: object, b: { readonly [field: string]: unknown }): boolean =>
  Object.entries(a).some(([field, value]) => {
    const other = b[field];
    if (value === undefined || other === undefined || field === 'first_name' || field === 'last_name') return false;
    return field === 'extra' ? differ(value, other as Guest) : JSON.stringify(value) !== JSON.stringify(other);
  });
