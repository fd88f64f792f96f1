import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { RE2JS } from 're2js';
import { LimitReached, limits } from './limits.ts';
import { checkText, View } from './views.ts';

/**
 * The functions that rules may call. Everything else the CEL library has is refused by name: bytes and JSON (a text becomes a
 * structure of any size), timestamps with zones (the clock and time zone of the machine), bind (doubles its value at each use), dyn (ends the type check).
 *
 * Four of the library's own are replaced, since it lets none be overridden: where an expression says `matches`, `Matches` is
 * compiled, of the same length, so that each error still points at its own character.
 *   matches  backtracks in the library: 25 s on a hostile pattern. Ours is RE2, linear in the text, and its pattern is a literal.
 *   has      knows absent fields behind the zeros that they read as, and takes a variable too: has(channel)
 *   split, join  have a largest result
 */
export const functionNames: ReadonlySet<string> = new Set([
  'has',
  'size',
  'string',
  'int',
  'double',
  'bool',
  'days_between',
  'add_days',
  'weekday',
  'round',
  'min',
  'max',
]);
export const methodNames: ReadonlySet<string> = new Set([
  'size',
  'startsWith',
  'endsWith',
  'contains',
  'lowerAscii',
  'upperAscii',
  'trim',
  'indexOf',
  'lastIndexOf',
  'substring',
  'matches',
  'split',
  'join',
  'replace',
]);
export const macroNames: ReadonlySet<string> = new Set(['all', 'exists', 'exists_one', 'map', 'filter']);

const replaced: ReadonlyMap<string, string> = new Map([
  ['has', 'Has'],
  ['matches', 'Matches'],
  ['split', 'Split'],
  ['join', 'Join'],
]);
export function ownNameOf(name: string): string | undefined {
  return replaced.get(name);
}
/** The library's messages name what was compiled; people read what they wrote. */
export function withWrittenNames(message: string): string {
  let text = message;
  for (const [written, own] of replaced) text = text.replaceAll(new RegExp(`\\b${own}\\(`, 'g'), `${written}(`);
  return text;
}

interface Checker {
  check(node: ASTNode, scope: unknown): unknown;
  getType(name: string): unknown;
  createError(code: string, message: string, node: ASTNode): Error;
}
interface Runner {
  run(node: ASTNode, scope: unknown): unknown;
}
interface Macro {
  readonly target: ASTNode | undefined;
}

function hasMacro({ args }: { args: readonly ASTNode[] }): object {
  return {
    target: args[0],
    async: false,
    typeCheck(checker: Checker, { target }: Macro, scope: unknown): unknown {
      if (target) checker.check(target, scope);
      return checker.getType('bool');
    },
    evaluate(runner: Runner, { target }: Macro, scope: { getValue(name: string): unknown }): boolean {
      if (target?.op === 'id') {
        const whole = scope.getValue('reservation') ?? scope.getValue('guest');
        return whole instanceof View && whole.has(target.args);
      }
      if (target?.op !== '.') return false;
      const holder = runner.run(target.args[0], scope);
      if (holder instanceof View || holder instanceof Map) return holder.has(target.args[1]);
      return typeof holder === 'object' && holder !== null && Object.hasOwn(holder, target.args[1]);
    },
  };
}

const patterns = new Map<string, RE2JS>();
/** Patterns are literals of applied documents: some dozens in a service. The bound is for one that applies documents for months. */
const mostPatterns = 2_000;

/** The compiled pattern, or what is wrong with it. */
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

function matches(text: string, pattern: string): boolean {
  const compiled = patternOf(pattern);
  return typeof compiled === 'string' ? false : compiled.test(checkText(text));
}

const dayMs = 86_400_000;

function dayOf(date: string): number {
  const found = /^(\d{4})-(\d{2})-(\d{2})$/.exec(date);
  const ms = found ? Date.UTC(Number(found[1]), Number(found[2]) - 1, Number(found[3])) : Number.NaN;
  if (Number.isNaN(ms)) throw new NotADate();
  return ms / dayMs;
}

export class NotADate extends Error {}

function dateOf(day: number): string {
  const date = new Date(day * dayMs);
  const year = date.getUTCFullYear();
  if (Number.isNaN(year) || year < 0 || year > 9999) throw new NotADate();
  return date.toISOString().slice(0, 10);
}

/** Half away from zero on the decimal digits, as money is rounded: round(1.005, 2) is 1.01, where the double is a little less. */
function round(value: number, places: bigint): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return value;
  const digits = Math.min(Math.max(Number(places), 0), 10);
  const [mantissa = '0', exponent = '0'] = `${Math.abs(value)}`.split('e');
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  return Math.sign(value) * Number(`${scaled}e-${digits}`);
}

export function registerFunctions(environment: Environment): Environment {
  const add = (signature: string, handler: (...args: never[]) => unknown): void => {
    environment.registerFunction(signature, { handler, async: false });
  };
  add('Has(ast): bool', hasMacro);
  add('string.Matches(string): bool', matches);
  add('string.Split(string): list<string>', (text: string, separator: string) => {
    const parts = checkText(text).split(separator, limits.parts + 1);
    if (parts.length > limits.parts) throw new LimitReached(`split gives more than ${limits.parts} parts`);
    return parts;
  });
  const join = (parts: readonly string[], separator = ''): string => checkText(parts.join(separator));
  add('list<string>.Join(): string', join);
  add('list<string>.Join(string): string', join);
  add('string.replace(string, string): string', (text: string, from: string, to: string) => {
    const found = from === '' ? 0 : checkText(text).split(from).length - 1;
    if (text.length + found * to.length > limits.text)
      throw new LimitReached(`replace gives more than ${limits.text} characters`);
    return from === '' ? text : text.replaceAll(from, () => to);
  });
  add('days_between(string, string): int', (from: string, to: string) => BigInt(dayOf(to) - dayOf(from)));
  add('add_days(string, int): string', (date: string, days: bigint) => dateOf(dayOf(date) + Number(days)));
  // 1 January 1970 was a Thursday, the fourth day of its ISO week.
  add('weekday(string): int', (date: string) => BigInt(((((dayOf(date) + 3) % 7) + 7) % 7) + 1));
  add('round(double, int): double', round);
  add('min(double, double): double', Math.min);
  add('max(double, double): double', Math.max);
  registerMixedArithmetic(environment);
  return environment;
}

/** CEL keeps int and double apart, and `total_amount * 2` would be a type error; here an int beside a double counts as one. */
function registerMixedArithmetic(environment: Environment): void {
  const operations: Readonly<Record<string, (left: number, right: number) => number>> = {
    '+': (left, right) => left + right,
    '-': (left, right) => left - right,
    '*': (left, right) => left * right,
    '/': (left, right) => left / right,
  };
  for (const [sign, operate] of Object.entries(operations)) {
    const mixed = (left: number | bigint, right: number | bigint): number => operate(Number(left), Number(right));
    environment.registerOperator(`double ${sign} int: double`, mixed);
    environment.registerOperator(`int ${sign} double: double`, mixed);
  }
  environment.registerOperator(
    'double == int',
    (left: number | bigint, right: number | bigint) => Number(left) === Number(right),
  );
}
