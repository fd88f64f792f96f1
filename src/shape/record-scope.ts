import type { Json } from '../terms.ts';
import type { RawRecord } from './config.ts';
import { asOne, type Rank } from './flat.ts';
import type { Root, Scope, Trace } from './scope.ts';

/** The scope of a value without surroundings: a response, a row, a guest. */
export function loneScope(item: Json, trace?: Trace): Scope {
  const root = newRoot(item, undefined, trace);
  const scope: Scope = { item, key: 0, up: undefined, root, at: '', group: undefined };
  root.record = scope;
  return scope;
}

function newRoot(body: Json | undefined, rows: readonly Json[] | undefined, trace: Trace | undefined): Root {
  return { record: undefined, index: 0, body, rows, notes: [], drift: [], trace, assumed: undefined };
}

/** The scope of a nested record with its enclosing objects. */
export function nestedScope(raw: RawRecord, trace: Trace | undefined): Scope {
  const root = newRoot(raw.body, undefined, trace);
  let up: Scope | undefined;
  const around = raw.around ?? [];
  for (let level = around.length - 1; level >= 0; level--) {
    const at = `$parent${'.$parent'.repeat(level)}`;
    up = { item: around[level], key: raw.places?.[level] ?? 0, up, root, at, group: undefined };
  }
  root.record = { item: raw.value, key: raw.place ?? 0, up, root, at: '', group: undefined };
  return root.record;
}

/** The scope of a record made of flat rows. */
export function flatScope(raw: RawRecord, rank: Rank, trace: Trace | undefined): Scope {
  const rows = Array.isArray(raw.value) ? raw.value : [raw.value];
  const root = newRoot(undefined, rows, trace);
  const scopes = rows.map((item, key): Scope => ({ item, key, up: undefined, root, at: `[${key}]`, group: undefined }));
  root.record = asOne(scopes.length === 0 ? [{ ...loneScope(null), root }] : rank(scopes));
  return root.record;
}
