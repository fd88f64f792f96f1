import { RE2JS } from 're2js';
import { limits } from './limits.ts';
import { checkText } from './views.ts';

const patterns = new Map<string, RE2JS>();
/** Patterns are literals of applied documents, some dozens in a service. The limit matters only after months of edits. */
const mostPatterns = 2_000;

/** The compiled pattern, or the reason why it is invalid. */
export function patternOf(text: string): RE2JS | string {
  const known = patterns.get(text);
  if (known) return known;
  let pattern: RE2JS;
  try {
    pattern = RE2JS.compile(text);
  } catch (error) {
    return error instanceof Error ? error.message : 'not a regular expression';
  }
  if (pattern.programSize() > limits.patternProgram) return 'the pattern is too large; repeat less';
  if (patterns.size >= mostPatterns) patterns.clear();
  patterns.set(text, pattern);
  return pattern;
}

export function matches(text: string, pattern: string): boolean {
  const compiled = patternOf(pattern);
  return typeof compiled === 'string' ? false : compiled.test(checkText(text));
}
