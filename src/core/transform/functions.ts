import type { ASTNode, Environment } from '@marcbachmann/cel-js';
import { addDays, daysBetween, weekday } from './calendar.ts';
import { LimitReached, limits } from './limits.ts';
import { matches } from './pattern.ts';
import { checkText, View } from './views.ts';

/**
 * The functions that rules may call. All other functions of the CEL library are refused: bytes and JSON (results of any size),
 * timestamps (depend on the machine's clock and time zone), bind (exponential growth), dyn (disables the type check).
 *
 * Four functions are replaced. The library allows no overriding, so `matches` in an expression is compiled as `Matches`, which has the
 * same length and keeps error positions valid.
 *   matches      the library backtracks (25 s on a hostile pattern); ours is RE2, linear in the text, with literal patterns only
 *   has          distinguishes absent fields from zeros, and accepts variables: has(channel)
 *   split, join  limit the size of the result
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

/** Our names of the replaced functions. */
export const ownNames: ReadonlyMap<string, string> = new Map([
  ['has', 'Has'],
  ['matches', 'Matches'],
  ['split', 'Split'],
  ['join', 'Join'],
]);
/** Restores the written names in the library's messages. */
export function withWrittenNames(message: string): string {
  let text = message;
  for (const [written, own] of ownNames) text = text.replaceAll(new RegExp(`\\b${own}\\(`, 'g'), `${written}(`);
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

/** Rounds half away from zero on the decimal digits, as for money: round(1.005, 2) is 1.01 although the double is slightly less. */
function round(value: number, places: bigint): number {
  if (!Number.isFinite(value) || Math.abs(value) >= 1e15) return value;
  const digits = Math.min(Math.max(Number(places), 0), 10);
  const [mantissa = '0', exponent = '0'] = `${Math.abs(value)}`.split('e');
  const scaled = Math.round(Number(`${mantissa}e${Number(exponent) + digits}`));
  return Math.sign(value) * Number(`${scaled}e-${digits}`);
}

export function registerFunctions(environment: Environment): void {
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
    const count = from === '' ? 0 : checkText(text).split(from).length - 1;
    if (text.length + count * to.length > limits.text)
      throw new LimitReached(`replace gives more than ${limits.text} characters`);
    return from === '' ? text : text.replaceAll(from, () => to);
  });
  add('days_between(string, string): int', daysBetween);
  add('add_days(string, int): string', addDays);
  add('weekday(string): int', weekday);
  add('round(double, int): double', round);
  // Of two whole numbers the result is whole; next to a decimal it is a decimal.
  add('min(int, int): int', (one: bigint, other: bigint) => (one < other ? one : other));
  add('max(int, int): int', (one: bigint, other: bigint) => (one > other ? one : other));
  const least = (one: number | bigint, other: number | bigint) => Math.min(Number(one), Number(other));
  const most = (one: number | bigint, other: number | bigint) => Math.max(Number(one), Number(other));
  for (const types of ['double, double', 'double, int', 'int, double']) {
    add(`min(${types}): double`, least);
    add(`max(${types}): double`, most);
  }
  registerMixedArithmetic(environment);
}

/** In CEL `total_amount * 2` is a type error; here an int next to a double is converted. */
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
