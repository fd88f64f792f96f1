import { fields } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import { areOneGeneration, fullNameKey, fullNames, type Kind, kindOf, listedNames } from './names.ts';
import { type Between, type Mention, samePerson } from './same-person.ts';

/** What leads to a guest's profile: the partner's id, an e-mail address that is not an alias, a phone number. Strongest first. */
const keyKinds = ['guest_id', 'email', 'phone'] as const;
export type GuestKeyKind = (typeof keyKinds)[number];

export interface GuestKey {
  readonly kind: GuestKeyKind;
  readonly value: string;
}

export function guestKeys(guest: Guest): GuestKey[] {
  return keyKinds.flatMap((kind) => {
    const value = guest[kind];
    return value === undefined || value === '' || (kind === 'email' && guest.email_proxy) ? [] : [{ kind, value }];
  });
}

/** A key as text, for lookups. */
export const keyText = ({ kind, value }: GuestKey): string => `${kind}:${value}`;

export const keyTexts = (guest: Guest): string[] => guestKeys(guest).map(keyText);

/**
 * The id of a new profile, derived from its strongest key and its name. It stays when the guest's details change. `digest` hides the key,
 * because ids appear in logs. Undefined for a guest without a key: nothing could find the profile again.
 */
export function newProfileId(
  integration: string,
  guest: Guest,
  isTaken: (id: string) => boolean,
  digest: (text: string) => string,
): string | undefined {
  const [strongest] = guestKeys(guest);
  if (strongest === undefined) return undefined;
  const basis = [integration, strongest.kind, strongest.value, fullNameKey(guest) ?? ''];
  for (let count = 0; ; count++) {
    const id = `gst_${digest(JSON.stringify(count === 0 ? basis : [...basis, count])).slice(0, 24)}`;
    if (!isTaken(id)) return id;
  }
}

/** More persons at one address are not compared: it is shared long before. */
const mostCompared = 50;

/**
 * Which addresses, numbers and full names (`listedNames`) different persons have, among these mentions. Such an address identifies nobody
 * by itself: a travel agent types in the same one for every guest, and a family has one phone. Father and son may have one name. Two mentions
 * of one of `lists` are two persons, unless one is repeated. A company at the address of a person means that somebody without a name
 * may be either.
 */
export function sharedAmong(
  mentions: Iterable<Mention>,
  between: Between = {},
  lists: readonly ReadonlySet<Mention>[] = [],
): (address: string, kind?: Kind) => boolean {
  const having = new Map<string, Mention[]>();
  for (const mention of mentions) {
    for (const address of [...addressesOf(mention), ...listedNames(mention)]) {
      const others = having.getOrInsertComputed(address, () => []);
      if (others.length < mostCompared) others.push(mention);
    }
  }
  const shared = new Map<string, boolean>();
  return (address, kind) =>
    shared.getOrInsertComputed(`${kind} ${address}`, () => {
      const ofKind = having.get(address)?.filter((one) => kind === undefined || (kindOf(one) ?? kind) === kind);
      return hasDifferent(ofKind ?? [], between, lists);
    });
}

/** Two last names that no compatible name explains are two persons too: Weber, Ana and Weber, Rui. */
const hasDifferent = (mentions: readonly Mention[], between: Between, lists: readonly ReadonlySet<Mention>[]) =>
  mentions.some((one, i) =>
    mentions.slice(i + 1).some((other) => {
      const { is, because } = samePerson(one, other, between);
      const areListed =
        one !== other && lists.some((list) => list.has(one) && list.has(other)) && !isRepeated(one, other);
      return is === 'different' || because === 'other_last_name' || areListed;
    }),
  );

export const hasAddress = (mention: Mention, address: string): boolean => addressesOf(mention).includes(address);

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

const addressesOf = ({ email, phone }: Mention): string[] => [email, phone].filter((one) => one !== undefined);

const differ = (a: object, b: { readonly [field: string]: unknown }): boolean =>
  Object.entries(a).some(([field, value]) => {
    const other = b[field];
    if (value === undefined || other === undefined || field === 'first_name' || field === 'last_name') return false;
    return field === 'extra' ? differ(value, other as Guest) : JSON.stringify(value) !== JSON.stringify(other);
  });
