import type { Json } from '../../terms.ts';
import type { ListName } from '../canonical/fields.ts';
import type { Guest } from '../canonical/reservation.ts';
import { statedGuest } from '../canonical/stated-guest.ts';
import { sharedAmong } from '../persons/identifiers.ts';
import { listedNames } from '../persons/names.ts';
import { type Between, type Comparison, samePerson } from '../persons/same-person.ts';
import type { Values } from './content.ts';
import { isEqual } from './difference.ts';

/** What identifies an element of a list: its key, and of each source its current and earlier values. */
export interface ItemIdentity {
  readonly key?: string | undefined;
  readonly looks: readonly (readonly Values[])[];
}

/**
 * Which elements of two lists are the same thing: for each of `others` its place in `base`, or undefined. Keys are tried from the
 * strongest to the weakest, each over the whole list before the next one, and an element is matched once. Linear in the lists'
 * lengths. `behind`: the other elements, where some are compared that are not in the lists any more: places have nothing to do with each other
 * there, and an address that one of the others has identifies nobody.
 *
 *   guest    the same person (`persons/same-person.ts`): by id; by name with e-mail or phone; by name; by e-mail; by phone;
 *            by position
 *   room     the partner's id; dates and type; type where one of the two has no dates; position unless dates and type both differ
 *   charge   the partner's id; code and description; code where one of the two has no description; description where one of the two
 *            has no code; position where one of the two has no code, unless the descriptions differ
 */
export function matchItems(
  list: ListName,
  base: readonly ItemIdentity[],
  others: readonly ItemIdentity[],
  isOneSource = false,
  behind?: readonly ItemIdentity[],
): (number | undefined)[] {
  if (base.length === 0 || others.length === 0) return others.map(() => undefined);
  // The usual case: two statements mention the same elements with the same values.
  if (behind === undefined && areEqual(base, others)) return others.map((_, place) => place);
  return isOneSource || haveKeysInCommon(base, others)
    ? match(list, base, others, behind)
    : match(list, base.map(withoutKey), others.map(withoutKey), behind);
}

function areEqual(base: readonly ItemIdentity[], others: readonly ItemIdentity[]): boolean {
  const only = ({ looks: [look, second] }: ItemIdentity) =>
    second === undefined && look?.length === 1 ? look[0] : undefined;
  return (
    base.length === others.length &&
    base.every((item, place) => {
      const other = others[place] as ItemIdentity;
      const [a, b] = [only(item), only(other)];
      return a !== undefined && b !== undefined && item.key === other.key && isEqual(a, b);
    })
  );
}

/** If lists of two sources share no key, they may come from different numbering systems, and the keys are ignored. */
function haveKeysInCommon(base: readonly ItemIdentity[], others: readonly ItemIdentity[]): boolean {
  const known = new Set(base.flatMap(({ key }) => key ?? []));
  return known.size > 0 && others.some(({ key }) => key !== undefined && known.has(key));
}

const withoutKey = (item: ItemIdentity): ItemIdentity => (item.key === undefined ? item : { looks: item.looks });

function match(
  list: ListName,
  base: readonly ItemIdentity[],
  others: readonly ItemIdentity[],
  behind: readonly ItemIdentity[] | undefined,
): (number | undefined)[] {
  const { keys, fitsAtPlace } = list === 'guests' ? guestRules(base, others, behind) : rules[list];
  const matched: (number | undefined)[] = new Array(others.length).fill(undefined);
  const taken: boolean[] = new Array(base.length);
  let open = Math.min(base.length, others.length);
  for (const { keyOf, fits } of keys) {
    if (open === 0) break;
    const places = new Map<string, number[]>();
    for (const [place, item] of base.entries()) {
      if (taken[place]) continue;
      for (const key of keysOf(item, keyOf)) places.getOrInsertComputed(key, () => []).push(place);
    }
    if (places.size === 0) continue;
    for (const [index, item] of others.entries()) {
      if (matched[index] !== undefined) continue;
      const place = firstFitting(places, keysOf(item, keyOf), taken, (one) => fits(base[one] as ItemIdentity, item));
      if (place === undefined) continue;
      matched[index] = place;
      taken[place] = true;
      open--;
    }
  }
  for (let place = 0; behind === undefined && place < Math.min(base.length, others.length); place++) {
    if (taken[place] || matched[place] !== undefined) continue;
    if (fitsAtPlace(base[place] as ItemIdentity, others[place] as ItemIdentity)) matched[place] = place;
  }
  return matched;
}

/** Matched places are removed from the front of the line, so that many elements with one key are not compared again. */
function firstFitting(
  places: ReadonlyMap<string, number[]>,
  keys: ReadonlySet<string>,
  taken: readonly boolean[],
  fits: (place: number) => boolean,
): number | undefined {
  for (const key of keys) {
    const line = places.get(key);
    if (line === undefined) continue;
    while (line[0] !== undefined && taken[line[0]]) line.shift();
    const nearest = line.slice(0, mostCompared).find((place) => !taken[place] && fits(place));
    if (nearest !== undefined) return nearest;
  }
  return undefined;
}

/** How many elements that share a key are compared, such as a family with one address. A limit keeps the cost linear. */
const mostCompared = 20;

type KeyOf = (values: Values, item: ItemIdentity) => string | undefined;
type Fits = (base: ItemIdentity, other: ItemIdentity) => boolean;

interface Rules {
  readonly keys: readonly { readonly keyOf: KeyOf; readonly fits: Fits }[];
  readonly fitsAtPlace: Fits;
}

function keysOf(item: ItemIdentity, keyOf: KeyOf): ReadonlySet<string> {
  const keys = new Set<string>();
  for (const look of item.looks.flat()) {
    const key = keyOf(look, item);
    if (key !== undefined) keys.add(key);
  }
  return keys;
}

const text = (value: Json | undefined): string | undefined =>
  value === undefined || value === null || value === '' ? undefined : String(value).toLowerCase();

/** All of them, or none. */
const together = (...values: (Json | undefined)[]): string | undefined => {
  const texts = values.map(text);
  return texts.includes(undefined) ? undefined : JSON.stringify(texts);
};

const byKey: KeyOf = (_, { key }) => key;

/** Both elements have a value, and no value of one equals a value of the other. */
function differ(a: ItemIdentity, b: ItemIdentity, of: (values: Values) => string | undefined): boolean {
  const [known = [], others = []] = [a, b].map(({ looks }) => looks.flat().flatMap((look) => of(look) ?? []));
  return known.length > 0 && others.length > 0 && !others.some((one) => known.includes(one));
}

const keysDiffer = (a: ItemIdentity, b: ItemIdentity): boolean =>
  a.key !== undefined && b.key !== undefined && a.key !== b.key;
/** One of the two has no value. */
const lacks = (a: ItemIdentity, b: ItemIdentity, of: (values: Values) => string | undefined): boolean =>
  [a, b].some(({ looks }) => looks.flat().every((look) => of(look) === undefined));
const type = (values: Values): string | undefined => text(values.room_type);
const dates = ({ start_date, end_date }: Values): string | undefined => together(start_date, end_date);
const code = (values: Values): string | undefined => text(values.code);
const description = (values: Values): string | undefined => text(values.description);

/**
 * Guests are the same person at once or not at all: within the reservation, an address of different persons identifies nobody. A guest who is
 * different from what one source says about a person is not this person, whatever another source says.
 */
function guestRules(
  base: readonly ItemIdentity[],
  others: readonly ItemIdentity[],
  behind: readonly ItemIdentity[] = [],
): Rules {
  const all = [...base, ...others, ...behind].flatMap(({ looks }) => looks.flat().map(statedGuest));
  const newest = ({ looks }: ItemIdentity): Guest[] => (looks[0]?.slice(0, 1) ?? []).map(statedGuest);
  const lists = [base, others].map((items) => new Set(items.flatMap(newest)));
  const between = { isOneReservation: true, isShared: sharedAmong(all, {}, lists) };
  const areSame =
    (at: Between): Fits =>
    (a, b) => {
      const decisions = a.looks.flatMap((one) => b.looks.map((other) => decide(one, other, at)));
      return decisions.includes('same') && !decisions.includes('different');
    };
  const fits = areSame(between);
  const name = (values: Values): string | undefined => listedNames(statedGuest(values))[0];
  const spelled = (values: Values): string | undefined => listedNames(statedGuest(values)).at(-1);
  const keys: readonly KeyOf[] = [
    (values) => text(values.guest_id),
    (values) => together(name(values), values.email),
    (values) => together(name(values), values.phone),
    name,
    spelled,
    (values) => text(values.email),
    (values) => text(values.phone),
  ];
  // Where nothing tells the persons of one list apart, their places do, in a list of as many.
  const isAsLong = base.length === others.length;
  return {
    keys: keys.map((keyOf) => ({ keyOf, fits })),
    fitsAtPlace: areSame({ ...between, isOnePlace: true, ...(isAsLong && { isShared: sharedAmong(all) }) }),
  };
}

/** A guest whose name was corrected is the same person under the earlier name. */
function decide(one: readonly Values[], other: readonly Values[], between: Between): Comparison['is'] {
  const all = one.flatMap((a) => other.map((b) => samePerson(statedGuest(a), statedGuest(b), between).is));
  if (all.includes('same')) return 'same';
  return all.includes('unknown') ? 'unknown' : 'different';
}

const rules: { readonly [Name in Exclude<ListName, 'guests'>]: Rules } = {
  rooms: {
    keys: [
      { keyOf: byKey, fits: () => true },
      { keyOf: (values) => together(dates(values), type(values)), fits: (a, b) => !keysDiffer(a, b) },
      { keyOf: type, fits: (a, b) => !keysDiffer(a, b) && lacks(a, b, dates) },
    ],
    fitsAtPlace: (a, b) => !keysDiffer(a, b) && !(differ(a, b, dates) && differ(a, b, type)),
  },
  charges: {
    keys: [
      { keyOf: byKey, fits: () => true },
      { keyOf: (values) => together(code(values), description(values)), fits: (a, b) => !keysDiffer(a, b) },
      { keyOf: code, fits: (a, b) => !keysDiffer(a, b) && lacks(a, b, description) },
      { keyOf: description, fits: (a, b) => !keysDiffer(a, b) && lacks(a, b, code) },
    ],
    fitsAtPlace: (a, b) => !keysDiffer(a, b) && lacks(a, b, code) && !differ(a, b, description),
  },
};
