import type { Json } from '../../terms.ts';
import { noteOf } from '../canonical/notes.ts';
import type { FlatConfig, KeyMap } from './config.ts';
import type { Env } from './env.ts';
import { silent } from './read.ts';
import { isBlank, keyText, type Read, type Scope } from './scope.ts';
import { asList, compileKey } from './table.ts';
import { asideOf, newSlot, type Slot, slotPath } from './values.ts';

/** Sorts the rows of one item by precedence: the first value that is not empty wins. */
export type Rank = (rows: readonly Scope[]) => readonly Scope[];

export type Conflict = ReturnType<typeof compileConflict>;

/** By default the last row wins: it was requested last. `rule` is for the note: which row wins. */
export function compileConflict(rule: FlatConfig['conflict']): { readonly rank: Rank; readonly rule: string } {
  if (rule === 'first') return { rank: (rows) => rows, rule: 'the first row' };
  return { rank: (rows) => rows.toReversed(), rule: 'the last row' };
}

/** One field over all rows of its item: the first value by rank that is not empty; a row with a different value leaves a note. */
export const overRows =
  (conflict: Conflict | undefined) =>
  (slot: Slot) =>
  (read: Read): Read => {
    if (conflict === undefined) return read;
    return (scope) => {
      const { group } = scope;
      if (group === undefined) return read(scope);
      const { trace, notes } = scope.root;
      let taken: Json | undefined;
      let empty: null | undefined;
      let sources: string[] = [];
      let noted = false;
      for (const row of group) {
        if (trace !== undefined) trace.sources = [];
        const value = read(row);
        if (value !== undefined) empty = null;
        if (value === undefined || isBlank(value)) continue;
        if (taken === undefined) {
          taken = value;
          sources = trace?.sources ?? [];
        } else if (!noted && !isSame(value, taken)) {
          noted = true;
          const reason = `The rows of this ${slot.within === undefined ? 'reservation' : 'item'} disagree; ${conflict.rule} wins.`;
          notes.push(noteOf('flat_conflict', slotPath(slot, scope.root), { reason, before: value, after: taken }));
        }
      }
      if (trace !== undefined) trace.sources = sources;
      return taken ?? empty;
    };
  };

function isSame(one: Json, other: Json): boolean {
  return (keyText(one) ?? JSON.stringify(one)) === (keyText(other) ?? JSON.stringify(other));
}

/** Compiles the key of rows or items. A field such as `{ first: [masterId, bookId] }` gives its value, as text. */
export function compileFlatKey(key: KeyMap, at: string, env: Env): (scope: Scope) => string | undefined {
  if (typeof key === 'string' || Array.isArray(key)) return compileKey(asList(key), at, env);
  const read = silent(env.options.field(key, asideOf(newSlot(undefined, 'key', 'json')), at, env));
  return (scope) => {
    const value = read(scope);
    return isBlank(value) ? undefined : keyText(value);
  };
}

/** One item made of several rows. */
export function asOne(ranked: readonly Scope[]): Scope {
  const [first] = ranked;
  if (first === undefined) throw new Error('a group of rows is never empty');
  return ranked.length === 1 ? first : { ...first, group: ranked };
}
