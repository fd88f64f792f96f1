import type { FieldKind, ListName } from '../canonical/fields.ts';
import type { FieldMap } from './config.ts';
import type { Env } from './env.ts';
import type { Read, Root } from './scope.ts';
import type { Translate } from './values.ts';

/** The canonical place that a mapping fills. */
export interface Slot {
  /** The list or object it lies in. */
  readonly within: ListName | 'extra' | undefined;
  readonly field: string;
  /** How a raw value is understood; `json` is carried as it is, `part` is a piece of another field. */
  readonly kind: FieldKind | 'json' | 'part';
  readonly values: Translate | undefined;
}

/** One field of a mapping, compiled. Handed down in the environment, since sources hold fields again. */
export type CompileField = (map: FieldMap | undefined, slot: Slot, at: string, env: Env) => Read;

/** The canonical path of a slot in the record being read. */
export function slotPath(slot: Slot, root: Root): string {
  if (slot.within === undefined) return slot.field;
  return slot.within === 'extra' ? `extra.${slot.field}` : `${slot.within}[${root.index}].${slot.field}`;
}

/** The name under which all values of a slot are counted. */
export function slotName(slot: Slot): string {
  return slot.within === undefined ? slot.field : `${slot.within}.${slot.field}`;
}

/** A piece of a field: read as it is, finished where the whole is. */
export function partOf(slot: Slot): Slot {
  return { within: slot.within, field: slot.field, kind: 'part', values: undefined };
}
