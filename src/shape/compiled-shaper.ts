import type { RoomField } from '../canonical/fields.ts';
import { isUsableId } from '../canonical/limits.ts';
import { isObject, type Json, type Origins } from '../terms.ts';
import type { ListMap, MapConfig, RawRecord, ShapeConfig } from './config.ts';
import { type Builder, compileBuilder, type ItemIds } from './draft.ts';
import { Env } from './env.ts';
import { compileField } from './field.ts';
import { groupBy } from './flat.ts';
import { loneScope } from './record-scope.ts';
import type { FoundRows, Rows } from './rows.ts';
import { keyText, type Scope, Trace } from './scope.ts';
import { selfContained } from './self-contained.ts';
import type { Draft, GuestEventDraft, Shaper } from './shaper.ts';
import { asList } from './table.ts';
import { unmappedPaths } from './unmapped.ts';

export function newEnv(config: ShapeConfig, mapAt: string, traced: boolean): Env {
  const { shape, timezone } = config;
  const dates = shape?.dates === undefined ? ['iso'] : asList(shape.dates);
  const flat = shape?.flat !== undefined;
  return new Env({ mapAt, traced, flat, timezone, dates, numbers: shape?.numbers, field: compileField });
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
export class CompiledShaper implements Shaper {
  readonly flat: boolean;
  readonly mayCutGroups: boolean;
  readonly #config: ShapeConfig;
  readonly #env: Env;
  readonly #rows: Rows;
  readonly #builder: Builder;
  readonly #rowKey: RowKey | undefined;
  #traced: Builder | undefined;

  constructor(config: ShapeConfig, env: Env, rows: Rows, builder: Builder, rowKey: RowKey | undefined) {
    this.#config = config;
    this.#env = env;
    this.#rows = rows;
    this.#builder = builder;
    this.#rowKey = rowKey;
    this.flat = rowKey !== undefined;
    this.mayCutGroups = this.flat && config.shape?.flat?.whole !== true && hasRoomDates(config.map?.rooms);
  }

  records(body: Json): ReturnType<Shaper['records']> {
    const found = this.#rows.all(body);
    if (found.kind === 'invalid') return found;
    const records = this.flat
      ? this.group(allOf(found))
      : [
          ...found.rows.map((row) => this.#raw(row, body)),
          ...found.partial.map((row) => ({ ...this.#raw(row, body), partial: true as const })),
        ];
    const total = this.#rows.total(body);
    return total === undefined ? { kind: 'ok', records } : { kind: 'ok', records, total };
  }

  rows(body: Json): Json[] {
    const found = this.#rows.all(body);
    return found.kind === 'invalid' ? [] : allOf(found);
  }

  count(body: Json): number {
    return this.#rows.count(body);
  }

  rowKey(row: Json): string {
    return usableKey(this.#rowKey?.(loneScope(row)));
  }

  group(rows: readonly Json[]): RawRecord[] {
    // Each row without a key becomes a separate record, which the check then refuses because its id is missing.
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
      const around: Scope[] = [];
      for (let up = row.up; up !== undefined; up = up.up) around.push(up);
      raw.around = around.map(({ item }) => item ?? null);
      if (this.#env.usesParentKey) raw.places = around.map(({ key }) => key);
    }
    if (this.#env.usesBody) raw.body = body;
    raw.key = usableKey(this.#builder.key(raw));
    return raw;
  }

  draft(raw: RawRecord): Draft {
    return this.#builder.build(raw);
  }

  itemIds(raw: RawRecord): ItemIds {
    return this.#builder.itemIds(raw);
  }

  origins(raw: RawRecord): Origins {
    return this.#trace(raw).origins;
  }

  unmapped(raw: RawRecord): string[] {
    return unmappedPaths(raw.value, this.#trace(raw, true).touched ?? new Set());
  }

  unmatched(records: readonly RawRecord[]): { readonly at: string; readonly text: string }[] {
    const env = newEnv(this.#config, 'map', true);
    const builder = compileBuilder(this.#config, env);
    for (const raw of records) builder.build(raw, new Trace());
    const found = new Set(env.uses.filter((use) => use.found).map(({ at }) => at));
    const missed = env.uses.filter((use) => use.missed && !found.has(use.at));
    return [...new Map(missed.map(({ at, text }) => [at, { at: at.replace(/\.path$/, ''), text }])).values()];
  }

  selfContained(raw: RawRecord): RawRecord {
    if (raw.body === undefined && raw.around === undefined) return raw;
    return selfContained(raw, this.#trace(raw, true), this.#env.tables);
  }

  outside(raw: RawRecord): ReadonlySet<string> {
    const { usesBody, usesParent, usesKey } = this.#env;
    return usesBody || usesParent || usesKey ? this.#trace(raw).outside : new Set();
  }

  guestDraft(data: Json): GuestEventDraft {
    const envelope = isObject(data) ? data : {};
    const guest = isObject(envelope.guest) ? envelope.guest : envelope;
    const trace = new Trace();
    const { record, notes, drift } = this.#tracedBuilder().guest(guest, trace);
    const nestedId = guest === envelope ? undefined : keyText(guest.id);
    const guestId = keyText(envelope.guest_id) ?? keyText(record.guest_id) ?? nestedId;
    const named = keyText(envelope.reservation_id) ?? keyText(guest.reservation_id);
    const reservationId = usableKey(named) === '' ? undefined : named;
    const strict = new Set([...this.#env.strict].flatMap((name) => /^guests\.(\w+)$/.exec(name)?.[1] ?? []));
    const present = trace.itemKeys;
    return { record: { ...record, guest_id: guestId }, notes, drift, present, guestId, reservationId, strict };
  }

  #trace(raw: RawRecord, touching = false): Trace {
    const trace = new Trace(touching);
    this.#tracedBuilder().build(raw, trace);
    return trace;
  }

  /** Compiled on first use: tracing slows reading down, so normal records use a builder without it. */
  #tracedBuilder(): Builder {
    this.#traced ??= compileBuilder(this.#config, newEnv(this.#config, 'map', true));
    return this.#traced;
  }
}
