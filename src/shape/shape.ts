import type { Json, JsonObject, Note, Origins } from '../terms.ts';
import type { MappingProblem, RawRecord, ShapeConfig } from './config.ts';
import { checkConfig } from './config-check.ts';
import { type Builder, compileBuilder, type DraftRecord } from './draft.ts';
import { Env } from './env.ts';
import { compileField } from './field.ts';
import { groupBy } from './flat.ts';
import { compileRows, type Misshapen, type Rows } from './rows.ts';
import { type Drift, keyText, type Scope, Trace } from './scope.ts';
import { asList, compileKey } from './table.ts';
import { unmappedPaths } from './unmapped.ts';

export type { MapConfig, MappingProblem, RawRecord, ShapeConfig, ShapeSection, ValuesConfig } from './config.ts';
export type { Drift } from './scope.ts';

/** What shape makes of one record: canonical keys, values unchecked. */
export interface Draft {
  readonly record: DraftRecord;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  /** The top-level canonical keys that the partner sent something for, be it null: what a partial event changes. */
  readonly present: ReadonlySet<string>;
}

export interface GuestEventDraft {
  readonly record: { readonly [field: string]: Json | undefined };
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  /** The guest's fields that were sent. */
  readonly present: ReadonlySet<string>;
  readonly guestId: string | undefined;
  readonly reservationId: string | undefined;
}

export interface Shaper {
  /** Every reservation of a response; flat rows are put together within it. */
  records(body: Json): { readonly kind: 'ok'; readonly records: RawRecord[]; readonly total?: number } | Misshapen;
  /** The rows as they stand in the response; empty where there is no list. */
  rows(body: Json): Json[];
  /** How many rows the partner's paging counts in this response. */
  count(body: Json): number;
  /** Rows gathered over pages and windows, put together again. */
  group(rows: readonly Json[]): RawRecord[];
  /** The key under which a row is gathered; empty where it has none. */
  rowKey(row: Json): string;
  single(body: Json): { readonly kind: 'ok'; readonly record: RawRecord } | Misshapen;
  draft(raw: RawRecord): Draft;
  origins(raw: RawRecord): Origins;
  unmapped(raw: RawRecord): string[];
  guestDraft(data: Json): GuestEventDraft;
  readonly flat: boolean;
}

export type CompiledShape =
  | { readonly kind: 'ok'; readonly shaper: Shaper }
  | { readonly kind: 'invalid'; readonly problems: MappingProblem[] };

/** A connector's mapping, checked whole and turned into functions. All its mistakes come at once. */
export function compileShape(config: ShapeConfig): CompiledShape {
  const env = newEnv(config, false);
  checkConfig(config, env);
  const rows = compileRows(config.shape ?? {}, env);
  const builder = compileBuilder(config, env);
  const flatKey = config.shape?.flat?.key;
  const key = flatKey === undefined ? undefined : compileKey(asList(flatKey), 'shape.flat.key', env);
  if (env.problems.length > 0) return { kind: 'invalid', problems: env.problems };
  return { kind: 'ok', shaper: new CompiledShaper(config, env, rows, builder, key) };
}

function newEnv(config: ShapeConfig, traced: boolean): Env {
  const { shape, timezone } = config;
  const dates = shape?.dates === undefined ? ['iso'] : asList(shape.dates);
  const flat = shape?.flat !== undefined;
  return new Env({ traced, flat, timezone, dates, numbers: shape?.numbers, field: compileField });
}

class CompiledShaper implements Shaper {
  readonly flat: boolean;
  readonly #config: ShapeConfig;
  readonly #env: Env;
  readonly #rows: Rows;
  readonly #builder: Builder;
  readonly #flatKey: ((scope: Scope) => string | undefined) | undefined;
  #traced: Builder | undefined;

  constructor(config: ShapeConfig, env: Env, rows: Rows, builder: Builder, flatKey: CompiledShaper['rowKeyOf']) {
    this.#config = config;
    this.#env = env;
    this.#rows = rows;
    this.#builder = builder;
    this.#flatKey = flatKey;
    this.flat = flatKey !== undefined;
  }

  records(body: Json): ReturnType<Shaper['records']> {
    const found = this.#rows.all(body);
    if (found.kind === 'invalid') return found;
    const records = this.flat
      ? this.group(found.rows.map((row) => row.item ?? null))
      : found.rows.map((row) => this.#raw(row, body));
    const total = this.#rows.total(body);
    return total === undefined ? { kind: 'ok', records } : { kind: 'ok', records, total };
  }

  rows(body: Json): Json[] {
    const found = this.#rows.all(body);
    return found.kind === 'invalid' ? [] : found.rows.map((row) => row.item ?? null);
  }

  count(body: Json): number {
    return this.#rows.count(body);
  }

  rowKey(row: Json): string {
    return this.rowKeyOf?.(loneScope(row)) ?? '';
  }

  get rowKeyOf(): ((scope: Scope) => string | undefined) | undefined {
    return this.#flatKey;
  }

  group(rows: readonly Json[]): RawRecord[] {
    let nameless = 0;
    const groups = groupBy(rows, (row) => this.rowKey(row) || `\u0000${nameless++}`);
    return [...groups].map(([key, value]) => ({ key: key.startsWith('\u0000') ? '' : key, value }));
  }

  single(body: Json): ReturnType<Shaper['single']> {
    const found = this.#rows.single(body);
    if (found.kind === 'invalid') return found;
    if (!this.flat) return { kind: 'ok', record: this.#raw(found.row, body) };
    const rows = this.rows(body);
    const [record] = this.group(rows.length > 0 ? rows : [found.row.item ?? null]);
    return record === undefined
      ? { kind: 'invalid', code: 'record.root_not_found', message: 'The response holds no row.' }
      : { kind: 'ok', record };
  }

  #raw(row: Scope, body: Json): RawRecord {
    const value = row.item ?? null;
    const raw: { key: string; value: Json; around?: Json[]; body?: Json } = { key: '', value };
    if (this.#env.usesParent) {
      raw.around = [];
      for (let up = row.up; up !== undefined; up = up.up) raw.around.push(up.item ?? null);
    }
    if (this.#env.usesBody) raw.body = body;
    raw.key = this.#builder.key(raw);
    return raw;
  }

  draft(raw: RawRecord): Draft {
    const { record, notes, drift } = this.#builder.build(raw, undefined);
    return new LazyDraft(record, notes, drift, () => this.#trace(raw).keys);
  }

  origins(raw: RawRecord): Origins {
    return this.#trace(raw).origins;
  }

  unmapped(raw: RawRecord): string[] {
    return unmappedPaths(raw.value, this.#trace(raw).touched);
  }

  guestDraft(data: Json): GuestEventDraft {
    const envelope = isObject(data) ? data : {};
    const nested = envelope.guest;
    const guest = isObject(nested) ? nested : envelope;
    const trace = new Trace();
    const { record, notes, drift } = this.#tracedBuilder().guest(guest, trace);
    const guestId =
      keyText(envelope.guest_id) ?? keyText(record.guest_id) ?? (guest === nested ? keyText(guest.id) : undefined);
    const present = new Set(Object.keys(trace.origins).map((path) => path.slice(path.lastIndexOf('.') + 1)));
    if (guestId !== undefined) record.guest_id = guestId;
    return {
      record,
      notes,
      drift,
      present,
      guestId,
      reservationId: keyText(envelope.reservation_id) ?? keyText(guest.reservation_id),
    };
  }

  #trace(raw: RawRecord): Trace {
    const trace = new Trace();
    this.#tracedBuilder().build(raw, trace);
    return trace;
  }

  /** Compiled a second time with tracing, at the first question. */
  #tracedBuilder(): Builder {
    this.#traced ??= compileBuilder(this.#config, newEnv(this.#config, true));
    return this.#traced;
  }
}

/** Most records are never asked what was present: a pulled one is whole. */
class LazyDraft implements Draft {
  readonly record: DraftRecord;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  readonly #find: () => ReadonlySet<string>;
  #present: ReadonlySet<string> | undefined;
  constructor(record: DraftRecord, notes: readonly Note[], drift: readonly Drift[], find: () => ReadonlySet<string>) {
    this.record = record;
    this.notes = notes;
    this.drift = drift;
    this.#find = find;
  }
  get present(): ReadonlySet<string> {
    this.#present ??= this.#find();
    return this.#present;
  }
}

function loneScope(item: Json): Scope {
  const root = {
    record: undefined,
    index: 0,
    body: undefined,
    rows: undefined,
    notes: [],
    drift: [],
    trace: undefined,
  };
  return { item, key: 0, up: undefined, root, at: '', group: undefined };
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
