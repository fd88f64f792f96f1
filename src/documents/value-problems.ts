import { type Problem, withSuggestion } from './mistake.ts';
import type { Path } from './path.ts';
import { findReferences } from './secret-reference.ts';

const unsafeKeys = new Set(['__proto__', 'constructor', 'prototype']);

/** Mistakes in values and keys that no schema reports: references to secrets, numbers that lose digits, unsafe keys. */
export function* valueProblems(value: unknown, path: Path = []): Generator<Problem> {
  if (typeof value === 'string') {
    const { finding } = findReferences(value);
    if (finding === undefined) return;
    const { message, suggestion, offset = 0 } = finding;
    yield { path, at: 'value', ...withSuggestion(message, suggestion), offset };
  } else if (typeof value === 'number') {
    if (Number.isInteger(value) ? Number.isSafeInteger(value) : Number.isFinite(value)) return;
    yield { path, at: 'value', message: 'cannot be kept exactly as a number: put it in quotes' };
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      const childPath = [...path, Array.isArray(value) ? Number(key) : key];
      if (unsafeKeys.has(key)) yield { path: childPath, at: 'key', message: `${key} cannot be used as a key` };
      yield* valueProblems(child, childPath);
    }
  }
}
