import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { phonePartsOf } from './dial-code.ts';
import { child, emptied, keysOf, type Leaf, type LeafPlace } from './leaf.ts';
import { withoutNoise, wordSet, wordsOf } from './words.ts';

/** Lists of objects that are read like fields: contacts of one person, and members that name their own type. */

type Lists = readonly (Json[] | undefined)[];

const contactLooks: readonly { readonly names: ReadonlySet<string>; readonly look: RegExp }[] = [
  { names: wordSet('email emails mail mails'), look: /^[^@\s]+@[^@\s]+\.[^@\s]+$/ },
  {
    names: wordSet('phone phones telephone telephones mobile mobiles'),
    look: /^[+(]?[\d\s().\-/]{6,24}$/,
  },
];

/** A list of addresses or numbers of one person: the one marked as default or primary, else the first. */
export function contactLeaf(lists: Lists, path: string, place: LeafPlace): Leaf[] {
  const { names, look } = contactLooks.find((one) => place.own.some((word) => one.names.has(word))) ?? {};
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const keys = innerKeys(members[0]);
  const contact = keys.find((key) =>
    members.every((member) => look?.test(String(emptied(valueIn(member, key)) ?? ''))),
  );
  if (names === undefined || contact === undefined) return [];
  const flag = keys.find(
    (key) => /default|primary|preferred|main/i.test(pathOf(key)) && members.some((one) => valueIn(one, key) === true),
  );
  const pick = (list: Json[] | undefined) => {
    const inside = (list ?? []).filter(isObject);
    return (flag === undefined ? undefined : inside.find((member) => valueIn(member, flag) === true)) ?? inside[0];
  };
  const value = pathOf(contact);
  const first = `${path}[0].${value}`;
  const beside = keys.map((key) => ({
    path: pathOf(key),
    own: wordsOf(key.at(-1) ?? ''),
    values: members.map((member) => emptied(valueIn(member, key))),
  }));
  const parts = flag === undefined ? phonePartsOf(value, beside) : undefined;
  const source: Json =
    parts !== undefined
      ? { join: [...parts.map((part) => (typeof part === 'string' ? `${path}[0].${part}` : part)), first], with: '' }
      : flag === undefined
        ? first
        : { first: [{ pick: { from: path, where: { [pathOf(flag)]: true }, value } }, first] };
  const values = lists.map((list) => emptied(valueIn(pick(list), contact)));
  const own = place.own.filter((word) => !['addresses', 'numbers', 'info', 'list'].includes(word));
  return [{ path: first, source, ...place, own: own.map((word) => word.replace(/s$/, '')), values, kind: 'value' }];
}

type Inner = readonly [key: string, below?: string];

/** The keys of an object, and those of objects in it. */
function innerKeys(object: JsonObject = {}): Inner[] {
  return keysOf(object).flatMap((key): Inner[] => {
    const inner = object[key];
    return isObject(inner) ? keysOf(inner).map((below): Inner => [key, below]) : [[key]];
  });
}

const pathOf = (keys: Inner): string => keys.reduce<string>((path, key) => child(path, key ?? ''), '');

function valueIn(object: JsonObject | undefined, [key, below]: Inner): Json | undefined {
  const value = object?.[key];
  return below === undefined ? value : isObject(value) ? value[below] : undefined;
}

const typeKeys = ['type', 'kind', 'name', 'code', 'idContext', 'key', 'label', 'use', 'handle', 'system'];
/** OpenTravel codes of age groups. */
const ageGroups: ReadonlyMap<string, readonly string[]> = new Map([
  ['10', ['adults']],
  ['8', ['children']],
  ['7', ['infants']],
]);
const typeWords = wordSet('type kind group category qualifier class');
const valueKeys = ['value', 'content', 'number', 'count', 'quantity', 'n', 'nombre', 'text', 'id', 'code', 'address'];
const rankOf = (key: string): number =>
  valueKeys.findIndex((one) => one === withoutSign(key) || one === wordsOf(key).join(' '));

/** In a list of counts of which only some have an age, those with one are children: [{ count: 2 }, { count: 1, age: 8 }]. */
export function agedLeaves(lists: Lists, path: string, { around, depth, own }: LeafPlace): Leaf[] {
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const keys = [...new Set(members.flatMap(keysOf))];
  const [age, count] = ['age', 'count'].map((word) => keys.find((key) => wordsOf(key).includes(word)));
  if (age === undefined || count === undefined || age === count) return [];
  if (new Set(members.map((one) => one[age] == null)).size < 2) return [];
  return (['adults', 'children'] as const).map((group) => {
    const isIn = (one: Json) => isObject(one) && (one[age] == null) === (group === 'adults');
    const sum = { from: path, where: { [child('', age)]: { exists: group === 'children' } }, value: child('', count) };
    const values = lists.map((list) =>
      list?.filter(isIn).reduce<number>((all, one) => all + Number((one as JsonObject)[count]), 0),
    );
    const place = { own: [group], around: [...around, ...own], depth };
    return { path: `${path}[${age}].${group}`, source: { sum }, ...place, values, kind: 'value' };
  });
}

const ageWords: readonly (readonly [string, RegExp])[] = [
  ['adults', /^(?:adults?|adt?|erwachsene[r]?|adulto?s?|adulte)$/i],
  ['children', /^(?:child(?:ren)?|chd?|infants?|inf|baby|youth|teen|kind|ni[nñ]o|enfant|bambino)$/i],
];

/** In a list of people that says of each whether it is an adult, they are counted. */
export function countedLeaves(lists: Lists, path: string, { around, depth, own }: LeafPlace): Leaf[] {
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const groupOf = (value: Json | undefined) => ageWords.find(([, look]) => look.test(String(value)))?.[0];
  const key = innerKeys(members[0]).find((one) => members.every((member) => groupOf(valueIn(member, one))));
  const isNamed = (inner: Inner) => wordsOf(pathOf(inner)).some((word) => word === 'name' || word === 'surname');
  if (key === undefined || !innerKeys(members[0]).some((inner) => inner !== key && isNamed(inner))) return [];
  return ageWords.map(([group]) => {
    const words = [...new Set(members.map((member) => valueIn(member, key)))].filter((one) => groupOf(one) === group);
    const count = { from: path, where: { [pathOf(key)]: words as Json[] } };
    const values = lists.map(
      (list) => list?.filter((one) => isObject(one) && words.includes(valueIn(one, key))).length,
    );
    const place = { path: `${path}[].${group}`, own: [], around: [...around, ...own], depth };
    return { ...place, source: { count }, counts: group, values, kind: 'value' };
  });
}

/** In a list such as [{ type: Confirmation, id: 88 }] each type is a field of that name. */
export function typedLeaves(lists: Lists, path: string, { own, around, depth }: LeafPlace): Leaf[] {
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const keys = keysOf(members[0] ?? {}).filter((key) => isPlain(members[0]?.[key]));
  const type =
    keys.find((key) => typeKeys.includes(withoutSign(key))) ??
    keys.find((key) => typeWords.has(wordsOf(key).at(-1) ?? '') || isAgeGroup(key));
  const others = keys.filter((key) => key !== type);
  const numbers = others.filter((key) => members.every((member) => /^\d+$/.test(String(member[key]))));
  const value =
    others.filter((key) => rankOf(key) >= 0).sort((a, b) => rankOf(a) - rankOf(b))[0] ??
    (numbers.length === 1 ? numbers[0] : undefined);
  if (type === undefined || value === undefined) return [];
  const types = [...new Set(members.map((member) => member[type]))].filter((name) => typeof name === 'string');
  if (types.length === 0 || types.length > 12) return [];
  return types.map((name) => {
    const where = { [child('', type)]: name };
    const pick = (list: Json[] | undefined) => list?.find((member) => isObject(member) && member[type] === name);
    const values = lists.map((list) => {
      const member = pick(list);
      return isObject(member) ? emptied(member[value]) : undefined;
    });
    // A number does not describe the member; the name of the list does.
    const named = /^\d+$/.test(name) ? own : withoutNoise(wordsOf(name));
    const words = isAgeGroup(type) ? (ageGroups.get(name) ?? named) : named;
    const source = { pick: { from: path, where, value: child('', value) } };
    return {
      path: `${path}[${type}=${name}].${value}`,
      source,
      own: words,
      around: [...around, ...own],
      values,
      kind: 'value',
      depth,
    };
  });
}

const isAgeGroup = (key: string) => /^age.*code$/i.test(key);
const withoutSign = (key: string) =>
  key.replace(/^[@_#]/, '').replace(/^(?:\p{Lu}+$|\p{Lu}(?!\p{Lu}))/u, (first) => first.toLowerCase());
const isPlain = (value: Json | undefined) => value !== undefined && typeof value !== 'object';
