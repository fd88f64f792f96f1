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

/**
 * One element for each person, at the first place, with what all mentions state; the same list if nobody is repeated. Somebody who may be
 * either of two namesakes stays. Linear: 500 guests may have one number.
 */
export function withoutRepeated(list: Guest[]): Guest[] {
  const addresses = list.flatMap(addressesOf);
  if (new Set(addresses).size === addresses.length) return list;
  const named = (address: string | undefined, name: string | undefined) => address && name && `${address} ${name}`;
  const persons = [
    (one: Guest) => named(addressesOf(one)[0] && JSON.stringify(one), fullNames(one)[0]),
    (one: Guest) => named(one.email, listedNames(one)[0]),
    (one: Guest) => named(one.email, listedNames(one).at(-1)),
    (one: Guest) => named(one.phone, listedNames(one)[0]),
    (one: Guest) => named(one.phone, listedNames(one).at(-1)),
  ].reduce(joinedBy, list);
  return persons.length === list.length ? list : persons;
}

/** Elements with one key become one, unless two of them differ. */
function joinedBy(list: Guest[], keyOf: (guest: Guest) => string | undefined): Guest[] {
  const joint = (one: Guest | undefined, other: Guest | undefined) =>
    one && other && !differ(one, other) ? joined(one, other) : undefined;
  const groups: Map<string | undefined, (Guest | undefined)[]> = Map.groupBy(list, keyOf);
  const persons = new Map([...groups].map(([key, group]) => [key, key ? group.reduce(joint) : undefined]));
  const taken = new Set<Guest>();
  return list.flatMap((guest) => {
    const person = persons.get(keyOf(guest));
    if (person === undefined) return [guest];
    if (taken.has(person)) return [];
    taken.add(person);
    return [person];
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
