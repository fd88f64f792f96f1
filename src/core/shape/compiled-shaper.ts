import { isObject, type Json, type JsonObject, type Origins } from '../../terms.ts';
import { isUsableId } from '../canonical/field-check.ts';
import type { RoomField } from '../canonical/fields.ts';
import { parsePath, pathText, type Step } from '../json-path/path.ts';
import type { ListMap, MapConfig, RawRecord, ShapeConfig } from './config.ts';
import { type Builder, loneScope } from './draft.ts';
import { Env } from './env.ts';
import { compileField } from './field.ts';
import type { FoundRows, Misshapen, Rows } from './rows.ts';
import { keyText, type Scope, Trace } from './scope.ts';
import { asList } from './table.ts';

export function newEnv(config: ShapeConfig, mapAt: string): Env {
  const { shape, timezone } = config;
  const dates = shape?.dates === undefined ? ['iso'] : asList(shape.dates);
  const flat = shape?.flat !== undefined;
  return new Env({ mapAt, flat, timezone, dates, field: compileField });
}

type Mutable<Of> = { -readonly [Key in keyof Of]: Of[Key] };

function allOf({ rows, partial }: FoundRows): Json[] {
  return [...rows, ...partial].map((row) => row.item ?? null);
}

/** A key that the database cannot index counts as missing: the check then refuses the record because of its id. */
function usableKey(key: string | undefined): string {
  return key === undefined || !isUsableId(key) ? '' : key;
}

function hasRoomDates(rooms: MapConfig['rooms']): boolean {
  const parts: readonly ListMap<RoomField>[] =
    rooms === undefined || rooms === false ? [] : Array.isArray(rooms) ? rooms : [rooms as ListMap<RoomField>];
  return parts.some(({ fields }) => fields?.start_date !== undefined && fields.start_date !== false);
}

type RowKey = (scope: Scope) => string | undefined;

/** A compiled mapping: what compileShape returns. */
export type Shaper = ReturnType<typeof shaperOf>;

export function shaperOf(
  config: ShapeConfig,
  env: Env,
  listing: Rows,
  builder: Builder,
  keyOfRow: RowKey | undefined,
  receiptOf: RowKey | undefined,
) {
  const flat = keyOfRow !== undefined;

  const rawOf = (row: Scope, body: Json): RawRecord => {
    const raw: Mutable<RawRecord> = { key: '', value: row.item ?? null };
    if (env.usesKey) raw.place = row.key;
    if (env.usesParent) {
      const around: Scope[] = [];
      for (let up = row.up; up !== undefined; up = up.up) around.push(up);
      raw.around = around.map(({ item }) => item ?? null);
      if (env.usesParentKey) raw.places = around.map(({ key }) => key);
    }
    if (env.usesBody) raw.body = body;
    raw.key = usableKey(builder.key(raw));
    return raw;
  };

  /** The rows of the response, ungrouped; empty if there is no list. */
  const rows = (body: Json): Json[] => {
    const all = listing.all(body);
    return all.kind === 'invalid' ? [] : allOf(all);
  };

  /** The group key of a row; empty if it has none. */
  const rowKey = (row: Json): string => usableKey(keyOfRow?.(loneScope(row)));

  /** Groups rows that were collected over pages and windows. */
  const group = (list: readonly Json[]): RawRecord[] => {
    // Each row without a key becomes a separate record, which the check then refuses because its id is missing.
    let nameless = 0;
    const groups = Map.groupBy(list, (row) => rowKey(row) || `\u0000${nameless++}`);
    return [...groups].map(([key, value]) => ({ key: key.startsWith('\u0000') ? '' : key, value }));
  };

  const traceOf = (...records: readonly RawRecord[]): Trace => {
    const trace = new Trace();
    for (const raw of records) builder.build(raw, trace);
    return trace;
  };

  return {
    flat,
    /**
     * Rows of one reservation have their own dates, so a list may show only some of them: a group with fewer rooms than before may be
     * cut off at the edge of a window.
     */
    mayCutGroups: flat && config.shape?.flat?.whole !== true && hasRoomDates(config.map?.rooms),
    rows,
    rowKey,
    /** What acknowledges a row; undefined if it has nothing, or if its id does. */
    receipt: receiptOf && ((row: Json) => receiptOf(loneScope(row))),
    group,
    count: listing.count,
    draft: (raw: RawRecord) => builder.build(raw),

    /** Every reservation of a response; flat rows are grouped within it. */
    records(body: Json): { readonly kind: 'ok'; readonly records: RawRecord[]; readonly total?: number } | Misshapen {
      const all = listing.all(body);
      if (all.kind === 'invalid') return all;
      const records = flat
        ? group(allOf(all))
        : [
            ...all.rows.map((row) => rawOf(row, body)),
            ...all.partial.map((row) => ({ ...rawOf(row, body), partial: true as const })),
          ];
      const total = listing.total(body);
      return total === undefined ? { kind: 'ok', records } : { kind: 'ok', records, total };
    },

    /** The one reservation of a response, or of an event's data. */
    single(body: Json): { readonly kind: 'ok'; readonly record: RawRecord } | Misshapen {
      const one = listing.single(body);
      if (one.kind === 'invalid') return one;
      if (!flat) return { kind: 'ok', record: rawOf(one.row, body) };
      const [first] = group(rows(body));
      const item = one.row.item ?? null;
      return { kind: 'ok', record: first ?? { key: rowKey(item), value: [item] } };
    },

    /** Canonical path to the raw path or paths of its value. */
    origins: (raw: RawRecord): Origins => traceOf(raw).origins,
    /** Raw paths of the record that the mapping never read. */
    unmapped: (raw: RawRecord) => unmappedPaths(raw.value, traceOf(raw).touched),

    /** The paths of the mapping that found nothing in any of these records. */
    unmatched(records: readonly RawRecord[]): { readonly at: string; readonly text: string }[] {
      const trace = traceOf(...records);
      const used = new Set([...trace.found].map(({ at }) => at));
      const missed = env.uses.filter((use) => trace.missed.has(use) && !used.has(use.at));
      return [...new Map(missed.map(({ at, text }) => [at, { at: at.replace(/\.path$/, ''), text }])).values()];
    },

    /** The record with only those parts of the response that its mapping reads: the form to store. */
    selfContained(raw: RawRecord): RawRecord {
      if (raw.body === undefined && raw.around === undefined) return raw;
      return selfContained(raw, traceOf(raw), env.tables);
    },

    /** The places outside the record that its mapping looks at. */
    outside(raw: RawRecord): ReadonlySet<string> {
      return env.usesBody || env.usesParent || env.usesKey ? traceOf(raw).outside : new Set();
    },

    /** The guest of a guest.updated event: the fields in its data, or in data.guest. */
    guestDraft(data: Json) {
      const envelope = isObject(data) ? data : {};
      const guest = isObject(envelope.guest) ? envelope.guest : envelope;
      const trace = new Trace();
      const { record, notes, drift } = builder.guest(guest, trace);
      const nestedId = guest === envelope ? undefined : keyText(guest.id);
      const guestId = keyText(envelope.guest_id) ?? keyText(record.guest_id) ?? nestedId;
      const named = keyText(envelope.reservation_id) ?? keyText(guest.reservation_id);
      const reservationId = usableKey(named) === '' ? undefined : named;
      /** Fields whose wrong value makes the event a dead letter. */
      const strict = new Set([...env.strict].flatMap((name) => /^guests\.(\w+)$/.exec(name)?.[1] ?? []));
      /** `present`: the guest's fields that were sent. */
      return {
        record: { ...record, guest_id: guestId },
        notes,
        drift,
        present: trace.itemKeys,
        guestId,
        reservationId,
        strict,
      };
    },
  };
}

/**
 * A raw record with only those parts of its response that the mapping read, so that it can be stored and mapped again without the
 * other reservations of its page.
 */
function selfContained(raw: RawRecord, trace: Trace, tables: ReadonlySet<string>): RawRecord {
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
    if (steps !== undefined) kept = put(kept, value, steps, 0, (listing) => onlyRows(listing, places));
  }
  for (const path of trace.touched) {
    const steps = stepsUnder(path, start);
    const isInTable = (table: string) => path === table || path.startsWith(`${table}[`) || path.startsWith(`${table}.`);
    if (steps === undefined || [...tables].some(isInTable)) continue;
    kept = put(kept, value, steps, 0, (listing) => listing);
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
  copy: (read: Json) => Json,
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

/**
 * The raw paths that the mapping never read, each once, with [] for indexes. Reading an object covers everything inside it; reading a
 * path in one item covers all items; empty lists and objects do not count.
 */
function unmappedPaths(value: Json, touched: ReadonlySet<string>): string[] {
  const read = new Set([...touched].map((path) => path.replace(/\[-?\d+\]/g, '[]')));
  const paths = new Set<string>();
  visit(value, '', read, paths);
  return [...paths];
}

function visit(value: Json, at: string, read: ReadonlySet<string>, paths: Set<string>): void {
  if (read.has(at)) return;
  if (Array.isArray(value)) {
    for (const item of value) visit(item, `${at}[]`, read, paths);
  } else if (typeof value === 'object' && value !== null) {
    for (const [key, item] of Object.entries(value)) visit(item, pathText(at, key), read, paths);
  } else {
    paths.add(at);
  }
}
