import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { child, keysOf } from './leaf.ts';

/**
 * JSON made from XML wraps its values: text under `_text` or `#text`, attributes under `@attributes` or `$`, every element in a list,
 * or a single element without its list. Reports have their columns once, and rows of cells. The suggestion reads a sample without these wrappers; `written-paths.ts` puts them back.
 */
export interface Plain {
  readonly sample: Json;
  /** Where the values of the plain sample are in the response; undefined if only lists were completed. */
  readonly place: PlainPlace | undefined;
}

/** An object or list of the plain sample. */
export interface PlainPlace {
  readonly keys: ReadonlyMap<string, Written>;
  readonly items?: Written;
}

export interface Written {
  /** The path from the enclosing place as the response has it: `name._text`; of an item, what follows its index. */
  readonly text: string;
  readonly place: PlainPlace;
}

const textKeys = ['_text', '#text', '$t', '_', '__text', '_cdata', '__cdata'];
const attributeKeys = ['@attributes', '_attributes', '$', '_attr'];
const wrapper = /"(?:_text|#text|\$t|_|__text|_cdata|__cdata|@attributes|_attributes|\$|_attr|@_?\w+)":/;

export function plainJson(sample: Json): Plain {
  const isWrapped = wrapper.test(JSON.stringify(sample));
  const style = { isWrapped, isListed: isWrapped && isListed(sample), tables: 0 };
  const { values, written } = columnOf([sample], style);
  return { sample: values[0] ?? null, place: isWrapped || style.tables > 0 ? written.place : undefined };
}

/** Every element is in a list: no object has a plain value, except text and attributes. */
function isListed(value: Json): boolean {
  if (Array.isArray(value)) return value.every(isListed);
  if (!isObject(value)) return true;
  return Object.entries(value).every(
    ([key, inner]) =>
      attributeKeys.includes(key) || textKeys.includes(key) || (typeof inner === 'object' && isListed(inner)),
  );
}

interface Style {
  readonly isWrapped: boolean;
  readonly isListed: boolean;
  /** How many lists of rows with named columns were found. */
  tables: number;
}

type Values = readonly (Json | undefined)[];
interface Column {
  readonly values: Values;
  readonly written: Written;
}

const bare: PlainPlace = { keys: new Map() };

/** The values of one key in all objects, without their wrappers; `text` is what their path needs in addition. */
function columnOf(values: Values, style: Style): Column {
  const lists = values.filter(Array.isArray);
  if (style.isListed && lists.length > 0 && values.every(isOneOrNone)) {
    const inner = columnOf(
      values.map((value) => (value as Json[] | undefined)?.[0]),
      style,
    );
    return { ...inner, written: { ...inner.written, text: `[0]${inner.written.text}` } };
  }
  if (lists.some((list) => list.length > 0)) return listColumn(values, style);
  const objects = values.filter(isObject);
  if (objects.length > 0) return objectColumn(values, objects, style);
  return { values, written: { text: '', place: bare } };
}

const isOneOrNone = (value: Json | undefined) => value === undefined || (Array.isArray(value) && value.length <= 1);

/** An object beside lists of objects is a list of one: the mapping reads it as such. */
function listColumn(values: Values, style: Style): Column {
  const lists = values.map((value) => (Array.isArray(value) ? value : isObject(value) ? [value] : undefined));
  const { values: items, written } = columnOf(
    lists.flatMap((list) => list ?? []),
    style,
  );
  let at = 0;
  const regrouped = lists.map((list, index) => {
    if (list === undefined) return values[index];
    at += list.length;
    return items.slice(at - list.length, at) as Json[];
  });
  return { values: regrouped, written: { text: '', place: { keys: new Map(), items: written } } };
}

/** Rows of cells become objects, if a list beside them has a name for each cell. */
function tableColumn(values: Values, beside: readonly JsonObject[], style: Style): Column | undefined {
  const [rows] = values;
  const isTable = values.length === 1 && Array.isArray(rows) && rows.length > 0 && rows.every(Array.isArray);
  const names = Object.values(beside[0] ?? {}).find(
    (list): list is string[] =>
      Array.isArray(list) && new Set(list).size > 3 && list.every((name) => typeof name === 'string'),
  );
  if (!isTable || names === undefined || rows.some((row) => (row as Json[]).length !== names.length)) return undefined;
  style.tables++;
  const keys = new Map(names.map((name, at): [string, Written] => [name, { text: `[${at}]`, place: bare }]));
  const objects = rows.map((row) => Object.fromEntries(names.map((name, at) => [name, (row as Json[])[at] ?? null])));
  return { values: [objects], written: { text: '', place: { keys: new Map(), items: { text: '', place: { keys } } } } };
}

function objectColumn(values: Values, objects: readonly JsonObject[], style: Style): Column {
  const keys = [...new Set(objects.flatMap(keysOf))];
  const text = style.isWrapped ? textKeys.find((key) => objects.some((one) => isPlain(one[key]))) : undefined;
  if (text !== undefined && keys.every((key) => key === text)) {
    const plain = values.map((value) => (isObject(value) ? value[text] : value));
    return { values: plain, written: { text: `.${child('', text)}`, place: bare } };
  }
  const byColumn = new Map<string, Written>();
  const columns: [string, Values][] = [];
  const add = (name: string, at: string, read: (object: JsonObject) => Json | undefined) => {
    const inner = values.map((value) => (isObject(value) ? read(value) : undefined));
    const column = tableColumn(inner, objects, style) ?? columnOf(inner, style);
    byColumn.set(name, { ...column.written, text: at + column.written.text });
    columns.push([name, column.values]);
  };
  const free = (name: string, key: string) => (keys.includes(name) || byColumn.has(name) ? key : name);
  for (const key of keys) {
    const holder = style.isWrapped && attributeKeys.includes(key);
    if (!holder) {
      const name =
        key === text ? free('value', key) : style.isWrapped ? free(key.replace(/^@_?(?=\w+$)/, ''), key) : key;
      add(name, child('', key), (object) => object[key]);
      continue;
    }
    const inside = objects.flatMap((one) => (isObject(one[key]) ? keysOf(one[key]) : []));
    for (const name of new Set(inside))
      add(free(name, `${key}.${name}`), child(child('', key), name), (object) =>
        isObject(object[key]) ? object[key][name] : undefined,
      );
  }
  return {
    values: values.map((value, index) => objectAt(value, index, columns)),
    written: { text: '', place: { keys: byColumn } },
  };
}

/** `{}` is how an empty element is converted. */
function objectAt(value: Json | undefined, index: number, columns: readonly [string, Values][]): Json | undefined {
  if (!isObject(value)) return value;
  const entries = columns.flatMap(([name, column]): [string, Json][] => {
    const inner = column[index];
    return inner === undefined ? [] : [[name, inner]];
  });
  return Object.fromEntries(entries);
}

const isPlain = (value: Json | undefined) => value !== undefined && typeof value !== 'object';
