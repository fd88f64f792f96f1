import { parseJson } from '../../../kit/json.ts';
import type { Json } from '../../../terms.ts';
import type { Outcome } from '../../destination.ts';
import { beginning } from '../../http-answer.ts';
import type { AnswerRule } from './operation.ts';

/**
 * What the answer to a batch (a 2xx) says about each item. An error that cannot be laid at an item's door is the whole
 * batch's, which is then halved until it stands alone.
 */
export function itemOutcomes(
  rule: AnswerRule,
  bytes: Uint8Array,
  keys: readonly (string | undefined)[],
  known: { readonly status: number; readonly durationMs: number },
): Outcome[] {
  const body = parse(bytes);
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
    const message = `The destination did not take the item${code === undefined ? '' : ` (${code})`}.`;
    const told = { message, answer: JSON.stringify(error).slice(0, 2_048), ...known, ...(whole && { whole }) };
    return code !== undefined && rule.retry.includes(code)
      ? { kind: 'retry', code: 'deliver.server_error', ...told }
      : { kind: 'dead', code: 'deliver.refused', ...told };
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
  if (!Array.isArray(errors)) return unreadable('The list of errors in the answer is no list.');
  const byKey = new Map<string, Json>();
  let nobodys: Json | undefined;
  for (const error of errors) {
    const named = (rule.keys ?? []).map((path) => at(error, path)).find((value) => value !== undefined);
    const list = (Array.isArray(named) ? named : [named]).filter((key) => typeof key === 'string');
    const own = list.filter((key) => keys.some((known_) => same(known_, key)));
    if (own.length === 0) nobodys ??= error;
    for (const key of own) byKey.set(key.toLowerCase(), error);
  }
  return keys.map((key): Outcome => {
    const error = key === undefined ? undefined : byKey.get(key.toLowerCase());
    if (error !== undefined) return failed(error, false);
    return nobodys === undefined ? { kind: 'delivered', ...known } : failed(nobodys, true);
  });
}

const same = (key: string | undefined, other: string): boolean => key?.toLowerCase() === other.toLowerCase();

function parse(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}

function at(value: Json, path: string): Json | undefined {
  if (path === '') return value;
  let found: Json | undefined = value;
  for (const part of path.split('.')) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, part)) return undefined;
    found = (found as { [key: string]: Json })[part];
  }
  return found ?? undefined;
}

function textAt(value: Json, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : at(value, path);
  return typeof found === 'string' || typeof found === 'number' ? String(found) : undefined;
}
