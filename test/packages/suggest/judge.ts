import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';

/**
 * Compares canonical records with an expectation that names only what matters. In an expectation, `{ $any: [a, b, null] }` accepts one
 * of several values (null: absent), null and `{ $absent: true }` mean absent, and `$exact: [guests]` counts each surplus item of that
 * list as a miss, except those that an item with `$optional: true` describes. A record with `$optional: true` is allowed but not counted.
 * Items of lists pair by the best agreement, so their order does not matter. A value expected in `channel` may be in `source` and vice versa.
 * A status that the proposal leaves to a person is not counted.
 */
export interface Verdict {
  readonly hits: number;
  readonly misses: readonly Miss[];
}
export interface Miss {
  /** Such as guests.email. */
  readonly field: string;
  readonly text: string;
}

export function judge(expected: readonly JsonObject[], records: readonly Json[]): Verdict {
  const left = records.filter(isObject);
  const take = (record: JsonObject | undefined): JsonObject => {
    if (record !== undefined) left.splice(left.indexOf(record), 1);
    return record ?? {};
  };
  const known = new Map(expected.map((wanted) => [wanted, left.find(({ id }) => String(id) === String(wanted.id))]));
  for (const record of known.values()) take(record);
  const needed = expected.filter(({ $optional }) => $optional !== true);
  const verdicts = needed.map((wanted) => {
    const record = known.get(wanted);
    if (record !== undefined) return judgeObject(wanted, record, '');
    const best = left.toSorted((a, b) => judgeObject(wanted, b, '').hits - judgeObject(wanted, a, '').hits)[0];
    return judgeObject(wanted, take(best), '');
  });
  return sum([...verdicts, missed(left.length, 'id', 'a surplus record')]);
}

function judgeObject(wanted: JsonObject, made: JsonObject, prefix: string): Verdict {
  const exact = Array.isArray(wanted.$exact) ? wanted.$exact : [];
  const parts = Object.entries(wanted).flatMap(([key, value]): Verdict[] => {
    if (key.startsWith('$') || (key === 'status' && isLeftOpen(made))) return [];
    const got = made[key];
    if (Array.isArray(value)) return [judgeList(value as JsonObject[], asObjects(got), key, exact.includes(key))];
    const twin = { channel: 'source', source: 'channel' }[key];
    const right = isSame(key, value, got) || (twin !== undefined && isSame(key, value, made[twin]));
    const text = `${wanted.id ?? ''} ${prefix}${key}: ${JSON.stringify(value)}, not ${JSON.stringify(got)}`;
    return [right ? { hits: 1, misses: [] } : missed(1, prefix + key, text)];
  });
  return sum(parts);
}

const isLeftOpen = ({ status, status_raw }: JsonObject) => status === 'other' && status_raw !== undefined;

function judgeList(wanted: readonly JsonObject[], made: readonly JsonObject[], name: string, exact: boolean): Verdict {
  const left = [...made];
  const byNeed = wanted.toSorted((a, b) => Number(a.$optional === true) - Number(b.$optional === true));
  const verdicts = byNeed.map((one) => {
    const options = left.map((item) => judgeObject(one, item, `${name}.`));
    const best = options.reduce((at, option, index) => (option.hits > (options[at]?.hits ?? -1) ? index : at), 0);
    if (one.$optional === true) {
      if ((options[best]?.hits ?? 0) > 0) left.splice(best, 1);
      return missed(0, name, '');
    }
    left.splice(best, 1);
    return options[best] ?? judgeObject(one, {}, `${name}.`);
  });
  return sum([...verdicts, missed(exact ? left.length : 0, name, `a surplus item of ${name}`)]);
}

function asObjects(value: Json | undefined): JsonObject[] {
  return Array.isArray(value) ? value.filter(isObject) : [];
}

const loose: ReadonlySet<string> = new Set(['channel', 'source', 'room_type', 'board', 'rate_code', 'description']);

function isSame(key: string, wanted: Json, made: Json | undefined): boolean {
  if (isObject(wanted) && Array.isArray(wanted.$any)) return wanted.$any.some((one) => isSame(key, one, made));
  if (isObject(wanted) && wanted.$absent === true) return (made ?? '') === '';
  if (wanted === null || made === undefined || made === null) return wanted === null && (made ?? null) === null;
  if (typeof wanted === 'number' || key === 'total_amount' || key === 'amount') return Number(wanted) === Number(made);
  if (typeof wanted === 'boolean') return wanted === made;
  return loose.has(key) ? String(wanted).toLowerCase() === String(made).toLowerCase() : String(wanted) === String(made);
}

function missed(times: number, field: string, text: string): Verdict {
  return { hits: 0, misses: Array.from({ length: times }, () => ({ field, text })) };
}

function sum(verdicts: readonly Verdict[]): Verdict {
  return {
    hits: verdicts.reduce((hits, verdict) => hits + verdict.hits, 0),
    misses: verdicts.flatMap(({ misses }) => misses),
  };
}
