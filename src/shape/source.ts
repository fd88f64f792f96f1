import { add, multiply } from '../canonical/arithmetic.ts';
import type { Decimal } from '../canonical/decimal.ts';
import type { Json } from '../terms.ts';
import { order } from './condition.ts';
import type { FieldForm, FieldMap, ListSource, LookupForm } from './config.ts';
import { dateReaderFor } from './date-field.ts';
import type { Env } from './env.ts';
import { compileListSource, valuesOf } from './list-source.ts';
import { readNumber } from './numbers.ts';
import { compileRead } from './read.ts';
import { isBlank, keyText, type Read } from './scope.ts';
import { partOf, type Slot } from './slot.ts';
import { compileTable } from './table.ts';

/** Where a field's value may come from. A form has one of these. */
export const sourceNames = [
  'path',
  'const',
  'first',
  'join',
  'sum',
  'product',
  'min',
  'max',
  'count',
  'pick',
  'lookup',
] as const;

/** `dot` is empty where the form stands for a bare path, whose place in the document is the field itself. */
export function compileSource(form: FieldForm, slot: Slot, at: string, dot: '' | '.', env: Env): Read {
  const { path, const: constant, first, join, sum, product, min, max, count, pick, lookup } = form;
  if (path !== undefined) {
    const parsed = env.path(path, dot === '' ? at : `${at}.path`);
    return parsed === undefined ? () => undefined : compileRead(parsed, env.traced);
  }
  if (constant !== undefined) return () => constant;
  if (first !== undefined) return firstOf(parts(first, slot, `${at}.first`, env), env.traced);
  if (join !== undefined) return joined(parts(join, slot, `${at}.join`, env), form.with ?? ' ');
  if (sum !== undefined)
    return isFieldList(sum) ? sumOf(parts(sum, slot, `${at}.sum`, env), form, env) : listSum(sum, form, slot, at, env);
  if (product !== undefined) return productOf(parts(product, slot, `${at}.product`, env), form, env);
  if (min !== undefined) return extreme(min, -1, form, slot, `${at}.min`, env);
  if (max !== undefined) return extreme(max, 1, form, slot, `${at}.max`, env);
  if (count !== undefined) {
    const list = compileListSource(count, slot, `${at}.count`, env);
    return (scope) => list.items(scope).filter((item) => !isBlank(list.value(item))).length;
  }
  if (pick !== undefined) {
    const list = compileListSource(pick, slot, `${at}.pick`, env);
    return (scope) => {
      for (const item of list.items(scope)) {
        const value = list.value(item);
        if (!isBlank(value)) return value;
      }
      return undefined;
    };
  }
  return lookup === undefined ? () => undefined : lookedUp(lookup, slot, `${at}.lookup`, env);
}

function isFieldList(sum: ListSource | readonly FieldMap[]): sum is readonly FieldMap[] {
  return Array.isArray(sum);
}

function parts(maps: readonly FieldMap[], slot: Slot, at: string, env: Env): Read[] {
  if (maps.length === 0) env.problem(at, 'the list is empty');
  return maps.map((map, index) => env.options.field(map, partOf(slot), `${at}[${index}]`, env));
}

function firstOf(reads: readonly Read[], traced: boolean): Read {
  if (traced) return tracedFirst(reads);
  return (scope) => {
    for (const read of reads) {
      const value = read(scope);
      if (!isBlank(value)) return value;
    }
    return undefined;
  };
}

/** Looks at every alternative, so that one which was not needed this time is not called unmapped; the first alone is the origin. */
function tracedFirst(reads: readonly Read[]): Read {
  return (scope) => {
    const { trace } = scope.root;
    let taken: Json | undefined;
    for (const read of reads) {
      const before = trace?.sources ?? [];
      if (trace !== undefined) trace.sources = [];
      const value = read(scope);
      if (trace !== undefined)
        trace.sources = isBlank(taken) && !isBlank(value) ? [...before, ...trace.sources] : before;
      if (isBlank(taken)) taken = value;
    }
    return taken;
  };
}

function joined(reads: readonly Read[], between: string): Read {
  return (scope) => {
    const texts: string[] = [];
    for (const read of reads) {
      const value = read(scope);
      if (isBlank(value)) continue;
      texts.push(keyText(value)?.trim() ?? JSON.stringify(value));
    }
    return texts.length === 0 ? undefined : texts.join(between);
  };
}

/** The numbers among values that are not empty; a value that is no number is handed on, so that the check names the field. */
function calculated(
  values: readonly Json[],
  form: FieldForm,
  env: Env,
  by: (numbers: Decimal[]) => Decimal,
): Json | undefined {
  const numbers: Decimal[] = [];
  for (const value of values) {
    const number = readNumber(value, form.number ?? env.options.numbers);
    if (number === undefined) return value;
    numbers.push(number);
  }
  return numbers.length === 0 ? undefined : by(numbers);
}

function listSum(source: ListSource, form: FieldForm, slot: Slot, at: string, env: Env): Read {
  const list = compileListSource(source, slot, `${at}.sum`, env);
  return (scope) => calculated(valuesOf(list, scope), form, env, add);
}

function sumOf(reads: readonly Read[], form: FieldForm, env: Env): Read {
  return (scope) => {
    const values = reads.map((read) => read(scope)).filter((value) => value !== undefined && !isBlank(value));
    return calculated(values as Json[], form, env, add);
  };
}

/** A product with an empty factor is empty: half of it is no amount. */
function productOf(reads: readonly Read[], form: FieldForm, env: Env): Read {
  return (scope) => {
    const values = reads.map((read) => read(scope));
    return values.some(isBlank) ? undefined : calculated(values as Json[], form, env, multiply);
  };
}

function extreme(source: ListSource, sign: 1 | -1, form: FieldForm, slot: Slot, at: string, env: Env): Read {
  const list = compileListSource(source, slot, at, env);
  const date = dateReaderFor(form, slot, at, env);
  const plain = (value: Json): string | undefined =>
    date === undefined
      ? (readNumber(value, form.number ?? env.options.numbers) ?? keyText(value))
      : (date(value) ?? keyText(value));
  return (scope) => {
    let best: string | undefined;
    for (const value of valuesOf(list, scope)) {
      const text = plain(value);
      if (text !== undefined && (best === undefined || order(text, best) * sign > 0)) best = text;
    }
    return best;
  };
}

function lookedUp(form: LookupForm, slot: Slot, at: string, env: Env): Read {
  const find = compileTable(form.in, form.key === undefined ? undefined : [form.key], at, env);
  const by = env.options.field(form.by, partOf(slot), `${at}.by`, env);
  const value = env.options.field(form.value ?? '$item', partOf(slot), `${at}.value`, env);
  return (scope) => {
    const key = keyText(by(scope));
    if (key === undefined) return undefined;
    for (const row of find(scope, key)) {
      const found = value(row);
      if (!isBlank(found)) return found;
    }
    return undefined;
  };
}
