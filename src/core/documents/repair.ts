import type { z } from 'zod';
import { explain } from './explain.ts';
import type { Problem } from './mistake.ts';
import { type Path, valueAt } from './path.ts';

/** A document with its misspelled keys corrected. */
export interface Repaired {
  readonly problems: readonly Problem[];
  /** The document as probably meant: misspelled keys have their correct names. */
  readonly meant: unknown;
  /** The parsed document with defaults, if there is no problem. */
  readonly body: unknown;
  /** The path in the written document for a path in `meant`. */
  written(path: Path): Path;
}

interface Rename {
  readonly parent: Path;
  readonly from: string;
  readonly to: string;
}

/** Each repair checks the document again. */
const mostRepairs = 50;

/**
 * Checks a document against its schema. A misspelled key, or a misspelled `type`, is one mistake, and what depends on it is
 * checked as if it were spelled correctly. Otherwise each correction would reveal further mistakes.
 */
export function readThrough(schema: z.ZodType, value: unknown): Repaired {
  const { success, data } = schema.safeParse(value);
  if (success) return { problems: [], meant: data, body: data, written: (path) => path };
  const meant: unknown = structuredClone(value);
  const renames: Rename[] = [];
  const repaired: Problem[] = [];
  const written = (path: Path): Path => renames.reduceRight(undo, path);
  for (;;) {
    const problems = explain(schema, meant).map((problem) => ({ problem, repair: repairOf(problem, meant) }));
    const next = problems.find(({ repair }) => repair !== undefined);
    if (next?.repair === undefined || repaired.length === mostRepairs) {
      const rest = problems.map(({ problem }) => ({ ...problem, path: written(problem.path) }));
      return { problems: [...repaired, ...rest], meant, body: undefined, written };
    }
    repaired.push({ ...next.problem, path: written(next.problem.path) });
    const rename = next.repair();
    if (rename !== undefined) renames.push(rename);
  }
}

/** A function that corrects one misspelling in `value`. */
function repairOf({ at, path, suggestion, decides }: Problem, value: unknown): (() => Rename | undefined) | undefined {
  const [parent, key] = [path.slice(0, -1), path.at(-1)];
  const object = valueAt(value, parent) as Record<string, unknown> | undefined;
  if (object === undefined || suggestion === undefined || typeof key !== 'string') return undefined;
  if (decides)
    return () => {
      object[key] = suggestion;
      return undefined;
    };
  // Next to its correct spelling, the wrong one is an unknown key.
  if (at !== 'key' || suggestion.includes('.') || Object.hasOwn(object, suggestion)) return undefined;
  return () => {
    object[suggestion] = object[key];
    delete object[key];
    return { parent, from: key, to: suggestion };
  };
}

function undo(path: Path, { parent, from, to }: Rename): Path {
  return path.length > parent.length && [...parent, to].every((step, i) => step === path[i])
    ? [...parent, from, ...path.slice(parent.length + 1)]
    : path;
}

/**
 * Removes the mistakes of a document, so that checks which need a valid document (a mapping or a rule that must
 * compile) can run too: a wrong schedule must not hide a wrong rule until the next try. A wrong value is removed,
 * together with everything that requires it. Undefined if nothing valid is left.
 */
export function salvage(
  schema: z.ZodType,
  value: unknown,
  standIns: Readonly<Record<string, string>> = {},
): { readonly body: unknown; readonly removed: readonly Path[] } | undefined {
  const left: unknown = structuredClone(value);
  const removed: Path[] = [];
  for (let round = 0; round < mostRounds; round++) {
    const { success, data } = schema.safeParse(left);
    if (success) return { body: data, removed };
    const before = removed.length;
    for (const { path } of explain(schema, left)) {
      const present = removable(left, path);
      if (present === undefined) {
        // A required value is replaced by a dummy: its mistake was reported, and the dummy hides no other.
        const [key = ''] = path;
        const standIn = path.length === 1 && Object.hasOwn(standIns, key) ? standIns[key] : undefined;
        if (standIn === undefined || typeof left !== 'object' || left === null || Object.hasOwn(left, key))
          return undefined;
        (left as Record<string | number, unknown>)[key] = standIn;
        removed.push(path);
        continue;
      }
      // Another problem of this round may have removed it already.
      if (remove(left, present)) removed.push(present);
    }
    if (removed.length === before) return undefined;
  }
  return undefined;
}

/** A document with more layers of mistakes is corrected step by step. */
const mostRounds = 20;

/** The path, or its nearest existing parent. An item is removed with its list, because other items must keep their positions. */
function removable(root: unknown, path: Path): Path | undefined {
  const firstIndex = path.findIndex((step) => typeof step === 'number');
  let present = firstIndex === -1 ? path : path.slice(0, firstIndex);
  while (present.length > 0 && valueAt(root, present) === undefined) present = present.slice(0, -1);
  return present.length === 0 ? undefined : present;
}

function remove(root: unknown, path: Path): boolean {
  const parent = valueAt(root, path.slice(0, -1));
  return typeof parent === 'object' && parent !== null && Reflect.deleteProperty(parent, path.at(-1) ?? '');
}

/** Whether one of the paths is a prefix of the other. */
export function related(a: Path, b: Path): boolean {
  const shorter = Math.min(a.length, b.length);
  return a.slice(0, shorter).every((step, i) => String(step) === String(b[i]));
}
