import type { Json, JsonObject, Note } from '../../terms.ts';
import {
  type GuestField,
  type ListName,
  listNames,
  type ReservationField,
  reservationFields,
} from '../canonical/fields.ts';
import { noteOf } from '../canonical/notes.ts';
import { readStatus } from '../canonical/values.ts';
import { compileCondition } from './condition.ts';
import type { RawRecord, ShapeConfig } from './config.ts';
import type { Env } from './env.ts';
import { compileExtra, compileSlot } from './field.ts';
import { asOne, compileConflict, overRows, type Rank } from './flat.ts';
import { compileList, type ListPart } from './list-map.ts';
import { type Drift, isBlank, keyText, type Read, type Root, type Scope, type Trace } from './scope.ts';
import { drift, newSlot, valuesFor } from './values.ts';

/** The canonical keys of a record with values not yet checked; undefined where the partner sent nothing, null where it sent an empty value. */
export type DraftRecord = {
  [Name in ReservationField | 'status_raw']: Json | undefined;
} & { [Name in 'guests' | 'rooms' | 'charges']: Json[] | undefined } & { extra: JsonObject | undefined };

interface Built<Of> {
  /** Fields whose wrong value makes the record a dead letter. */
  readonly strict?: ReadonlySet<string>;
  readonly record: Of;
  readonly notes: readonly Note[];
  readonly drift: readonly Drift[];
  /** Fields, such as guests[0].nationality, that hold a constant or default of the connector because nothing was sent for them. */
  readonly assumed: ReadonlySet<string> | undefined;
  /** The condition `where` of the mapping does not hold: it is not a reservation. */
  readonly isExcluded?: boolean;
}

/** One mapped record: canonical keys, unchecked values. */
export interface Draft extends Built<DraftRecord> {
  /** The partner's own ids of rooms and charges, by position; undefined if there is none. */
  readonly itemIds: { readonly [Name in 'rooms' | 'charges']: ItemIds };
}

type ItemIds = readonly (string | undefined)[] | undefined;

/** Corrects an event's payload by the type of the event, before the check. */
export type Adjust = (record: DraftRecord) => { readonly record: DraftRecord; readonly notes: readonly Note[] };

export type Builder = ReturnType<typeof compileBuilder>;

/** Compiles the whole mapping of a connector. */
export function compileBuilder(config: ShapeConfig, env: Env) {
  const flat = config.shape?.flat;
  const conflict = flat === undefined ? undefined : compileConflict(flat.conflict);
  const over = overRows(conflict);
  const top = (field: ReservationField): Read => {
    // compileStatus looks up the values of a status, because it also needs the raw spelling.
    const values = field === 'status' ? undefined : valuesFor(field, config);
    const slot = newSlot(undefined, field, reservationFields[field], values);
    return compileSlot(config.map?.[field], slot, `${env.options.mapAt}.${field}`, env, over(slot));
  };
  const names = Object.keys(reservationFields) as ReservationField[];
  // The amounts of every other field may need the currency.
  const currency = top('currency');
  env.currency = currency;
  const others = names.filter((name) => name !== 'currency').map((name) => [name, top(name)] as const);
  const of = Object.fromEntries(others) as Record<ReservationField, Read>;
  const reads = [...others.filter(([name]) => name !== 'status'), ['currency', currency] as const];
  const status = compileStatus(of.status, config);
  const guests = compileList('guests', config, conflict, env);
  const rooms = compileList('rooms', config, conflict, env);
  const charges = compileList('charges', config, conflict, env);
  const extra = compileExtra(config.map?.extra, 'extra', `${env.options.mapAt}.extra`, env, over);
  const { where } = config.map ?? {};
  const holds = where && compileCondition(where, `${env.options.mapAt}.where`, env);
  const scopeOf = (raw: RawRecord, trace: Trace | undefined): Scope =>
    conflict === undefined ? nestedScope(raw, trace) : flatScope(raw, conflict.rank, trace);

  return {
    /** The partner's id of a record as text; empty if there is none. */
    key: (raw: RawRecord) => keyText(of.id(scopeOf(raw, undefined)))?.trim() ?? '',
    build(raw: RawRecord, trace?: Trace): Draft {
      const scope = scopeOf(raw, trace);
      const state = status(scope);
      const record = readEach(reads, scope) as DraftRecord;
      record.status = state.status;
      record.status_raw = state.raw;
      const made = {
        guests: itemsOf(scope, 'guests', guests, 'last_name'),
        rooms: itemsOf(scope, 'rooms', rooms, 'room_type'),
        charges: itemsOf(scope, 'charges', charges, 'amount'),
      };
      for (const name of listNames) record[name] = made[name].items as Json[] | undefined;
      const itemIds = { rooms: made.rooms.ids, charges: made.charges.ids };
      record.extra = extra?.(scope);
      const { notes, drift, assumed } = scope.root;
      const isExcluded = holds !== undefined && raw.partial !== true && !holds(scope);
      return {
        record,
        notes,
        drift: distinct(drift),
        assumed,
        strict: env.strict,
        itemIds,
        ...(isExcluded && { isExcluded }),
      };
    },
    guest(item: Json, trace?: Trace): Built<Item<GuestField>> {
      const scope = loneScope(item, trace);
      const [part] = guests;
      const record = part === undefined ? ({} as Item<GuestField>) : withExtra(part, scope);
      return { record, notes: scope.root.notes, drift: distinct(scope.root.drift), assumed: scope.root.assumed };
    },
  };
}

/** Counts a spelling once per record, even if several rows or rooms have it. */
function distinct(drift: readonly Drift[]): readonly Drift[] {
  if (drift.length < 2) return drift;
  return [...new Map(drift.map((one) => [`${one.field} ${one.value}`, one])).values()];
}

/** The fields of one item, unchecked. */
export type Item<Field extends string> = { [Name in Field]: Json | undefined } & { extra?: JsonObject };

/** The raw value of each field. */
function readEach<Field extends string>(reads: ListPart<Field>['reads'], scope: Scope): Item<Field> {
  const item: { [name: string]: Json | undefined } = {};
  for (const [name, read] of reads) item[name] = read(scope);
  return item as Item<Field>;
}

/**
 * Builds the items of a list; undefined if the partner sent neither the list nor any field of its items. An item without any value is
 * left out with a note. `usual` is a field that nearly every item has, so that the other fields rarely need to be checked.
 */
export function itemsOf<Field extends string>(
  scope: Scope,
  name: ListName,
  parts: readonly ListPart<Field>[],
  usual: NoInfer<Field>,
): { readonly items: Item<Field>[] | undefined; readonly ids: ItemIds } {
  const { root } = scope;
  const out: Item<Field>[] = [];
  let ids: (string | undefined)[] | undefined;
  let seen: Set<string> | undefined;
  let isSent = false;
  for (const part of parts) {
    const before = root.notes.length;
    const items = part.items(scope);
    // With a note, the list had items, and none of them found its row: that is not an empty list.
    if (items.length === 0 && root.notes.length === before) isSent ||= part.isSent(scope);
    for (const item of items) {
      root.index = out.length;
      const made = withExtra(part, item);
      const id = part.id?.(item);
      if (isBlank(made[usual]) && isEmpty(made)) {
        isSent ||= Object.values(made).some((value) => value !== undefined);
        if (item.item !== null) root.notes.push(noteOf('empty_item', name));
        continue;
      }
      if (part.byContent) {
        const content = JSON.stringify(made);
        seen ??= new Set();
        if (seen.has(content)) continue;
        seen.add(content);
      }
      if (id !== undefined) {
        ids ??= [];
        ids[out.length] = id;
      }
      out.push(made);
    }
  }
  return { items: out.length > 0 || isSent ? out : undefined, ids: distinctIds(ids) };
}

/** An id that several items share identifies none of them. */
function distinctIds(ids: ItemIds): ItemIds {
  if (ids === undefined) return undefined;
  const [seen, shared] = [new Set<string>(), new Set<string>()];
  for (const id of ids) if (id !== undefined) (seen.has(id) ? shared : seen).add(id);
  if (shared.size === 0) return ids;
  return seen.size === shared.size ? undefined : ids.map((id) => (id === undefined || shared.has(id) ? undefined : id));
}

function withExtra<Field extends string>(part: ListPart<Field>, scope: Scope): Item<Field> {
  const item = readEach(part.reads, scope);
  const extra = part.extra?.(scope);
  if (extra !== undefined) item.extra = extra;
  return item;
}

function isEmpty(item: { readonly [field: string]: Json | undefined }): boolean {
  return Object.values(item).every(isBlank);
}

/** The scope of a value without surroundings: a response, a row, a guest. */
export function loneScope(item: Json, trace?: Trace): Scope {
  const root = newRoot(item, undefined, trace);
  const scope: Scope = { item, key: 0, up: undefined, root, at: '', group: undefined };
  root.record = scope;
  return scope;
}

function newRoot(body: Json | undefined, rows: readonly Json[] | undefined, trace: Trace | undefined): Root {
  return { record: undefined, index: 0, body, rows, notes: [], drift: [], trace, assumed: undefined };
}

/** The scope of a nested record with its enclosing objects. */
function nestedScope(raw: RawRecord, trace: Trace | undefined): Scope {
  const root = newRoot(raw.body, undefined, trace);
  let up: Scope | undefined;
  const around = raw.around ?? [];
  for (let level = around.length - 1; level >= 0; level--) {
    const at = `$parent${'.$parent'.repeat(level)}`;
    up = { item: around[level], key: raw.places?.[level] ?? 0, up, root, at, group: undefined };
  }
  root.record = { item: raw.value, key: raw.place ?? 0, up, root, at: '', group: undefined };
  return root.record;
}

/** The scope of a record made of flat rows. */
function flatScope(raw: RawRecord, rank: Rank, trace: Trace | undefined): Scope {
  const rows = Array.isArray(raw.value) ? raw.value : [raw.value];
  const root = newRoot(undefined, rows, trace);
  const scopes = rows.map((item, key): Scope => ({ item, key, up: undefined, root, at: `[${key}]`, group: undefined }));
  root.record = asOne(scopes.length === 0 ? [{ ...loneScope(null), root }] : rank(scopes));
  return root.record;
}

/**
 * Looks a spelling up in the connector's values, then among the spellings that need no listing. An unknown spelling is kept; the
 * connector decides whether the record continues as `other` or becomes a dead letter without a status. `raw` is the partner's spelling, if
 * it is not recognised.
 */
function compileStatus(read: Read, config: ShapeConfig) {
  const translate = valuesFor('status', config);
  const unknown = config.unknownStatus === 'other' ? 'other' : undefined;
  return (scope: Scope): { readonly status: string | null | undefined; readonly raw: Json | undefined } => {
    const value = read(scope);
    if (value === undefined || isBlank(value))
      return { status: value === undefined ? undefined : null, raw: undefined };
    const spelling = keyText(value)?.trim();
    if (spelling === undefined) return { status: undefined, raw: value };
    const mapped = translate?.(spelling);
    if (mapped !== undefined && mapped !== 'other') return { status: mapped, raw: undefined };
    const understood = readStatus(spelling);
    if (understood !== undefined) return { status: understood, raw: undefined };
    if (mapped === 'other') return { status: 'other', raw: spelling };
    drift(scope.root, 'status', spelling);
    return { status: unknown, raw: spelling };
  };
}
