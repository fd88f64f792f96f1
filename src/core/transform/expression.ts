import type { ASTNode, ParseError, TypeError as TypeMistake } from '@marcbachmann/cel-js';
import type { ErrorCode } from '../../errors.ts';
import { closest } from '../canonical/closest.ts';
import { NotADate } from './calendar.ts';
import { type Cost, costOf } from './cost.ts';
import { environments, fieldsOf, type ScopeName, variables } from './environments.ts';
import { withWrittenNames } from './functions.ts';
import { childrenOf, type ExpressionFault, guard, methodNameAt } from './guards.ts';
import { LimitReached, limits } from './limits.ts';
import { slipAt } from './slips.ts';

/** A CEL expression that passed every check: it can only fail because of the record. */
export type Expression = ReturnType<typeof runnable>;

export type Evaluated =
  | { readonly kind: 'value'; readonly value: unknown }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly message: string };

export type Compiled =
  | { readonly kind: 'ok'; readonly expression: Expression }
  | { readonly kind: 'invalid'; readonly mistakes: readonly ExpressionFault[] };

export function compileExpression(text: string, scope: ScopeName): Compiled {
  if (text.trim() === '') return invalid({ message: 'The expression is empty.', offset: 0 });
  if (text.length > limits.expression) {
    return invalid({
      message: `The expression has more than ${limits.expression} characters.`,
      offset: limits.expression,
    });
  }
  const environment = environments[scope];
  try {
    const { ast } = environment.parse(text);
    const guarded = guard(text, ast);
    if (guarded.mistakes.length > 0) return invalid(...guarded.mistakes);
    const parsed = environment.parse(guarded.text);
    const checked = parsed.check();
    if (!checked.valid) return invalid(mistakeOf(checked.error, text, scope));
    const cost = costOf(ast, limits.items);
    if (cost.steps > limits.steps) return invalid(tooCostly(cost, text));
    return { kind: 'ok', expression: runnable(parsed, ast, checked.type ?? 'dyn') };
  } catch (error) {
    return invalid(mistakeOf(error, text, scope));
  }
}

/** Points at the part that costs the most. */
function tooCostly({ steps, most }: Cost, text: string): ExpressionFault {
  const { start, end } = most.node;
  const place = { offset: start, length: end - start };
  const part = text.slice(start, end);
  if (!Number.isFinite(steps))
    return {
      message: `${part} could build a text of more than ${roundedSteps(limits.builtText)} characters.`,
      ...place,
    };
  const message = `The expression could take ${roundedSteps(steps)} steps with ${limits.items} guests, rooms and charges; the limit is ${roundedSteps(limits.steps)}. The most, ${roundedSteps(most.steps)}, are in ${part}: move it out of the list, or compare shorter texts.`;
  return { message, ...place };
}

/** Rounded to two digits and grouped: an estimate is not more precise. */
export function roundedSteps(steps: number): string {
  const scale = 10 ** Math.max(0, Math.floor(Math.log10(Math.max(1, steps))) - 1);
  return String(Math.round(steps / scale) * scale).replace(/\B(?=(?:\d{3})+$)/g, ',');
}

function invalid(...mistakes: ExpressionFault[]): Compiled {
  return { kind: 'invalid', mistakes };
}

/** `root`: the syntax tree of the text as written; `type`: of the result, such as `string`, or `dyn` if it depends on `extra`. */
function runnable(parsed: (scope: object) => unknown, root: ASTNode, type: string) {
  return {
    type,
    root,
    /** Upper bound of steps over a record whose lists have at most this many items. */
    mostSteps: (items: number) => costOf(root, items).steps,
    run(scope: object): Evaluated {
      try {
        return { kind: 'value', value: parsed(scope) };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}

type CelError = ParseError | TypeMistake;

function isCelError(error: unknown): error is CelError {
  return error instanceof Error && 'summary' in error && 'code' in error;
}

/** Turns the library's error into a mistake with its position. */
function mistakeOf(error: unknown, text: string, scope: ScopeName): ExpressionFault {
  if (!isCelError(error))
    return { message: error instanceof Error ? error.message : 'The expression cannot be read.', offset: 0 };
  const place = placeOf(error, text);
  const offset = Math.min(place.offset, text.length);
  const slip = slipAt(text, offset);
  if (slip !== undefined) return slip;
  const message = messages.get(error.code)?.(error, scope) ?? sentence(withWrittenNames(error.summary));
  return place.length > 0
    ? { message, offset, length: Math.min(place.length, text.length - offset) }
    : { message, offset };
}

function placeOf(error: CelError, text: string): { offset: number; length: number } {
  const node = error.node as ASTNode | undefined;
  if (error.code === 'no_matching_overload' && node?.op === 'rcall') {
    return { offset: methodNameAt(text, node), length: node.args[0].length };
  }
  if (error.code === 'no_matching_overload' && node?.op === 'call')
    return { offset: node.start, length: node.args[0].length };
  if (error.code === 'invalid_logical_operand' && node !== undefined && 'op' in node) {
    const wrong = childrenOf(node).find((child) => !isBoolean(child)) ?? node;
    return { offset: wrong.start, length: wrong.end - wrong.start };
  }
  const start = error.range?.start ?? 0;
  return { offset: start, length: (error.range?.end ?? start) - start };
}

/** The checker stores the type on the node, but its type declarations omit that. */
function typeName(node: ASTNode): string | undefined {
  return (node as { checkedType?: { name?: string } }).checkedType?.name;
}

function isBoolean(node: ASTNode): boolean {
  const name = typeName(node);
  return name === undefined || name === 'bool' || name === 'dyn';
}

const messages = new Map(
  Object.entries<(error: CelError, scope: ScopeName) => string>({
    unknown_variable: (error, scope) => unknown('variable', lastWord(error), variables[scope]),
    no_such_key: (error) => unknown('field', lastWord(error), fieldsBeside(error)),
    no_such_overload: (error) => incompatible(error.summary.replace(/^no such overload: /, '')),
    no_matching_overload: (error) =>
      `No function accepts these types: ${withWrittenNames(error.summary).replace(/^found no matching overload for /, '')}.`,
  }),
);

function incompatible(types: string): string {
  const [, item] = /^(Guest|Room|Charge) [!=]= \1$/.exec(types) ?? [];
  if (item === undefined) return `Incompatible types: ${types}.`;
  const field = item === 'Guest' ? 'email' : item === 'Room' ? 'room_type' : 'code';
  const name = item.toLowerCase();
  return `A ${name} cannot be compared as a whole. Compare a field of it, such as ${name[0]}.${field}.`;
}

function unknown(kind: string, word: string, known: readonly string[]): string {
  const near = closest(word, known);
  if (near !== undefined) return `There is no ${kind} ${word}; did you mean ${near}?`;
  return kind === 'variable'
    ? `There is no variable ${word}. A text needs its own quotes: "${word}".`
    : `There is no ${kind} ${word}.`;
}

/** The fields of the object in which the unknown field was looked up. */
function fieldsBeside(error: CelError): readonly string[] {
  const node = error.node as ASTNode | undefined;
  const owner = node?.op === '.' ? typeName(node.args[0]) : undefined;
  return fieldsOf.get(owner ?? '') ?? [];
}

function lastWord(error: CelError): string {
  return error.summary.slice(error.summary.lastIndexOf(':') + 1).trim();
}

function sentence(text: string): string {
  const large = text.charAt(0).toUpperCase() + text.slice(1);
  return large.endsWith('.') ? large : `${large}.`;
}

/** Our own message: the library's messages quote values of the record. */
function failureOf(error: unknown): Evaluated {
  if (error instanceof LimitReached)
    return { kind: 'failed', code: 'record.rule_too_costly', message: `The rule was stopped: ${error.message}.` };
  const code = error instanceof NotADate ? 'not_a_date' : isCelError(error) ? error.code : 'unexpected';
  const message = failures.get(code) ?? `The expression could not be evaluated (${code}).`;
  return { kind: 'failed', code: 'record.rule_failed', message };
}

const failures = new Map(
  Object.entries({
    not_a_date: 'An argument or the result of a date function is not a date YYYY-MM-DD.',
    no_such_key: 'The expression reads a field that is absent; test it with has() first.',
    index_out_of_bounds: 'The expression reads an item beyond the end of the list.',
    index_out_of_range: 'The expression reads a position beyond the end of the text.',
    division_by_zero: 'The expression divides by zero.',
    modulo_by_zero: 'The expression divides by zero.',
    numeric_overflow: 'A number in the expression is out of range.',
    no_such_overload: 'An operator in the expression got values of incompatible types.',
    no_matching_overload: 'A function in the expression got a value of the wrong type.',
    bool_conversion_error: 'bool() got a text other than true or false.',
    int_conversion_error: 'int() got a text that is not a whole number.',
    double_conversion_error: 'double() got a text that is not a number.',
  }),
);
