import type { FieldKind, ListName } from '../canonical/fields.ts';
import type { NumberFormat } from './config.ts';
import type { DateReader } from './dates.ts';
import type { Root } from './scope.ts';
import type { Translate } from './values.ts';

/** The canonical field that a mapping fills, or a piece of its value. */
export interface Slot {
  /** The list or object that contains the field. */
  readonly within: ListName | 'extra' | 'guests.extra' | undefined;
  readonly field: string;
  /** How a raw value is read; `json` is passed on unchanged. */
  readonly kind: FieldKind | 'json';
  /** The connector's value map for the field; pieces have none, since the complete value is looked up. */
  readonly values: Translate | undefined;
  /** A piece of a value: it has no default path. */
  readonly piece: boolean;
  /** Number and date formats, inherited from the enclosing form. */
  readonly reading: Reading;
}

/**
 * How raw numbers and dates are read. Done exactly once, where the value leaves the partner's JSON: with decimal commas, 1,234 read
 * twice would first become 1.234 and then 1234.
 */
export interface Reading {
  readonly number?: NumberFormat | undefined;
  readonly date?: DateReader | undefined;
}

/** The canonical path of a slot in the current record. */
export function slotPath(slot: Slot, root: Root): string {
  if (slot.within === undefined) return slot.field;
  if (slot.within === 'extra') return `extra.${slot.field}`;
  if (slot.within === 'guests.extra') return `guests[${root.index}].extra.${slot.field}`;
  return `${slot.within}[${root.index}].${slot.field}`;
}

/** Marks the value of a slot as the connector's own: the partner sent nothing for it. */
export function assume(slot: Slot, root: Root): void {
  root.assumed ??= new Set();
  root.assumed.add(slotPath(slot, root));
}

/** The name under which unknown spellings are counted. */
export function slotName(slot: Slot): string {
  return slot.within === undefined ? slot.field : `${slot.within}.${slot.field}`;
}

export function newSlot(within: Slot['within'], field: string, kind: Slot['kind'], values?: Translate): Slot {
  return { within, field, kind, values, piece: false, reading: {} };
}

/** One of the values that a field is built from. */
export function pieceOf(slot: Slot, kind: Slot['kind'] = slot.kind): Slot {
  return { ...slot, kind, values: undefined, piece: true };
}

/** A value used to compute the field, such as a key or a number of days. It does not have the field's format. */
export function asideOf(slot: Slot): Slot {
  return { ...slot, kind: 'json', values: undefined, piece: true, reading: {} };
}
