import { isMap } from 'yaml';
import { readYaml } from '../../core/documents/yaml-text.ts';
import { isObject, type Json } from '../../terms.ts';

type Assigned =
  | { readonly kind: 'ok'; readonly connector: string }
  | { readonly kind: 'refused'; readonly message: string };

export interface Assigning {
  readonly connector: string;
  readonly field: string;
  readonly path: string;
  /** A list beside the records, in which the value is found by an id. */
  readonly lookup?: { readonly in: string; readonly key: string; readonly value: string } | undefined;
}

/**
 * Maps one field of a raw record to a canonical field, in the text of a connector; comments and order stay. `field` is for example
 * check_in, guests.last_name or extra.floor; `path` is a place in the raw record, such as guests[0].family.
 */
export function assignField(text: string, field: string, path: string, lookup?: Assigning['lookup']): Assigned {
  const read = readYaml(text);
  if (read.kind === 'refused' || read.faults.length > 0 || !isMap(read.yaml.contents)) {
    return refused('The connector is not valid YAML; correct it first.');
  }
  const document = read.yaml;
  const [list, name] = field.includes('.') ? field.split('.', 2) : [undefined, field];
  const put = (keys: readonly string[], value: string | object): Assigned => {
    for (let depth = 1; depth < keys.length; depth++) {
      const inside = document.getIn(keys.slice(0, depth));
      if (inside === undefined) break;
      if (!isMap(inside)) return refused(`${keys.slice(0, depth).join('.')} is not a mapping.`);
    }
    document.setIn(keys, typeof value === 'string' ? value : document.createNode(value));
    return { kind: 'ok', connector: document.toString({ lineWidth: 0 }) };
  };
  const reader = (by: string) => (lookup === undefined ? by : { lookup: { ...lookup, by } });
  if (list === undefined || name === undefined) return put(['map', field], reader(path));
  if (list === 'extra') return put(['map', 'extra', name], reader(path));
  const { map } = (document.toJS({ maxAliasCount: 100 }) ?? {}) as { map?: { [list: string]: Json } };
  const known = isObject(map) && Object.hasOwn(map, list) ? map[list] : undefined;
  const source = path.replace(/\[\d+\]/g, '[]');
  if (known === undefined) {
    const parts = split(source);
    if (parts === undefined) {
      return refused(`${path} is at the top of the record. Say where the ${list} are: map.${list}.from.`);
    }
    return put(['map', list], { from: parts.from, fields: { [name]: reader(parts.rest) } });
  }
  const from = isObject(known) && typeof known.from === 'string' ? known.from.replace(/\[\]$/, '') : undefined;
  if (from === undefined) return refused(`map.${list} is not a plain list; add the field in the editor.`);
  const start = from === '$item' ? '' : [`${from}[].`, `${from}.`].find((one) => source.startsWith(one));
  // Not done by itself: what is stated once for the booking may be about one of its guests.
  if (start === undefined) {
    const way = source === path ? ` If it is about each of them, add ${name}: $record.${path} in the editor.` : '';
    return refused(`The ${list} are read from ${from}; ${path} is outside of it.${way}`);
  }
  return put(['map', list, 'fields', name], reader(source.slice(start.length)));
}

/** Where the list or object is, and the path inside it. */
function split(source: string): { readonly from: string; readonly rest: string } | undefined {
  const at = source.lastIndexOf('[].');
  if (at > 0) return { from: source.slice(0, at), rest: source.slice(at + 3) };
  const dot = source.lastIndexOf('.');
  return dot > 0 ? { from: source.slice(0, dot), rest: source.slice(dot + 1) } : undefined;
}

const refused = (message: string): Assigned => ({ kind: 'refused', message });
