import type { GuestField } from '../canonical/fields.ts';
import type { Json, JsonObject, Note, Origins } from '../terms.ts';
import type { MapConfig, MappingProblem, RawRecord, ShapeConfig } from './config.ts';
import { checkConfig } from './config-check.ts';
import { type Builder, type Built, compileBuilder, type DraftRecord } from './draft.ts';
import { Env } from './env.ts';
import { compileField } from './field.ts';
import { groupBy } from './flat.ts';
import type { Item } from './items.ts';
import { pushConfig } from './push.ts';
import { loneScope } from './record-scope.ts';
import { compileRows, type Misshapen, type Rows } from './rows.ts';
import { type Drift, keyText, type Scope, Trace } from './scope.ts';
import { selfContained } from './self-contained.ts';
import { asList, compileKey } from './table.ts';
import { unmappedPaths } from './unmapped.ts';

export type { RawRecord } from './config.ts';

/** What shape makes of one record: canonical keys, values unchecked. */
export interface Draft {
  readonly record: DraftRecord;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  /** The top-level canonical keys that the partner sent something for, be it null: what a partial event changes. */
  readonly present: ReadonlySet<string>;
}

interface GuestEventDraft {
  readonly record: Item<GuestField>;
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
  /** The one reservation of a response, or of an event's data. */
  single(body: Json): { readonly kind: 'ok'; readonly record: RawRecord } | Misshapen;
  draft(raw: RawRecord): Draft;
  /** Canonical path to the raw path, or paths, that gave its value. */
  origins(raw: RawRecord): Origins;
  /** Raw paths of the record that nothing read. */
  unmapped(raw: RawRecord): string[];
  /** The record with only that much of the response around it as its mapping looks at: what to keep of it. */
  selfContained(raw: RawRecord): RawRecord;
  /** The guest of a guest.updated event: the fields in its data, or in data.guest. */
  guestDraft(data: Json): GuestEventDraft;
  readonly flat: boolean;
}

export type CompiledShape =
  | { readonly kind: 'ok'; readonly shaper: Shaper }
  | { readonly kind: 'invalid'; readonly problems: MappingProblem[] };

/** A connector's mapping, checked whole and turned into functions. All its mistakes come at once. */
export function compileShape(config: ShapeConfig): CompiledShape {
  return compileAt(config, 'map');
}

/**
 * The same for the data of events: `push` is laid over the connector's map. The connector itself has compiled, so that only
 * what `push.map` says can be wrong, and its places are told.
 */
export function compilePushShape(config: ShapeConfig, push: MapConfig | undefined): CompiledShape {
  const alone = compileAt({ ...pushConfig(config, undefined), map: push }, 'push.map');
  return alone.kind === 'invalid' ? alone : compileAt(pushConfig(config, push), 'map');
}

function compileAt(config: ShapeConfig, mapAt: string): CompiledShape {
  const env = newEnv(config, mapAt, false);
  checkConfig(config, env);
  const rows = compileRows(config.shape ?? {}, env);
  const builder = compileBuilder(config, env);
  const flatKey = config.shape?.flat?.key;
  const rowKey = flatKey === undefined ? undefined : compileKey(asList(flatKey), 'shape.flat.key', env);
  if (env.problems.length > 0) return { kind: 'invalid', problems: distinct(env.problems) };
  return { kind: 'ok', shaper: new CompiledShaper(config, env, rows, builder, rowKey) };
}

/** A key of flat rows is compiled for the rows and for their items: one mistake is told once. */
function distinct(problems: readonly MappingProblem[]): MappingProblem[] {
  return [...new Map(problems.map((problem) => [`${problem.path} ${problem.message}`, problem])).values()];
}

function newEnv(config: ShapeConfig, mapAt: string, traced: boolean): Env {
  const { shape, timezone } = config;
  const dates = shape?.dates === undefined ? ['iso'] : asList(shape.dates);
  const flat = shape?.flat !== undefined;
  return new Env({ mapAt, traced, flat, timezone, dates, numbers: shape?.numbers, field: compileField });
}

type Mutable<Of> = { -readonly [Key in keyof Of]: Of[Key] };
type RowKey = (scope: Scope) => string | undefined;

class CompiledShaper implements Shaper {
  readonly flat: boolean;
  readonly #config: ShapeConfig;
  readonly #env: Env;
  readonly #rows: Rows;
  readonly #builder: Builder;
  readonly #rowKey: RowKey | undefined;
  readonly #keys = (raw: RawRecord): ReadonlySet<string> => this.#trace(raw).keys;
  #traced: Builder | undefined;

  constructor(config: ShapeConfig, env: Env, rows: Rows, builder: Builder, rowKey: RowKey | undefined) {
    this.#config = config;
    this.#env = env;
    this.#rows = rows;
    this.#builder = builder;
    this.#rowKey = rowKey;
    this.flat = rowKey !== undefined;
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
    return this.#rowKey?.(loneScope(row)) ?? '';
  }

  group(rows: readonly Json[]): RawRecord[] {
    // Rows without a key belong to no other: each is a record of its own, which the check then refuses by name.
    let nameless = 0;
    const groups = groupBy(rows, (row) => this.rowKey(row) || `\u0000${nameless++}`);
    return [...groups].map(([key, value]) => ({ key: key.startsWith('\u0000') ? '' : key, value }));
  }

  single(body: Json): ReturnType<Shaper['single']> {
    const found = this.#rows.single(body);
    if (found.kind === 'invalid') return found;
    if (!this.flat) return { kind: 'ok', record: this.#raw(found.row, body) };
    const rows = this.rows(body);
    const [first] = this.group(rows);
    return {
      kind: 'ok',
      record: first ?? { key: this.rowKey(found.row.item ?? null), value: [found.row.item ?? null] },
    };
  }

  #raw(row: Scope, body: Json): RawRecord {
    const raw: Mutable<RawRecord> = { key: '', value: row.item ?? null };
    if (this.#env.usesKey) raw.place = row.key;
    if (this.#env.usesParent) {
      const around: Json[] = [];
      for (let up = row.up; up !== undefined; up = up.up) around.push(up.item ?? null);
      raw.around = around;
    }
    if (this.#env.usesBody) raw.body = body;
    raw.key = this.#builder.key(raw);
    return raw;
  }

  draft(raw: RawRecord): Draft {
    return new LazyDraft(this.#builder.build(raw), raw, this.#keys);
  }

  origins(raw: RawRecord): Origins {
    return this.#trace(raw).origins;
  }

  unmapped(raw: RawRecord): string[] {
    return unmappedPaths(raw.value, this.#trace(raw).touched);
  }

  selfContained(raw: RawRecord): RawRecord {
    if (raw.body === undefined && raw.around === undefined) return raw;
    return selfContained(raw, this.#trace(raw));
  }

  guestDraft(data: Json): GuestEventDraft {
    const envelope = isObject(data) ? data : {};
    const guest = isObject(envelope.guest) ? envelope.guest : envelope;
    const trace = new Trace();
    const { record, notes, drift } = this.#tracedBuilder().guest(guest, trace);
    const nestedId = guest === envelope ? undefined : keyText(guest.id);
    const guestId = keyText(envelope.guest_id) ?? keyText(record.guest_id) ?? nestedId;
    const reservationId = keyText(envelope.reservation_id) ?? keyText(guest.reservation_id);
    return { record: { ...record, guest_id: guestId }, notes, drift, present: trace.itemKeys, guestId, reservationId };
  }

  #trace(raw: RawRecord): Trace {
    const trace = new Trace();
    this.#tracedBuilder().build(raw, trace);
    return trace;
  }

  /** Compiled a second time with tracing, at the first question. */
  #tracedBuilder(): Builder {
    this.#traced ??= compileBuilder(this.#config, newEnv(this.#config, 'map', true));
    return this.#traced;
  }
}

/** Most records are never asked what was present: a pulled one is whole. */
class LazyDraft implements Draft {
  readonly record: DraftRecord;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  readonly #raw: RawRecord;
  readonly #keys: (raw: RawRecord) => ReadonlySet<string>;

  constructor(built: Built<DraftRecord>, raw: RawRecord, keys: (raw: RawRecord) => ReadonlySet<string>) {
    this.record = built.record;
    this.notes = built.notes;
    this.drift = built.drift;
    this.#raw = raw;
    this.#keys = keys;
  }

  get present(): ReadonlySet<string> {
    return this.#keys(this.#raw);
  }
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
