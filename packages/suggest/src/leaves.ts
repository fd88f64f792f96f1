import { isObject, type Json } from '../../../src/terms.ts';
import { daysOf } from './formats.ts';
import { areIds, child, emptied, keysOf, type Leaf, type LeafPlace, parentOf } from './leaf.ts';
import { agedLeaves, contactLeaf, countedLeaves, typedLeaves } from './list-leaves.ts';
import { withoutNoise, wordSet, wordsOf } from './words.ts';

const deepest = 6;

/** Every path of the items, through objects. Inner lists contribute their first value and their typed members. */
export function leavesOf(items: readonly Json[]): Leaf[] {
  const leaves: Leaf[] = [];
  visit(items, '', [], 0, leaves);
  return leaves.map((leaf) => ({ ...leaf, minor: isMinor(leaf, leaves), isLastNight: isLastNight(leaf, leaves) }));
}

const formattedKey = /(?:^|[._])(?:formatted|display|pretty|text)\w*$/i;

function isMinor(leaf: Leaf, leaves: readonly Leaf[]): boolean {
  const values = leaf.values.filter((value) => value !== undefined);
  if (leaf.kind !== 'value' || values.length === 0 || !values.every(Number.isInteger)) return false;
  const beside = leaves.filter((one) => one !== leaf && parentOf(one.path) === parentOf(leaf.path));
  if (beside.some(isScale) && leaf.own.some((word) => amountWords.has(word))) return true;
  const shown = beside.find(({ path }) => formattedKey.test(path));
  if (shown === undefined) return false;
  return leaf.values.every((value, index) => {
    const text = shown.values[index];
    if (typeof value !== 'number' || typeof text !== 'string') return value === undefined;
    const digits = text.replace(/\D/g, '').replace(/^0+(?=\d)/, '');
    return digits === String(Math.abs(value)) && (value === 0 || /[.,]\d{2,3}\D*$/.test(text));
  });
}

const amountWords = wordSet('amount total price value gross net sum');

/** How many digits of the amounts beside it are decimals, or the word for their unit. */
const isScale = ({ own, values }: Leaf): boolean =>
  (/^(?:scale|exponent|decimals|decimal places|decimal digits|minor units?)$/.test(own.join(' ')) &&
    values.every((value) => value === 2 || value === 3)) ||
  values.every((value) => /^(?:cents?|minor(?:.?units?)?|centavos|centimes|pence)$/i.test(String(value)));

/** Whether an end is the last of a list of consecutive days in every item, or of the rooms that have such a list. */
function isLastNight({ kind, own, values }: Leaf, leaves: readonly Leaf[]): boolean {
  if (kind !== 'value' || !own.some((word) => ['end', 'to', 'until', 'till', 'last'].includes(word))) return false;
  const lists = leaves.filter((leaf) => leaf.kind === 'many' && (leaf.isLastNight || leaf.own.join(' ') === 'date'));
  return lists.some((leaf) => {
    const nights = leaf.values.map((list) => daysOf((list ?? []) as Json[]));
    const isRun = (days: readonly number[]) => days.every((day, at) => at === 0 || day - 1 === days[at - 1]);
    const isNightly = nights.every(isRun) && nights.some((days) => days.length > 1);
    const lasts = daysOf(values);
    return (leaf.isLastNight || isNightly) && nights.every((days, at) => Math.max(...days) === lasts[at]);
  });
}

type Values = readonly (Json | undefined)[];

function visit(values: Values, path: string, around: readonly string[], depth: number, leaves: Leaf[]): void {
  const objects = values.filter(isObject);
  if (depth > deepest || objects.length === 0) return;
  const keys = [...new Set(objects.flatMap(keysOf))];
  if (depth > 0 && areIds(keys)) return;
  const prefix = prefixOf(keys);
  for (const key of keys) {
    const inner = withoutFalse(values.map((value) => (isObject(value) ? emptied(value[key]) : undefined)));
    const at = child(path, key);
    const all = withoutNoise(wordsOf(key));
    const isShared = all.length > 1 && all[0] === prefix;
    const own = isShared ? all.slice(1) : all;
    const place = { own, around: isShared ? [...around, prefix] : around, depth };
    if (inner.some(isObject)) visit(inner, at, [...around, ...all], depth + 1, leaves);
    else if (inner.some(Array.isArray)) visitList(inner, at, place, leaves);
    else leaves.push({ path: at, source: at, ...place, values: inner, kind: 'value' });
  }
}

/** The first word of most keys, such as the name of the table: it says nothing about a field. */
function prefixOf(keys: readonly string[]): string {
  const firsts = keys.map((key) => wordsOf(key)[0] ?? '');
  return firsts.find((word) => firsts.filter((one) => one === word).length > Math.max(4, keys.length * 0.6)) ?? '';
}

/** Some systems write `false` for an empty text or relation. */
function withoutFalse(values: Values): Values {
  const isMixed = values.includes(false) && values.some((value) => typeof value === 'string' || Array.isArray(value));
  return isMixed ? values.map((value) => (value === false ? undefined : value)) : values;
}

/** Lists of at most one that are read like an object: the property of a rental, the name of a person, the type of a room. */
const lettingWords = wordSet('property properties listing listings name names types plans source');

function visitList(values: Values, path: string, place: LeafPlace, leaves: Leaf[]): void {
  const lists = values.map((value) => (Array.isArray(value) ? value : undefined));
  const members = lists.flatMap((list) => list ?? []);
  if (members.some(isObject)) {
    leaves.push(
      ...typedLeaves(lists, path, place),
      ...agedLeaves(lists, path, place),
      ...countedLeaves(lists, path, place),
      ...innerLeaves(lists, path, place),
      ...contactLeaf(lists, path, place),
    );
    // The one property or listing of a rental is read like an object.
    const isOne = place.own.some((word) => lettingWords.has(word)) && lists.every((list) => (list?.length ?? 0) <= 1);
    if (isOne || members.every(isTranslation))
      visit(
        lists.map((list) => list?.[0]),
        `${path}[0]`,
        [...place.around, ...place.own],
        place.depth + 1,
        leaves,
      );
    return;
  }
  leaves.push({ path, source: path, ...place, values: lists, kind: 'list' });
  // A relation as [id, name] is read by its name.
  const isPair = members.length > 0 && lists.every((list) => !list?.length || isRelation(list));
  const at = isPair ? 1 : 0;
  const chosen = lists.map((list) => emptied(list?.[at]));
  const own = isPair ? place.own.filter((word) => word !== 'id') : place.own;
  leaves.push({ path: `${path}[${at}]`, source: `${path}[${at}]`, ...place, own, values: chosen, kind: 'value' });
}

/** One of the translations of a text, such as { locale, value }: the first is read. */
const isTranslation = (one: Json): boolean =>
  isObject(one) &&
  keysOf(one).length <= 3 &&
  keysOf(one).some((key) => /^@?_?(?:locale|lang|language)(?:_?code)?$/i.test(key));

const isRelation = ([id, name, ...rest]: readonly Json[]): boolean =>
  rest.length === 0 && typeof id === 'number' && typeof name === 'string' && /\p{L}/u.test(name);

/** The fields of objects in an inner list, for sums. */
function innerLeaves(lists: readonly (Json[] | undefined)[], path: string, { own, around, depth }: LeafPlace): Leaf[] {
  const inner = leavesOf(lists.flatMap((list) => list ?? [])).filter(
    ({ kind, depth: below }) => kind === 'value' && below <= 2,
  );
  return inner.map((leaf): Leaf => {
    let start = 0;
    const values = lists.map((list) => {
      const end = start + (list?.length ?? 0);
      const of = leaf.values.slice(start, end).filter((value) => value !== undefined);
      start = end;
      return of.length === 0 ? undefined : (of as Json[]);
    });
    const source = `${path}.*.${leaf.path}`;
    return { ...leaf, path: source, source, around: [...around, ...own], values, kind: 'many', depth: depth + 1 };
  });
}
