import type { Json, JsonObject, Note } from '../../terms.ts';
import { noteOf } from '../canonical/notes.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { ListName } from './fields.ts';
import type { CompiledRule } from './rule.ts';
import type { FieldTarget } from './target.ts';

interface Write {
  readonly target: FieldTarget;
  readonly item: number | undefined;
  readonly value: Json | undefined;
}
/** The effects of one rule on one record, all computed before any is written. */
export interface Effects {
  readonly writes: Write[];
  readonly removed: { readonly list: ListName; readonly index: number }[];
}

export function presentValue(record: Reservation, target: FieldTarget, item: number | undefined): unknown {
  return holderOf(record, target, item)?.[target.field];
}

function holderOf(
  record: Reservation,
  target: FieldTarget,
  item: number | undefined,
): Readonly<Record<string, unknown>> | undefined {
  if (target.place === 'reservation') return record;
  if (target.place === 'extra') return record.extra;
  const holder = item === undefined ? undefined : record[target.place][item];
  return isGuestExtra(target) ? (holder as Guest | undefined)?.extra : holder;
}

function isGuestExtra(target: FieldTarget): boolean {
  return target.place === 'guests' && target.kind === 'any';
}

const rawFields: ReadonlySet<string> = new Set(['guests[0].email', 'guests[0].phone']);

/** Applies the effects to a copy of the record; unchanged parts are shared. */
export function commit(rule: CompiledRule, record: Reservation, effects: Effects, notes: Note[]): Reservation {
  if (effects.writes.length === 0 && effects.removed.length === 0) return record;
  let next: JsonObject | undefined;
  const copied = new Map<string, JsonObject>();
  for (const { target, item, value } of effects.writes) {
    const present = presentValue(record, target, item) as Json | undefined;
    if (sameJson(present, value)) continue;
    next ??= { ...(record as unknown as JsonObject) };
    const holder = copyOf(next, target, item, copied);
    if (value === undefined) delete holder[target.field];
    else holder[target.field] = value;
    // What the partner wrote instead of it no longer applies.
    if (value !== undefined && rawFields.has(pathOf(target, undefined))) delete holder[`${target.field}_raw`];
    const code = value === undefined ? 'rule_removed' : 'rule_set';
    notes.push(noteOf(code, pathOf(target, item), { before: present, after: value, reason: rule.reason }));
  }
  if (next !== undefined) withoutEmptyExtra(next);
  for (const holder of copied.values()) withoutEmptyExtra(holder);
  for (const list of rule.removesItems) {
    const gone = new Set(effects.removed.filter((removal) => removal.list === list).map(({ index }) => index));
    if (gone.size === 0) continue;
    next ??= { ...(record as unknown as JsonObject) };
    const items = next[list] as Json[];
    for (const item of gone)
      notes.push(noteOf('rule_item_dropped', `${list}[${item}]`, { before: items[item], reason: rule.reason }));
    next[list] = items.filter((_, item) => !gone.has(item));
  }
  if (copied.has('guests') && next !== undefined) {
    const emptied = new Set<Json>([...copied.values()].filter((holder) => Object.keys(holder).length === 0));
    // A guest that was empty before is an erased one; its place stays.
    next.guests = (next.guests as Json[]).filter((guest) => !emptied.has(guest));
  }
  return next === undefined ? record : (next as unknown as Reservation);
}

/** A copy of the record with one value set. */
export function withValue(
  record: Reservation,
  target: FieldTarget,
  item: number | undefined,
  value: Json,
): Reservation {
  const next = { ...(record as unknown as JsonObject) };
  copyOf(next, target, item, new Map())[target.field] = value;
  return next as unknown as Reservation;
}

function copyOf(
  next: JsonObject,
  target: FieldTarget,
  item: number | undefined,
  copied: Map<string, JsonObject>,
): JsonObject {
  if (target.place === 'reservation') return next;
  const key = `${target.place}/${item ?? ''}`;
  const known = copied.get(key);
  if (known) return isGuestExtra(target) ? extraOf(known, key, copied) : known;
  if (target.place === 'extra') {
    const extra = { ...(next.extra as JsonObject | undefined) };
    next.extra = extra;
    copied.set(key, extra);
    return extra;
  }
  const items = copied.has(target.place) ? (next[target.place] as Json[]) : [...(next[target.place] as Json[])];
  next[target.place] = items;
  copied.set(target.place, next);
  const at = item ?? 0;
  const copy = { ...(items[at] as JsonObject) };
  items[at] = copy;
  copied.set(key, copy);
  return isGuestExtra(target) ? extraOf(copy, key, copied) : copy;
}

/** The guest's extra, copied once; `guest` is a copy already. */
function extraOf(guest: JsonObject, key: string, copied: Map<string, JsonObject>): JsonObject {
  const known = copied.get(`${key}/extra`);
  if (known) return known;
  const extra = { ...(guest.extra as JsonObject | undefined) };
  guest.extra = extra;
  copied.set(`${key}/extra`, extra);
  return extra;
}

function withoutEmptyExtra(holder: JsonObject): void {
  if (holder.extra !== undefined && Object.keys(holder.extra as JsonObject).length === 0) delete holder.extra;
}

function pathOf(target: FieldTarget, item: number | undefined): string {
  if (target.place === 'reservation') return target.field;
  if (target.place === 'extra') return `extra.${target.field}`;
  return `${target.place}[${item ?? 0}].${isGuestExtra(target) ? 'extra.' : ''}${target.field}`;
}

function sameJson(one: Json | undefined, other: Json | undefined): boolean {
  return (
    one === other ||
    (typeof one === 'object' && typeof other === 'object' && JSON.stringify(one) === JSON.stringify(other))
  );
}
