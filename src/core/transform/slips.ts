import { closest } from '../canonical/closest.ts';
import { fieldsOf, variables } from './environments.ts';
import type { ExpressionFault } from './guards.ts';

/** Words and signs of other languages, with what CEL has instead. */
const elsewhere: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/===/y, '=='],
  [/!==/y, '!='],
  [/=>/y, '>='],
  [/=</y, '<='],
  [/<>/y, '!='],
  [/=/y, '=='],
  [/and\b/iy, '&&'],
  [/or\b/iy, '||'],
];

const words = /^[\p{L}\p{N}][\p{L}\p{N}\s.,&'’/-]*$/u;

/** A common slip at the place where an expression could not be parsed; undefined if there is none. */
export function slipAt(text: string, offset: number): ExpressionFault | undefined {
  if (isPlainText(text)) {
    const message = `A text needs its own quotes inside those of YAML: '"${text.trim()}"'.`;
    return { message, offset: 0, length: text.length };
  }
  // The error may point at a later character of the sign.
  for (let start = Math.max(0, offset - 2); start <= offset; start++) {
    for (const [pattern, instead] of elsewhere) {
      pattern.lastIndex = start;
      const [found] = pattern.exec(text) ?? [];
      if (found === undefined || start + found.length <= offset || isPartOfSign(text, start, found)) continue;
      if (/\w/.test(found) && (/\w/.test(text[start - 1] ?? '') || start < offset - 1)) continue;
      const does = found === '=' ? 'A condition compares with ==, not with =' : `Write ${instead} instead of ${found}`;
      return { message: `${does}.`, offset: start, length: found.length };
    }
  }
  return undefined;
}

/** The equals sign in `==` and `<=` is correct. */
function isPartOfSign(text: string, start: number, sign: string): boolean {
  return sign === '=' && (/[=<>!]/.test(text[start - 1] ?? '') || text[start + 1] === '=');
}

const known: ReadonlySet<string> = new Set([...fieldsOf.values(), ...Object.values(variables)].flat());

/** Words that a rule does not know: probably a text without its quotes. */
function isPlainText(text: string): boolean {
  const trimmed = text.trim();
  if (!words.test(trimmed) || /^[\d.,/-]+$/.test(trimmed)) return false;
  const parts = trimmed.split(/[^\p{L}\p{N}_]+/u);
  return parts.length > 1 ? !parts.some((part) => known.has(part)) : closest(trimmed, known) === undefined;
}
