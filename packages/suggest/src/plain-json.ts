import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { child, keysOf } from './leaf.ts';

/**
 * JSON made from XML wraps its values: text under `_text` or `#text`, attributes under `@attributes` or `$`, every element in a list,
 * or a single element without its list. Reports have their columns once, and rows of cells. The suggestion reads a sample without these wrappers; `written-paths.ts` puts them back.
 */
export interface Plain {
  readonly sample: Json;
  /** Each path of the plain sample, `[]` for any item, as the response has it; undefined if only lists were completed. */
  readonly paths: ReadonlyMap<string, string> | undefined;
}

/** A path of the plain sample, and the same in the response. */
export interface Place {
  readonly plain: string;
  readonly written: string;
}

const textKeys = ['_text', '#text', '$t', '_', '__text', '_cdata', '__cdata'];
const attributeKeys = ['@attributes', '_attributes', '$', '_attr'];
const wrapper = /"(?:_text|#text|\$t|_|__text|_cdata|__cdata|@attributes|_attributes|\$|_attr|@_?\w+)":/;

export function plainJson(sample: Json): Plain {
  const isWrapped = wrapper.test(JSON.stringify(sample));
  const style: Style = { isWrapped, isListed: isWrapped && isListed(sample), tables: 0, paths: new Map() };
  const [plain = null] = columnOf([sample], { plain: '', written: '' }, style);
  return { sample: plain, paths: isWrapped || style.tables > 0 ? style.paths : undefined };
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
  readonly paths: Map<string, string>;
}

type Values = readonly (Json | undefined)[];

/** The values of one key in all objects, without their wrappers. */
function columnOf(values: Values, at: Place, style: Style): Values {
  const lists = values.filter(Array.isArray);
  if (style.isListed && lists.length > 0 && values.every(isOneOrNone)) {
    const inner = values.map((value) => (value as Json[] | undefined)?.[0]);
    return columnOf(inner, { ...at, written: `${at.written}[0]` }, style);
  }
  style.paths.set(at.plain, at.written);
  if (lists.some((list) => list.length > 0)) return listColumn(values, at, style);
  const objects = values.filter(isObject);
  return objects.length > 0 ? objectColumn(values, objects, at, style) : values;
}

const isOneOrNone = (value: Json | undefined) => value === undefined || (Array.isArray(value) && value.length <= 1);

/** An object beside lists of objects is a list of one: the mapping reads it as such. */
function listColumn(values: Values, { plain, written }: Place, style: Style): Values {
  const lists = values.map((value) => (Array.isArray(value) ? value : isObject(value) ? [value] : undefined));
  const all = lists.flatMap((list) => list ?? []);
  const items = columnOf(all, { plain: `${plain}[]`, written: `${written}[]` }, style);
  let at = 0;
  return lists.map((list, index) => {
    if (list === undefined) return values[index];
    at += list.length;
    return items.slice(at - list.length, at) as Json[];
  });
}

/** Rows of cells become objects, if a list beside them has a name for each cell. */
function tableColumn(values: Values, beside: readonly JsonObject[], at: Place, style: Style): Values | undefined {
  const [rows] = values;
  const isTable = values.length === 1 && Array.isArray(rows) && rows.length > 0 && rows.every(Array.isArray);
  const names = Object.values(beside[0] ?? {}).find(
    (list): list is string[] =>
      Array.isArray(list) && new Set(list).size > 3 && list.every((name) => typeof name === 'string'),
  );
  if (!isTable || names === undefined || rows.some((row) => (row as Json[]).length !== names.length)) return undefined;
  style.tables++;
  style.paths.set(at.plain, at.written).set(`${at.plain}[]`, `${at.written}[]`);
  for (const [cell, name] of names.entries()) style.paths.set(child(`${at.plain}[]`, name), `${at.written}[][${cell}]`);
  return [rows.map((row) => Object.fromEntries(names.map((name, cell) => [name, (row as Json[])[cell] ?? null])))];
}

function objectColumn(values: Values, objects: readonly JsonObject[], place: Place, style: Style): Values {
  const keys = [...new Set(objects.flatMap(keysOf))];
  const text = style.isWrapped ? textKeys.find((key) => objects.some((one) => isPlain(one[key]))) : undefined;
  if (text !== undefined && keys.every((key) => key === text)) {
    style.paths.set(place.plain, child(place.written, text));
    return values.map((value) => (isObject(value) ? value[text] : value));
  }
  const columns = new Map<string, Values>();
  const add = (name: string, written: string, read: (object: JsonObject) => Json | undefined) => {
    const inner = values.map((value) => (isObject(value) ? read(value) : undefined));
    const at = { plain: child(place.plain, name), written };
    columns.set(name, tableColumn(inner, objects, at, style) ?? columnOf(inner, at, style));
  };
  const free = (name: string, key: string) => (keys.includes(name) || columns.has(name) ? key : name);
  for (const key of keys) {
    const written = child(place.written, key);
    if (!style.isWrapped || !attributeKeys.includes(key)) {
      const name =
        key === text ? free('value', key) : style.isWrapped ? free(key.replace(/^@_?(?=\w+$)/, ''), key) : key;
      add(name, written, (object) => object[key]);
      continue;
    }
    const inside = objects.flatMap((one) => (isObject(one[key]) ? keysOf(one[key]) : []));
    for (const name of new Set(inside))
      add(free(name, `${key}.${name}`), child(written, name), (object) =>
        isObject(object[key]) ? object[key][name] : undefined,
      );
  }
  return values.map((value, index) => objectAt(value, index, [...columns]));
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
