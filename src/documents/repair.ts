import type { z } from 'zod';
import { explain } from './explain.ts';
import type { Problem } from './mistake.ts';
import { type Path, valueAt } from './path.ts';

/** A document with its misspelled keys corrected. */
export interface Reading {
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
export function readThrough(schema: z.ZodType, value: unknown): Reading {
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
  if (decides) {
    return () => {
      object[key] = suggestion;
      return undefined;
    };
  }
  // Next to its correct spelling, the wrong one is an unknown key.
  if (at !== 'key' || suggestion.includes('.') || Object.hasOwn(object, suggestion)) return undefined;
  return () => {
    object[suggestion] = object[key];
    delete object[key];
    return { parent, from: key, to: suggestion };
  };
}

function undo(path: Path, { parent, from, to }: Rename): Path {
  return samePath(path.slice(0, parent.length + 1), [...parent, to])
    ? [...parent, from, ...path.slice(parent.length + 1)]
    : path;
}

function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && a.every((step, i) => step === b[i]);
}
