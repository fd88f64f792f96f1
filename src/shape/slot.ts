import type { FieldKind, ListName } from '../canonical/fields.ts';
import type { FieldMap, NumberFormat } from './config.ts';
import type { DateReader } from './dates.ts';
import type { Env } from './env.ts';
import type { Read, Root } from './scope.ts';
import type { Translate } from './values.ts';

/** The canonical place that a mapping fills, or a piece of what fills it. */
export interface Slot {
  /** The list or object it lies in. */
  readonly within: ListName | 'extra' | undefined;
  readonly field: string;
  /** How a raw value is understood; `json` is carried as it is. */
  readonly kind: FieldKind | 'json';
  /** The connector's value map for the field; a piece has none, the whole is looked up. */
  readonly values: Translate | undefined;
  /** A piece has no raw field of its own name. */
  readonly piece: boolean;
  /** How numbers and dates are written, as the form around a piece says. */
  readonly reading: Reading;
}

/**
 * How raw numbers and dates are read. It is done once, where a value leaves the partner's JSON: read twice, 1,234 of a
 * connector with decimal commas would first become 1.234 and then a thousand.
 */
export interface Reading {
  readonly number?: NumberFormat | undefined;
  readonly date?: DateReader | undefined;
}

/** One field of a mapping, compiled. Handed down in the environment, since sources hold fields again. */
export type CompileField = (map: FieldMap | undefined, slot: Slot, at: string, env: Env) => Read;

/** The canonical path of a slot in the record being read. */
export function slotPath(slot: Slot, root: Root): string {
  if (slot.within === undefined) return slot.field;
  return slot.within === 'extra' ? `extra.${slot.field}` : `${slot.within}[${root.index}].${slot.field}`;
}

/** Notes that the value of a slot comes from the connector alone: the partner sent nothing for it. */
export function assume(slot: Slot, root: Root): void {
  root.assumed ??= new Set();
  root.assumed.add(slotPath(slot, root));
}

/** The name under which all values of a slot are counted. */
export function slotName(slot: Slot): string {
  return slot.within === undefined ? slot.field : `${slot.within}.${slot.field}`;
}

export function newSlot(within: Slot['within'], field: string, kind: Slot['kind'], values?: Translate): Slot {
  return { within, field, kind, values, piece: false, reading: {} };
}

/** One of the values that a field is made of. */
export function pieceOf(slot: Slot, kind: Slot['kind'] = slot.kind): Slot {
  return { ...slot, kind, values: undefined, piece: true };
}

/** A value beside the field: a key to look for, a number of days. It is not written the way the field is. */
export function asideOf(slot: Slot): Slot {
  return { ...slot, kind: 'json', values: undefined, piece: true, reading: {} };
}
