import type { Leaf } from './leaf.ts';
import { matchReservation } from './reservation-fields.ts';

/** The keys under which a response groups its records, one per record. */
export interface RecordKeys {
  readonly path: '$key' | '$parent.$key';
  readonly values: readonly string[];
}

const day = /^\d{4}-\d{2}-\d{2}$/;
/** A match that rests on the values alone. */
const weak = 0.55;

/**
 * The key as a field of its record: a day is the arrival, the key of a single record its id. The record's own field is better, so there
 * is no leaf if the record has one, or repeats the key.
 */
export function keyLeaf(keys: RecordKeys | undefined, leaves: readonly Leaf[]): Leaf[] {
  if (keys === undefined) return [];
  const { path, values } = keys;
  const isDay = values.every((value) => day.test(value));
  const field = isDay ? 'check_in' : path === '$key' ? 'id' : undefined;
  if (field === undefined || (matchReservation(leaves).get(field)?.confidence ?? 0) > weak) return [];
  const isRepeated = leaves.some((leaf) => values.every((value, index) => String(leaf.values[index]) === value));
  if (isRepeated) return [];
  const own = [isDay ? 'arrival' : 'id'];
  return [{ path, source: path, own, around: [], values, kind: 'value', depth: 0, isKey: true }];
}
