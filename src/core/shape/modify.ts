import type { Json } from '../../terms.ts';
import { passes } from '../canonical/field-check.ts';
import { noteOf } from '../canonical/notes.ts';
import { negate, shiftPoint } from '../canonical/reservation.ts';
import { minorDigits } from '../canonical/values.ts';
import { compileCondition, type Holds } from './condition.ts';
import type { FieldForm } from './config.ts';
import { addDays, isPlaceholderDate, isZeros } from './dates.ts';
import type { Env } from './env.ts';
import { readNumber } from './numbers.ts';
import { compileRead, silent } from './read.ts';
import { isBlank, isHollow, keyText, type Read, type Scope } from './scope.ts';
import { isLeaf } from './source.ts';
import {
  asideOf,
  assume,
  compileValues,
  doubleSpellings,
  namePart,
  type Reading,
  type Slot,
  slotName,
  slotPath,
  translated,
} from './values.ts';

/** Changes a value that is not empty; undefined empties the field. */
type Modify = (value: Json, scope: Scope) => Json | undefined;

/** Applies the modifiers in a fixed order, whatever their order in the document. A value that a modifier cannot read passes unchanged, so that the check names the field. */
export function compileModifiers(source: Read, form: FieldForm, slot: Slot, at: string, env: Env): Read {
  const leaf = isLeaf(form);
  const steps = [
    emptied(form),
    named(form),
    valued(form, slot, at, env),
    leaf ? numbered(slot.reading) : undefined,
    minor(form, at, env),
    negated(form),
    leaf ? dated(slot) : undefined,
    later(form, slot, at, env),
  ].filter((step) => step !== undefined);
  let read = steps.length === 0 ? source : chained(source, steps);
  if (form.when !== undefined) read = conditional(read, compileCondition(form.when, `${at}.when`, env));
  if (form.with !== undefined && form.join === undefined) env.problem(`${at}.with`, 'can only be used with join');
  if (form.if_invalid === 'drop') read = dropping(read, slot);
  return form.default === undefined ? read : defaulted(read, form.default, slot);
}

/** Keeps the distinction of `Read`: undefined is a key that was not sent, null one that was sent empty. */
function chained(source: Read, steps: readonly Modify[]): Read {
  return (scope) => {
    let value = source(scope);
    if (value === undefined) return undefined;
    for (const step of steps) {
      if (value === undefined || isBlank(value)) return null;
      value = step(value, scope);
    }
    return value ?? null;
  };
}

/** With a trace, the field is read even if the condition fails, so that it does not count as unmapped. */
function conditional(read: Read, holds: Holds): Read {
  const unseen = silent(read);
  return (scope) => {
    if (holds(scope)) return read(scope);
    if (scope.root.trace !== undefined) unseen(scope);
    return undefined;
  };
}

/** A default for a missing key is the connector's assumption, not a statement of the partner. */
function defaulted(read: Read, fallback: Json, slot: Slot): Read {
  return (scope) => {
    const value = read(scope);
    if (value === undefined && !slot.piece) assume(slot, scope.root);
    return isBlank(value) ? fallback : value;
  };
}

function dropping(read: Read, slot: Slot): Read {
  const { kind } = slot;
  if (kind === 'json') return read;
  return (scope) => {
    const value = read(scope);
    if (isBlank(value) || passes(kind, value)) return value;
    scope.root.notes.push(noteOf('invalid_dropped', slotPath(slot, scope.root)));
    return undefined;
  };
}

function emptied({ empty }: FieldForm): Modify | undefined {
  if (empty === undefined) return undefined;
  const blanks = new Set(empty.map((one) => (typeof one === 'object' ? JSON.stringify(one) : String(one))));
  return (value) =>
    blanks.has(isHollow(value) ? JSON.stringify(value) : (keyText(value)?.trim() ?? '')) ? undefined : value;
}

function named({ name }: FieldForm): Modify | undefined {
  if (name === undefined) return undefined;
  return (value) => (typeof value === 'string' ? namePart(value, name) : value);
}

function valued(form: FieldForm, slot: Slot, at: string, env: Env): Modify | undefined {
  if (form.values !== undefined) {
    for (const spelling of doubleSpellings(form.values))
      env.problem(`${at}.values`, `the spelling ${spelling} is listed under two values`);
  }
  const translate = form.values === undefined ? slot.values : compileValues(form.values);
  if (translate === undefined) return undefined;
  const name = slotName(slot);
  return (value, scope) => translated(value, translate, name, scope.root);
}

function numbered({ number }: Reading): Modify | undefined {
  return number === undefined ? undefined : (value) => readNumber(value, number) ?? value;
}

function minor({ minor_units: units }: FieldForm, at: string, env: Env): Modify | undefined {
  if (units === undefined) return undefined;
  if (typeof units === 'number') return (value) => inMajorUnits(value, units);
  if (typeof units === 'object') {
    const path = env.path(units.path, `${at}.minor_units.path`);
    const digits = path === undefined ? () => undefined : silent(compileRead(path));
    return (value, scope) => {
      const text = keyText(digits(scope));
      if (text === undefined) return value;
      return /^[0-8]$/.test(text) ? inMajorUnits(value, Number(text)) : 'minor units of an unreadable number of digits';
    };
  }
  const currency = silent(env.currency);
  return (value, scope) => {
    const { record } = scope.root;
    const code = record === undefined ? undefined : keyText(currency(record));
    const digits = code === undefined ? undefined : minorDigits(code.trim().toUpperCase());
    const number = readNumber(value, undefined);
    // Without a known currency the amount could be wrong by a factor of 100: a text makes the check refuse the field.
    return number === undefined || digits === undefined
      ? 'minor units of an unknown currency'
      : shiftPoint(number, digits);
  };
}

function inMajorUnits(value: Json, digits: number): Json {
  const number = readNumber(value, undefined);
  return number === undefined ? value : shiftPoint(number, digits);
}

function negated(form: FieldForm): Modify | undefined {
  if (form.negate !== true) return undefined;
  return (value) => {
    const number = readNumber(value, undefined);
    return number === undefined ? value : negate(number);
  };
}

function dated(slot: Slot): Modify | undefined {
  const { date: read } = slot.reading;
  if (read === undefined) return undefined;
  return (value, scope) => {
    const date = read(value);
    if (date === undefined ? !isZeros(value) : !isPlaceholderDate(date)) return date ?? value;
    scope.root.notes.push(noteOf('placeholder_date', slotPath(slot, scope.root), { before: value }));
    return undefined;
  };
}

function later({ add_days: days }: FieldForm, slot: Slot, at: string, env: Env): Modify | undefined {
  if (days === undefined || days === 0) return undefined;
  if (typeof days === 'number') return (value) => (typeof value === 'string' ? (addDays(value, days) ?? value) : value);
  const read = env.options.field(days, asideOf(slot), `${at}.add_days`, env);
  return (value, scope) => {
    const given = read(scope);
    const number = given === undefined || isBlank(given) ? undefined : readNumber(given, undefined);
    if (number === undefined || typeof value !== 'string') return undefined;
    return addDays(value, Number(number)) ?? value;
  };
}
