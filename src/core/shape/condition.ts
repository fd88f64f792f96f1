import type { Json } from '../../terms.ts';
import { compare, decimal } from '../canonical/reservation.ts';
import type { Condition, Conditions, Operators, Scalar, Test } from './config.ts';
import { documentPath, type Env } from './env.ts';
import { compileRead, silent } from './read.ts';
import { isBlank, keyText, type Scope } from './scope.ts';

export type Holds = (scope: Scope) => boolean;
type Accepts = (value: Json | undefined, scope: Scope) => boolean;

/** Compiles a condition. The paths it reads count as mapped, but not as the origin of the field's value. */
export function compileCondition(condition: Condition, at: string, env: Env): Holds {
  if (Array.isArray(condition)) {
    const any = condition.map((one, index) => all(one, `${at}[${index}]`, env));
    return (scope) => any.some((holds) => holds(scope));
  }
  return all(condition, at, env);
}

function all(conditions: Conditions, at: string, env: Env): Holds {
  const tests = Object.entries(conditions).map(([text, test]): Holds => {
    const place = documentPath(at, text);
    const path = env.pathOfKey(text, place);
    if (path === undefined) return () => false;
    const read = silent(compileRead(path));
    const accepts = compileTest(test, place, env);
    return (scope) => accepts(read(scope), scope);
  });
  if (tests.length === 0) env.problem(at, 'a condition is empty; name a path and the value it must have');
  return (scope) => tests.every((holds) => holds(scope));
}

function compileTest(test: Test, at: string, env: Env): Accepts {
  if (test === null) return (value) => isBlank(value);
  if (Array.isArray(test)) {
    const wanted = new Set((test as readonly (Scalar | null)[]).map((one) => (one === null ? null : String(one))));
    return (value) => (isBlank(value) ? wanted.has(null) : wanted.has(keyText(value) ?? null));
  }
  if (typeof test !== 'object') {
    const wanted = String(test);
    return (value) => keyText(value) === wanted;
  }
  const tests = operators(test as Operators, at, env);
  if (tests.length === 0) env.problem(at, 'no test is given; write one, such as is, not or exists');
  return (value, scope) => tests.every((accepts) => accepts(value, scope));
}

function operators(test: Operators, at: string, env: Env): Accepts[] {
  const tests: Accepts[] = [];
  const { is, not, exists, same_as: sameAs, not_same_as: notSameAs } = test;
  const { at_least: least, contains } = test;
  if (is !== undefined) tests.push(compileTest(is, at, env));
  if (not !== undefined) tests.push(refused(compileTest(not, at, env)));
  if (exists !== undefined) tests.push((value) => isBlank(value) !== exists);
  if (sameAs !== undefined) tests.push(equals(sameAs, `${at}.same_as`, env));
  if (notSameAs !== undefined) tests.push(refused(equals(notSameAs, `${at}.not_same_as`, env)));
  if (least !== undefined) tests.push((value) => isAtLeast(value, least));
  if (contains !== undefined)
    tests.push((value) =>
      Array.isArray(value)
        ? value.some((one) => keyText(one) === contains)
        : (keyText(value)?.includes(contains) ?? false),
    );
  return tests;
}

const refused =
  (accepts: Accepts): Accepts =>
  (value, scope) =>
    !accepts(value, scope);

/** Whether the value equals the one at a path. Two empty values are not equal. */
function equals(other: string, at: string, env: Env): Accepts {
  const path = env.path(other, at);
  const read = path === undefined ? () => undefined : silent(compileRead(path));
  return (value, scope) => {
    const text = keyText(value);
    return text !== undefined && text === keyText(read(scope));
  };
}

function isAtLeast(value: Json | undefined, bound: Scalar): boolean {
  const text = keyText(value);
  return text !== undefined && order(text, String(bound)) >= 0;
}

/** Compares numbers by value and everything else, such as dates, as text. */
export function order(one: string, other: string): number {
  const a = decimal(one);
  const b = decimal(other);
  if (a !== undefined && b !== undefined) return compare(a, b);
  return one < other ? -1 : one > other ? 1 : 0;
}
