import type { z } from 'zod';
import { explain } from './explain.ts';
import { type Path, valueAt } from './path.ts';

/** The valid part of a document with mistakes. */
export interface Salvaged {
  readonly body: unknown;
  /** What was taken out. */
  readonly removed: readonly Path[];
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
): Salvaged | undefined {
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
