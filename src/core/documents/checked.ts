import { z } from 'zod';
import type { Path } from './path.ts';

/** A mistake in a text, found by a check beyond its type. */
export interface TextFinding {
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** The character of the text at which it is wrong. */
  readonly offset?: number | undefined;
}

/** Text that must pass a check. `expected` completes "must be …". Free of transforms: it exports to JSON Schema as a string. */
export function checkedText(expected: string, check: (text: string) => TextFinding | undefined) {
  return z.string({ error: `must be ${expected}` }).superRefine((text, context) => report(context, check(text)));
}

/** Text that passes a test; `expected` is then the whole message. */
export const textThat = (expected: string, isRight: (text: string) => boolean) =>
  checkedText(expected, (text) => (isRight(text) ? undefined : { message: `must be ${expected}` }));

/** Reports a finding, at a path below the checked value. */
export type Report = (problem: TextFinding | undefined, path?: Path) => void;

/**
 * A schema with a check over several of its keys. It also runs if some of them are wrong, so that one run finds every
 * mistake; its input is therefore untyped, and it treats a value of the wrong type as absent.
 */
export function crossChecked<Schema extends z.ZodType>(
  schema: Schema,
  check: (value: Readonly<Record<string, unknown>>, report: Report) => void,
): Schema {
  return schema.superRefine(
    (value, context) => check(value as Record<string, unknown>, (problem, path) => report(context, problem, path)),
    { when: ({ value }) => typeof value === 'object' && value !== null },
  );
}

/** A schema with a check of every text inside its values, at any depth. */
export function textsChecked<Schema extends z.ZodType>(
  schema: Schema,
  check: (text: string) => TextFinding | undefined,
): Schema {
  return crossChecked(schema, (value, report) => {
    for (const { text, path } of textsIn(value)) report(check(text), path);
  });
}

/** Every text inside a value with its path. */
export function* textsIn(value: unknown, path: Path = []): Generator<{ text: string; path: Path }> {
  if (typeof value === 'string') yield { text: value, path };
  else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      yield* textsIn(child, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  }
}

/** Reports the finding of a check, if any, to zod. */
function report(context: z.RefinementCtx, problem: TextFinding | undefined, path: Path = []): void {
  if (problem === undefined) return;
  const { message, suggestion, offset } = problem;
  context.addIssue({ code: 'custom', message, path: [...path], params: { suggestion, offset } });
}
