import type { EntityType } from '../terms.ts';
import type { MessageData } from './message.ts';

/**
 * Which fields a destination gets. A path is a field (`check_in`), a field of every item of a list (`guests[].email`), or a key
 * under extra (`extra.loyalty`). Paths of guests[] also apply to guest records. `id` is always kept: it identifies the record.
 */
export interface FieldChoice {
  readonly only?: readonly string[];
  readonly drop?: readonly string[];
}

type Plain = { [key: string]: unknown };

export function compileFields(choice: FieldChoice): (type: EntityType, data: MessageData) => MessageData {
  const only = choice.only === undefined ? undefined : tree(choice.only);
  const drop = tree(choice.drop ?? []);
  if (only === undefined && drop.size === 0) return (_type, data) => data;
  return (type, data) => {
    const whole = data as Plain;
    const wanted = type === 'guest' ? ofGuest(only) : only;
    const unwanted = type === 'guest' ? ofGuest(drop) : drop;
    const kept = wanted === undefined ? whole : { id: data.id, ...keep(whole, wanted) };
    return { ...(unwanted === undefined ? {} : without(kept, unwanted)), id: data.id } as MessageData;
  };
}

/** The fields chosen for guests; undefined if guests are chosen as a whole. */
function ofGuest(fields: Tree | undefined): Tree | undefined {
  return fields === undefined || fields.has('guests') ? fields?.get('guests') : new Map();
}

/** The last part of a path maps to undefined: the whole field. */
type Tree = Map<string, Tree | undefined>;

function tree(paths: readonly string[]): Tree {
  const root: Tree = new Map();
  for (const path of paths) {
    let at = root;
    const parts = path.replaceAll('[]', '').split('.');
    for (const [i, part] of parts.entries()) {
      if (i === parts.length - 1) at.set(part, undefined);
      else {
        const below = at.get(part);
        if (at.has(part) && below === undefined) break; // the whole field is chosen already
        const next: Tree = below ?? new Map();
        at.set(part, next);
        at = next;
      }
    }
  }
  return root;
}

function keep(value: Plain, wanted: Tree): Plain {
  const kept: Plain = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!wanted.has(key)) continue;
    const below = wanted.get(key);
    kept[key] = below === undefined ? inner : eachPlain(inner, (item) => keep(item, below));
  }
  return kept;
}

function without(value: Plain, dropped: Tree): Plain {
  if (dropped.size === 0) return value;
  const kept: Plain = {};
  for (const [key, inner] of Object.entries(value)) {
    if (!dropped.has(key)) kept[key] = inner;
    else {
      const below = dropped.get(key);
      if (below !== undefined) kept[key] = eachPlain(inner, (item) => without(item, below));
    }
  }
  return kept;
}

function eachPlain(value: unknown, change: (item: Plain) => Plain): unknown {
  if (Array.isArray(value)) return value.map((item) => eachPlain(item, change));
  return typeof value === 'object' && value !== null ? change(value as Plain) : value;
}
