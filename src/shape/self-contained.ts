import { parsePath, type Step } from '../json-path/path.ts';
import { isObject, type Json, type JsonObject } from '../terms.ts';
import type { RawRecord } from './config.ts';
import type { Trace } from './scope.ts';

/**
 * A raw record with only those parts of its response that the mapping read, so that it can be stored and mapped again without the
 * other reservations of its page.
 */
export function selfContained(raw: RawRecord, trace: Trace, tables: ReadonlySet<string>): RawRecord {
  const pruned = (value: Json, start: string) => prune(value, start, trace, tables);
  const body = raw.body === undefined ? {} : { body: pruned(raw.body, '$body') };
  const around = raw.around?.map((one, level) => pruned(one, `$parent${'.$parent'.repeat(level)}`));
  return { ...raw, ...body, ...(around !== undefined && { around }) };
}

function prune(value: Json, start: string, trace: Trace, tables: ReadonlySet<string>): Json {
  let kept: Json = Array.isArray(value) ? [] : {};
  for (const table of tables) {
    const steps = stepsUnder(table, start);
    const places = trace.tables.get(table) ?? new Set();
    if (steps !== undefined) kept = put(kept, value, steps, 0, (found) => onlyRows(found, places));
  }
  for (const path of trace.touched ?? []) {
    const steps = stepsUnder(path, start);
    const isInTable = (table: string) => path === table || path.startsWith(`${table}[`) || path.startsWith(`${table}.`);
    if (steps === undefined || [...tables].some(isInTable)) continue;
    kept = put(kept, value, steps, 0, (found) => found);
  }
  return kept;
}

/** The steps of a path below `start`; undefined if the path starts elsewhere. */
function stepsUnder(path: string, start: string): readonly Step[] | undefined {
  const next = path[start.length];
  if (!path.startsWith(start) || (next !== undefined && next !== '.' && next !== '[')) return undefined;
  if (path.startsWith(`${start}.$`)) return undefined;
  const parsed = parsePath(path);
  return parsed.kind === 'ok' ? parsed.path.steps : undefined;
}

/** Copies the value at the end of the steps. A list that the path passes through is copied whole, so that its indexes stay valid. */
function put(
  kept: Json | undefined,
  value: Json | undefined,
  steps: readonly Step[],
  index: number,
  copy: (found: Json) => Json,
): Json {
  const step = steps[index];
  if (value === undefined || value === null) return value ?? null;
  if (step === undefined) return copy(value);
  if (step.kind !== 'key' || Array.isArray(value) || typeof value !== 'object') return value;
  const into: JsonObject = isObject(kept) ? kept : {};
  const inner = value[step.key];
  if (inner !== undefined) into[step.key] = put(into[step.key], inner, steps, index + 1, copy);
  return into;
}

function onlyRows(table: Json, places: ReadonlySet<string | number>): Json {
  if (Array.isArray(table)) return table.filter((_row, place) => places.has(place));
  if (typeof table !== 'object' || table === null) return table;
  return Object.fromEntries(Object.entries(table).filter(([key]) => places.has(key)));
}
