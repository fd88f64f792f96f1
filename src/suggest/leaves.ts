import { isObject, type Json, type JsonObject } from '../terms.ts';
import { withoutNoise, wordsOf } from './words.ts';

/** One path of the sample's items that has values. */
export interface Leaf {
  readonly path: string;
  /** As a mapping writes it: the path, or a form such as `pick`. */
  readonly source: Json;
  readonly own: readonly string[];
  readonly around: readonly string[];
  /** One per item; undefined if the item has none. */
  readonly values: readonly (Json | undefined)[];
  /** list: the values are lists of plain values. many: there are several inside one item. */
  readonly kind: 'value' | 'list' | 'many';
  readonly depth: number;
  /** An integer beside a formatted text that shows it with decimals: 137375 and $1,373.75. */
  readonly minor?: boolean;
  /** A field of each item of a list in the record; `values` are those of the first item. */
  readonly inList?: { readonly from: string; readonly value: string };
}

const deepest = 6;

/** Every path of the items, through objects. Inner lists contribute their first value and their typed members. */
export function leavesOf(items: readonly Json[]): Leaf[] {
  const leaves: Leaf[] = [];
  visit(items, '', [], 0, leaves);
  return leaves.map((leaf) => (isMinor(leaf, leaves) ? { ...leaf, minor: true } : leaf));
}

const formattedKey = /(?:^|[._])(?:formatted|display|pretty|text)\w*$/i;

function isMinor(leaf: Leaf, leaves: readonly Leaf[]): boolean {
  const values = leaf.values.filter((value) => value !== undefined);
  if (leaf.kind !== 'value' || values.length === 0 || !values.every(Number.isInteger)) return false;
  const parent = leaf.path.slice(0, leaf.path.lastIndexOf('.') + 1);
  const shown = leaves.find(
    ({ path }) => path.startsWith(parent) && !path.slice(parent.length).includes('.') && formattedKey.test(path),
  );
  if (shown === undefined) return false;
  return leaf.values.every((value, index) => {
    const text = shown.values[index];
    if (typeof value !== 'number' || typeof text !== 'string') return value === undefined;
    const digits = text.replace(/\D/g, '').replace(/^0+(?=\d)/, '');
    return digits === String(Math.abs(value)) && (value === 0 || /[.,]\d{2,3}\D*$/.test(text));
  });
}

type Values = readonly (Json | undefined)[];

function visit(values: Values, path: string, around: readonly string[], depth: number, leaves: Leaf[]): void {
  const objects = values.filter(isObject);
  if (depth > deepest || objects.length === 0) return;
  const keys = [...new Set(objects.flatMap(keysOf))];
  if (depth > 0 && areIds(keys)) return;
  for (const key of keys) {
    const inner = values.map((value) => (isObject(value) ? emptied(value[key]) : undefined));
    const at = child(path, key);
    const own = withoutNoise(wordsOf(key));
    const place = { own, around, depth };
    if (inner.some(isObject)) visit(inner, at, [...around, ...own], depth + 1, leaves);
    else if (inner.some(Array.isArray)) visitList(inner, at, place, leaves);
    else leaves.push({ path: at, source: at, ...place, values: inner, kind: 'value' });
  }
}

type Place = Pick<Leaf, 'own' | 'around' | 'depth'>;

function visitList(values: Values, path: string, place: Place, leaves: Leaf[]): void {
  const lists = values.map((value) => (Array.isArray(value) ? value : undefined));
  const members = lists.flatMap((list) => list ?? []);
  if (members.some(isObject)) {
    leaves.push(
      ...typedLeaves(lists, path, place),
      ...innerLeaves(lists, path, place),
      ...contactLeaf(lists, path, place),
    );
    // The one property or listing of a rental is read like an object.
    if (place.own.some((word) => lettingWords.has(word)) && lists.every((list) => (list?.length ?? 0) <= 1))
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
  const firsts = lists.map((list) => emptied(list?.[0]));
  leaves.push({ path: `${path}[0]`, source: `${path}[0]`, ...place, values: firsts, kind: 'value' });
}

/** The fields of objects in an inner list, for sums. */
function innerLeaves(lists: readonly (Json[] | undefined)[], path: string, { own, around, depth }: Place): Leaf[] {
  const inner = leavesOf(lists.flatMap((list) => list ?? [])).filter(
    ({ kind, depth: below }) => kind === 'value' && below === 0,
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
    return { path: source, source, own: leaf.own, around: [...around, ...own], values, kind: 'many', depth: depth + 1 };
  });
}

const contactLooks: readonly { readonly names: ReadonlySet<string>; readonly look: RegExp }[] = [
  { names: new Set(['email', 'emails', 'mail', 'mails']), look: /^[^@\s]+@[^@\s]+\.[^@\s]+$/ },
  {
    names: new Set(['phone', 'phones', 'telephone', 'telephones', 'mobile', 'mobiles']),
    look: /^[+(]?[\d\s().\-/]{6,24}$/,
  },
];

/** A list of addresses or numbers of one person: the one marked as default or primary, else the first. */
function contactLeaf(lists: readonly (Json[] | undefined)[], path: string, place: Place): Leaf[] {
  const { names, look } = contactLooks.find((one) => place.own.some((word) => one.names.has(word))) ?? {};
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const keys = innerKeys(members[0]);
  const value = keys.find((key) => members.every((member) => look?.test(String(emptied(valueIn(member, key)) ?? ''))));
  if (names === undefined || value === undefined) return [];
  const flag = keys.find(
    (key) => /default|primary|preferred|main/i.test(key) && members.some((one) => valueIn(one, key) === true),
  );
  const pick = (list: Json[] | undefined) => {
    const inside = (list ?? []).filter(isObject);
    return (flag === undefined ? undefined : inside.find((member) => valueIn(member, flag) === true)) ?? inside[0];
  };
  const first = `${path}[0].${value}`;
  const marked = { pick: { from: path, where: { [flag ?? '']: true }, value } };
  const source: Json = flag === undefined ? first : { first: [marked, first] };
  const values = lists.map((list) => emptied(valueIn(pick(list), value)));
  const own = place.own.filter((word) => !['addresses', 'numbers', 'info', 'list'].includes(word));
  return [{ path: first, source, ...place, own: own.map((word) => word.replace(/s$/, '')), values, kind: 'value' }];
}

/** The keys of an object, and those of objects in it as a.b. */
function innerKeys(object: JsonObject = {}): string[] {
  return keysOf(object).flatMap((key) => {
    const inner = object[key];
    return isObject(inner) ? keysOf(inner).map((below) => `${key}.${below}`) : [key];
  });
}

function valueIn(object: JsonObject | undefined, path: string): Json | undefined {
  const [key = '', below] = path.split('.');
  const value = object?.[key];
  return below === undefined ? value : isObject(value) ? value[below] : undefined;
}

/** Lists of at most one that are read like an object: the property of a rental, the name of a person, the type of a room. */
const lettingWords = new Set('property properties listing listings name names types plans source'.split(' '));
const typeKeys = ['type', 'kind', 'name', 'code', 'idContext', 'key', 'label', 'use', 'handle', 'system'];
/** The travel alliance's codes of age groups. */
const ageGroups: ReadonlyMap<string, readonly string[]> = new Map([
  ['10', ['adults']],
  ['8', ['children']],
  ['7', ['infants']],
]);
const typeWords = new Set(['type', 'kind', 'group', 'category', 'qualifier', 'class']);
const valueKeys = ['id', 'value', 'number', 'count', 'quantity', 'text', 'content', 'code', 'address'];

/** In a list such as [{ type: Confirmation, id: 88 }] each type is a field of that name. */
function typedLeaves(lists: readonly (Json[] | undefined)[], path: string, { own, around, depth }: Place): Leaf[] {
  const members = lists.flatMap((list) => list ?? []).filter(isObject);
  const keys = keysOf(members[0] ?? {}).filter((key) => isPlain(members[0]?.[key]));
  const type =
    keys.find((key) => typeKeys.includes(withoutSign(key))) ??
    keys.find((key) => typeWords.has(wordsOf(key).at(-1) ?? '') || isAgeGroup(key));
  const value = keys.find((key) => key !== type && valueKeys.includes(withoutSign(key)));
  if (type === undefined || value === undefined) return [];
  const types = [...new Set(members.map((member) => member[type]))].filter((name) => typeof name === 'string');
  if (types.length === 0 || types.length > 12) return [];
  return types.map((name) => {
    const where = { [type]: name };
    const pick = (list: Json[] | undefined) => list?.find((member) => isObject(member) && member[type] === name);
    const values = lists.map((list) => {
      const member = pick(list);
      return isObject(member) ? emptied(member[value]) : undefined;
    });
    // A number does not describe the member; the name of the list does.
    const named = /^\d+$/.test(name) ? own : withoutNoise(wordsOf(name));
    const words = isAgeGroup(type) ? (ageGroups.get(name) ?? named) : named;
    const source = { pick: { from: path, where, value } };
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

/** The keys that a mapping may use: not those inherited by every JavaScript object. */
export function keysOf(object: JsonObject): string[] {
  return Object.keys(object).filter((key) => !(key in Object.prototype));
}

/** Null and empty text count as absent. */
export function emptied(value: Json | undefined): Json | undefined {
  if (value === null || value === undefined) return undefined;
  return typeof value === 'string' && value.trim() === '' ? undefined : value;
}

/** Keys that are data themselves: numbers, dates, long ids. */
export function areIds(keys: readonly string[]): boolean {
  return (
    keys.length > 0 && keys.every((key) => /^(?:\d[\d-]*|[0-9a-f]{8}-[0-9a-f-]{20,}|(?=.*\d)[0-9a-f]{16,})$/i.test(key))
  );
}

export function child(path: string, key: string): string {
  const plain = /^[^\s.[\]'"$*][^\s.[\]'"]*$/.test(key) && !/^-?\d+$/.test(key);
  const step = plain ? key : key.includes("'") ? `["${key}"]` : `'${key}'`;
  if (path === '') return step;
  return step.startsWith('[') ? `${path}${step}` : `${path}.${step}`;
}

export function present(leaf: Leaf): Json[] {
  return leaf.values.filter((value) => value !== undefined) as Json[];
}
