import { type GuestField, type ReservationField, reservationFields } from '../canonical/fields.ts';
import type { Json, JsonObject, Note } from '../terms.ts';
import { compileCondition } from './condition.ts';
import type { RawRecord, ShapeConfig } from './config.ts';
import type { Env } from './env.ts';
import { compileExtra } from './extra.ts';
import { compileField, compileSlot } from './field.ts';
import { compileConflict, overRows } from './flat.ts';
import { type Item, itemIdsOf, itemsOf, readEach, withExtra } from './items.ts';
import { compileList } from './list-map.ts';
import { flatScope, loneScope, nestedScope } from './record-scope.ts';
import { type Drift, keyText, type Read, type Scope, type Trace } from './scope.ts';
import { newSlot, type Slot } from './slot.ts';
import { compileStatus } from './status.ts';
import { valuesFor } from './values.ts';

/** The canonical keys of a record with values not yet checked; undefined where the partner sent nothing, null where it sent an empty value. */
export type DraftRecord = {
  [Name in ReservationField | 'status_raw']: Json | undefined;
} & { [Name in 'guests' | 'rooms' | 'charges']: Json[] | undefined } & { extra: JsonObject | undefined };

export interface Built<Of> {
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

/** The partner's own ids of rooms and charges, by position; undefined if there is none. */
export interface ItemIds {
  readonly rooms: readonly (string | undefined)[] | undefined;
  readonly charges: readonly (string | undefined)[] | undefined;
}

export interface Builder {
  /** The partner's id of a record as text; empty if there is none. */
  key(raw: RawRecord): string;
  build(raw: RawRecord, trace?: Trace): Built<DraftRecord>;
  itemIds(raw: RawRecord): ItemIds;
  guest(item: Json, trace?: Trace): Built<Item<GuestField>>;
}

/** Compiles the whole mapping of a connector. */
export function compileBuilder(config: ShapeConfig, env: Env): Builder {
  const flat = config.shape?.flat;
  const conflict = flat === undefined ? undefined : compileConflict(flat.conflict, env);
  const over = (slot: Slot) => (read: Read) => (conflict === undefined ? read : overRows(read, slot, conflict.rule));
  const slotFor = (field: ReservationField): Slot => {
    // compileStatus looks up the values of a status, because it also needs the raw spelling.
    const values = field === 'status' ? undefined : valuesFor(field, config);
    return newSlot(undefined, field, reservationFields[field], values);
  };
  const top = (field: ReservationField): Read => {
    const slot = slotFor(field);
    return compileSlot(config.map?.[field], slot, `${env.options.mapAt}.${field}`, env, over(slot));
  };
  const names = Object.keys(reservationFields) as ReservationField[];
  // The amounts of every other field may need the currency.
  const currency = top('currency');
  env.currency = env.traced ? compileField(config.map?.currency, slotFor('currency'), '', env) : currency;
  const others = names.flatMap((name) => (name === 'currency' ? [] : [[name, top(name)] as const]));
  const { status: readStatus, ...reads } = { ...Object.fromEntries(others), currency } as Record<
    ReservationField,
    Read
  >;
  const status = compileStatus(readStatus, config);
  const guests = compileList('guests', config, conflict, env);
  const rooms = compileList('rooms', config, conflict, env);
  const charges = compileList('charges', config, conflict, env);
  const extra = compileExtra(config.map?.extra, 'extra', `${env.options.mapAt}.extra`, env, over);
  const { where } = config.map ?? {};
  const holds = where && compileCondition(where, `${env.options.mapAt}.where`, env);
  const scopeOf = (raw: RawRecord, trace: Trace | undefined): Scope =>
    conflict === undefined ? nestedScope(raw, trace) : flatScope(raw, conflict.rank, trace);

  return {
    key: (raw) => keyText(reads.id(scopeOf(raw, undefined)))?.trim() ?? '',
    build(raw, trace) {
      const scope = scopeOf(raw, trace);
      const state = status(scope);
      const record = readEach(reads, scope) as DraftRecord;
      record.status = state.status;
      record.status_raw = state.raw;
      record.guests = itemsOf(scope, 'guests', guests, 'last_name') as Json[] | undefined;
      record.rooms = itemsOf(scope, 'rooms', rooms, 'room_type') as Json[] | undefined;
      record.charges = itemsOf(scope, 'charges', charges, 'amount') as Json[] | undefined;
      record.extra = extra?.(scope);
      const { notes, drift, assumed } = scope.root;
      const isExcluded = holds !== undefined && raw.partial !== true && !holds(scope);
      return { record, notes, drift: distinct(drift), assumed, strict: env.strict, ...(isExcluded && { isExcluded }) };
    },
    itemIds(raw) {
      const scope = scopeOf(raw, undefined);
      return { rooms: itemIdsOf(scope, rooms), charges: itemIdsOf(scope, charges) };
    },
    guest(item, trace) {
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
