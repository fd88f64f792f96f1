import type { Json } from '../../terms.ts';
import { add, type Decimal, multiply } from '../canonical/reservation.ts';
import { order } from './condition.ts';
import type { FieldForm, FieldMap, ListSource, LookupForm } from './config.ts';
import type { Env } from './env.ts';
import { compileListSource, type ListValues, valuesOf } from './list-source.ts';
import { readNumber } from './numbers.ts';
import { compileRead } from './read.ts';
import { isBlank, isHollow, keyText, type Read, type Scope } from './scope.ts';
import { compileTable } from './table.ts';
import { asideOf, assume, pieceOf, type Slot } from './values.ts';

/** Leaves read the partner's JSON directly; every other source is built from fields, which are read on their own. */
export function isLeaf({ path, const: constant, join }: FieldForm): boolean {
  return path !== undefined || constant !== undefined || join !== undefined;
}

/** `dot` is empty for a bare path, whose position in the document is the field itself. */
export function compileSource(form: FieldForm, slot: Slot, at: string, dot: '' | '.', env: Env): Read {
  const { path, const: constant, first, join, sum, product, min, max, count, pick, lookup } = form;
  if (path !== undefined) {
    const parsed = env.path(path, dot === '' ? at : `${at}.path`);
    return parsed === undefined ? () => undefined : compileRead(parsed);
  }
  // A constant with a condition restates the partner's own data, so it does not count as assumed.
  if (constant !== undefined) return slot.piece || form.when !== undefined ? () => constant : assumed(constant, slot);
  if (first !== undefined) {
    const reads = pieces(first, pieceOf(slot), `${at}.first`, env);
    const taken = firstOf(reads);
    return slot.piece ? taken : assuming(taken, first, reads, slot);
  }
  if (join !== undefined) return joined(pieces(join, asideOf(slot), `${at}.join`, env), form.with ?? ' ');
  if (sum !== undefined) return summed(sum, pieceOf(slot, 'decimal'), `${at}.sum`, env);
  if (product !== undefined) return productOf(pieces(product, pieceOf(slot, 'decimal'), `${at}.product`, env));
  if (min !== undefined) return extreme(compileListSource(min, pieceOf(slot), `${at}.min`, env), -1);
  if (max !== undefined) return extreme(compileListSource(max, pieceOf(slot), `${at}.max`, env), 1);
  if (count !== undefined) return counted(compileListSource(count, asideOf(slot), `${at}.count`, env));
  if (pick !== undefined) return picked(compileListSource(pick, pieceOf(slot), `${at}.pick`, env));
  return lookup === undefined ? () => undefined : lookedUp(lookup, slot, `${at}.lookup`, env);
}

function pieces(maps: readonly FieldMap[], slot: Slot, at: string, env: Env): Read[] {
  return maps.map((map, index) => env.options.field(map, slot, `${at}[${index}]`, env));
}

function assumed(constant: Json, slot: Slot): Read {
  return (scope) => {
    assume(slot, scope.root);
    return constant;
  };
}

/** A constant among the alternatives counts as assumed only if the partner sent none of the others. */
function assuming(taken: Read, maps: readonly FieldMap[], reads: readonly Read[], slot: Slot): Read {
  const isConstant = (map: FieldMap | undefined) =>
    typeof map === 'object' && map.const !== undefined && map.when === undefined;
  const first = maps.findIndex(isConstant);
  if (first === -1) return taken;
  const before = reads.slice(0, first);
  return (scope) => {
    if (before.every((read) => read(scope) === undefined)) assume(slot, scope.root);
    return taken(scope);
  };
}

/** With a trace, every alternative is read, so that none counts as unmapped; only the first with a value is the origin. */
function firstOf(reads: readonly Read[]): Read {
  return (scope) => {
    const { trace } = scope.root;
    let taken: Json | undefined;
    for (const read of reads) {
      const before = trace?.sources.length;
      const value = read(scope);
      const isFirst = isBlank(taken) && !isBlank(value) && !isHollow(value);
      if (isFirst && trace === undefined) return value;
      if (isFirst) taken = value;
      else if (trace !== undefined) trace.sources.length = before ?? 0;
      if (value !== undefined && taken === undefined) taken = null;
    }
    return taken;
  };
}

function joined(reads: readonly Read[], between: string): Read {
  return (scope) => {
    const texts: string[] = [];
    let empty: null | undefined;
    for (const read of reads) {
      const value = read(scope);
      if (value !== undefined) empty = null;
      if (isBlank(value)) continue;
      texts.push(keyText(value)?.trim() ?? JSON.stringify(value));
    }
    return texts.length === 0 ? empty : texts.join(between);
  };
}

/** A value that is not a number is returned unchanged, so that the check names the field. */
function calculated(values: readonly Json[], by: (numbers: Decimal[]) => Decimal): Json | undefined {
  const numbers: Decimal[] = [];
  for (const value of values) {
    const number = readNumber(value, undefined);
    if (number === undefined) return value;
    numbers.push(number);
  }
  return numbers.length === 0 ? undefined : by(numbers);
}

function summed(source: ListSource | FieldMap[], slot: Slot, at: string, env: Env): Read {
  if (!Array.isArray(source)) {
    const list = compileListSource(source, slot, at, env);
    return (scope) => calculated(valuesOf(list, scope), add) ?? emptyIfThere(list, scope);
  }
  const reads = pieces(source, slot, at, env);
  return (scope) => {
    const values = reads.map((read) => read(scope));
    return calculated(present(values), add) ?? emptyIfSent(values);
  };
}

function present(values: readonly (Json | undefined)[]): Json[] {
  return values.filter((value): value is Json => !isBlank(value));
}

const emptyIfSent = (values: readonly (Json | undefined)[]): null | undefined =>
  values.some((value) => value !== undefined) ? null : undefined;

const emptyIfThere = (list: ListValues, scope: Scope): null | undefined => (list.isSent(scope) ? null : undefined);

/** A product with an empty factor is empty. */
function productOf(reads: readonly Read[]): Read {
  return (scope) => {
    const read = reads.map((one) => one(scope));
    const values = present(read);
    return values.length < reads.length ? emptyIfSent(read) : calculated(values, multiply);
  };
}

function extreme(list: ListValues, sign: 1 | -1): Read {
  return (scope) => {
    let best: string | undefined;
    for (const value of valuesOf(list, scope)) {
      const text = keyText(value);
      if (text !== undefined && (best === undefined || order(text, best) * sign > 0)) best = text;
    }
    return best ?? emptyIfThere(list, scope);
  };
}

/** A missing or null list gives no count; an empty one gives 0. */
function counted(list: ListValues): Read {
  return (scope) => {
    const items = list.items(scope);
    if (items.length === 0 && !list.isList(scope)) return emptyIfThere(list, scope);
    return items.filter((item) => !isBlank(list.value(item))).length;
  };
}

function picked(list: ListValues): Read {
  return (scope) => {
    for (const item of list.items(scope)) {
      const value = list.value(item);
      if (!isBlank(value)) return value;
    }
    return emptyIfThere(list, scope);
  };
}

function lookedUp(form: LookupForm, slot: Slot, at: string, env: Env): Read {
  const find = compileTable(form.in, form.key === undefined ? undefined : [form.key], at, env);
  const by = env.options.field(form.by, asideOf(slot), `${at}.by`, env);
  const value = env.options.field(form.value ?? '$item', pieceOf(slot), `${at}.value`, env);
  return (scope) => {
    const asked = by(scope);
    const key = keyText(asked);
    if (key === undefined) return asked === undefined ? undefined : null;
    for (const row of find(scope, key)) {
      const keys = value(row);
      if (!isBlank(keys)) return keys;
    }
    return null;
  };
}
