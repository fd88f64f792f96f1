import { fields } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import { areOneGeneration, fullNames, listedNames } from './names.ts';

/**
 * Whether two elements of one list mention one person twice, as partners repeat who booked for every room: with the full name and an
 * address or number in common, and nothing that both state differs.
 */
export const isRepeated = (a: Guest, b: Guest): boolean =>
  addressesOf(a).some((address) => addressesOf(b).includes(address)) &&
  fullNames(a).some((name) => fullNames(b).includes(name)) &&
  areOneGeneration(a, b) &&
  !differ(a, b);

/** One element for each person, at the first place, with what all mentions state. Somebody who may be either of two namesakes stays. */
export function withoutRepeated(list: Guest[]): Guest[] {
  const addresses = list.flatMap(addressesOf);
  if (new Set(addresses).size === addresses.length) return list;
  const named = (address: string | undefined, name: string | undefined) => address && name && `${address} ${name}`;
  return [
    (one: Guest) => named(addressesOf(one)[0] && JSON.stringify(one), fullNames(one)[0]),
    (one: Guest) => named(one.email, listedNames(one)[0]),
    (one: Guest) => named(one.email, listedNames(one).at(-1)),
    (one: Guest) => named(one.phone, listedNames(one)[0]),
    (one: Guest) => named(one.phone, listedNames(one).at(-1)),
  ].reduce(joinedBy, list);
}

/** Elements with one key become one, unless two of them differ. Linear: 500 guests may have one number. */
function joinedBy(list: Guest[], keyOf: (guest: Guest) => string | undefined): Guest[] {
  const persons = new Map<string, { readonly guest: Guest; readonly isOne: boolean }>();
  const keys = list.map(keyOf);
  for (const [place, guest] of list.entries()) {
    const [key = '', known] = [keys[place], persons.get(keys[place] ?? '')];
    if (known === undefined) persons.set(key, { guest, isOne: true });
    else persons.set(key, { guest: joined(known.guest, guest), isOne: known.isOne && !differ(known.guest, guest) });
  }
  return list.flatMap((guest, place) => {
    const key = keys[place];
    const person = key ? persons.get(key) : undefined;
    if (!person?.isOne) return [guest];
    return keys.indexOf(key) === place ? [person.guest] : [];
  });
}

function joined(one: Guest, other: Guest): Guest {
  const both = { ...other, ...one, ...((one.extra ?? other.extra) && { extra: { ...other.extra, ...one.extra } }) };
  const inOrder = (Object.keys(fields.guests) as (keyof Guest)[]).filter((field) => both[field] !== undefined);
  return Object.fromEntries(inOrder.map((field) => [field, both[field]]));
}

const addressesOf = ({ email, phone }: Guest): string[] => [email, phone].filter((one) => one !== undefined);

const differ = (a: object, b: { readonly [field: string]: unknown }): boolean =>
  Object.entries(a).some(([field, value]) => {
    const other = b[field];
    if (value === undefined || other === undefined || field === 'first_name' || field === 'last_name') return false;
    return field === 'extra' ? differ(value, other as Guest) : JSON.stringify(value) !== JSON.stringify(other);
  });
