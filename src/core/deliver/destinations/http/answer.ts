import { parseForeignJson } from '../../../../kit/json.ts';
import { isObject, type Json } from '../../../../terms.ts';
import type { Outcome } from '../../destination.ts';
import { beginning, keptBytes, type vendorWords } from '../../http-answer.ts';
import type { AnswerRule, FailureRule, FoundRule } from './operation.ts';
import { reader } from './template.ts';

/** What an answer means beyond its status: for each item of a batch, and for a request that failed as a whole. */

type InWords = ReturnType<typeof vendorWords>;
type Known = { readonly status: number; readonly durationMs: number };

/** The wait after one item of a batch was rate-limited: items have no Retry-After. */
const itemLimitMs = 30_000;

/**
 * The outcome of each item of a batch, from a 2xx. An error that names no item is about the whole batch, which is then halved until
 * the bad item is alone.
 */
export function itemOutcomes(
  rule: AnswerRule,
  bytes: Uint8Array,
  keys: readonly (string | undefined)[],
  known: Known,
  inWords: InWords,
): Outcome[] {
  const body = parseBody(bytes);
  const unreadable = (message: string): Outcome[] => {
    const answer = beginning(bytes);
    return keys.map(() => ({
      kind: 'retry',
      code: 'deliver.answer_unreadable',
      message,
      answer,
      whole: true,
      ...known,
    }));
  };
  if (body === undefined) return unreadable('The answer is not JSON.');
  const failed = (error: Json, whole: boolean): Outcome => {
    const code = textAt(error, rule.code);
    const reason = textAt(error, rule.message);
    const message = `The destination refused the item${inWords(code, reason)}.`;
    const details = { message, answer: JSON.stringify(error).slice(0, keptBytes), ...known, ...(whole && { whole }) };
    if (code !== undefined && rule.later.includes(code)) {
      return { kind: 'retry', code: 'deliver.rate_limited', ...details, free: true, afterMs: itemLimitMs };
    }
    if (isNamed(rule.retry, code, reason)) return { kind: 'retry', code: 'deliver.server_error', ...details };
    if (!whole && isNamed(rule.settled, code, reason)) return { kind: 'skipped', ...details, code: 'refused_for_good' };
    return { kind: 'dead', code: 'deliver.refused', ...details };
  };

  if (rule.results !== undefined) {
    const results = at(body, rule.results);
    if (!Array.isArray(results) || results.length !== keys.length) {
      return unreadable('The answer does not hold one result per item.');
    }
    return results.map((result) =>
      at(result, rule.ok ?? '') === true ? { kind: 'delivered', ...known } : failed(result, false),
    );
  }
  const errors = at(body, rule.errors ?? '') ?? [];
  if (!Array.isArray(errors)) return unreadable('The errors in the answer are not a list.');
  const sent = new Set(keys.map((key) => key?.toLowerCase()));
  const byKey = new Map<string, Json>();
  const byIndex = new Map<number, Json>();
  let batchError: Json | undefined;
  for (const error of errors) {
    const position = rule.index === undefined ? undefined : at(error, rule.index);
    if (typeof position === 'number' && position < keys.length) {
      byIndex.set(position, error);
      continue;
    }
    const named = (rule.keys ?? []).map((path) => at(error, path)).find((value) => value !== undefined);
    const list = (Array.isArray(named) ? named : [named]).filter((key) => typeof key === 'string');
    const own = list.filter((key) => sent.has(key.toLowerCase()));
    if (own.length === 0) batchError ??= error;
    for (const key of own) byKey.set(key.toLowerCase(), error);
  }
  return keys.map((key, i): Outcome => {
    const error = byIndex.get(i) ?? (key === undefined ? undefined : byKey.get(key.toLowerCase()));
    if (error !== undefined) return failed(error, false);
    return batchError === undefined ? { kind: 'delivered', ...known } : failed(batchError, true);
  });
}

/** The outcome of a request that failed as a whole, with the vendor's own words. */
export function wholeOutcome(
  rule: FailureRule,
  outcome: Outcome,
  bytes: Uint8Array,
  {
    items,
    afterMs,
    inWords,
  }: { readonly items: number; readonly afterMs: number | undefined; readonly inWords: InWords },
): Outcome {
  if (outcome.kind !== 'retry' && outcome.kind !== 'dead') return outcome;
  const body = parseBody(bytes);
  const code = body === undefined ? undefined : textAt(body, rule.code);
  const reason = body === undefined ? undefined : textAt(body, rule.message);
  const message = `The destination answered ${outcome.status}${inWords(code, reason)}.`;
  const later = rule.later.find(
    (one) =>
      one.status === outcome.status &&
      (one.code === undefined || one.code === code) &&
      (one.empty !== true || bytes.length === 0),
  );
  const { kind: _, ...details } = { ...outcome, message };
  if (later !== undefined) {
    const waitMs = afterMs ?? later.after_seconds * 1_000;
    return { ...details, kind: 'retry', code: 'deliver.rate_limited', free: true, afterMs: waitMs };
  }
  if (isNamed(rule.retry, code, reason)) return { ...details, kind: 'retry', code: 'deliver.server_error' };
  if (items === 1 && isNamed(rule.settled, code, reason))
    return { ...details, kind: 'skipped', code: 'refused_for_good' };
  return { ...outcome, message };
}

/** By code, or by a part of the reason. */
const isNamed = (rules: readonly string[], code: string | undefined, reason: string | undefined): boolean =>
  rules.some((rule) => rule === code || reason?.toLowerCase().includes(rule.toLowerCase()));

/** Values of an answer: by path, for later requests, and for a second try. */

/** The values that an answer has for each item. */
export function foundValues(
  rule: FoundRule,
  bytes: Uint8Array,
  keys: readonly (string | undefined)[],
): readonly Readonly<Record<string, string>>[] {
  const body = parseBody(bytes);
  const elements = elementsOf(body === undefined ? undefined : at(body, rule.list), rule.key !== undefined);
  const byKey = new Map<string, Json>();
  for (const element of elements.toReversed()) {
    for (const path of [rule.key ?? []].flat()) {
      const key = textAt(element, path);
      if (key !== undefined) byKey.set(key.toLowerCase(), element);
    }
  }
  return keys.map((key, i) => {
    const own = rule.key === undefined ? elements[i] : byKey.get(key?.toLowerCase() ?? '');
    const values = Object.entries(rule.as).map(([name, path]) => [
      name,
      own === undefined ? undefined : valueAt(own, path),
    ]);
    return Object.fromEntries(values.filter(([, value]) => value !== undefined));
  });
}

function elementsOf(value: Json | undefined, isSearched: boolean): readonly Json[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  return isSearched && isObject(value) ? Object.values(value) : [value];
}

/** False counts as no value, so that `requires` can test a flag. */
const valueAt = (element: Json, path: string): string | undefined =>
  at(element, path) === true ? 'true' : textAt(element, path);

/** The path of a field for which the vendor refused the request, by `failure.without`. */
export function refusedField(
  rule: FailureRule | undefined,
  outcome: Outcome,
  bytes: Uint8Array | undefined,
): string | undefined {
  if (rule === undefined || outcome.kind !== 'dead' || bytes === undefined) return undefined;
  const answer = parseBody(bytes);
  const code = answer === undefined ? undefined : textAt(answer, rule.code);
  return code !== undefined && Object.hasOwn(rule.without, code) ? rule.without[code] : undefined;
}

export function parseBody(bytes: Uint8Array): Json | undefined {
  try {
    return parseForeignJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

export function at(value: Json, path: string): Json | undefined {
  if (path === '') return value;
  // A key may have dots itself, such as @odata.nextLink.
  if (isObject(value) && Object.hasOwn(value, path)) return value[path] ?? undefined;
  return reader(path.split('.'))(value) as Json | undefined;
}

export function textAt(value: Json, path: string | undefined): string | undefined {
  const part = path === undefined ? undefined : at(value, path);
  return typeof part === 'string' || typeof part === 'number' ? String(part) : undefined;
}
