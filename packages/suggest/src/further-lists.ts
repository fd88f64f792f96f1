import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import type { FieldLine } from './field.ts';
import { leavesOf } from './leaves.ts';
import type { Match } from './match.ts';
import { matchReservation } from './reservation-fields.ts';
import type { Root } from './root.ts';

/** A list of cancellations beside the list of reservations. */
export interface FurtherList {
  readonly also: JsonObject;
  readonly status: Json;
  readonly line: FieldLine;
}

const cancelling = /cancel|delet|remov|void|storn|ann?ul/i;

/**
 * Recognised by its name, and by rows that have the id of a reservation in the same place as the reservations. The status of such rows is set, because
 * they are often bare: an id and a time.
 */
export function cancellationsBeside(
  root: Root,
  id: Match | undefined,
  status: Json | undefined,
): FurtherList | undefined {
  const path = root.path ?? '';
  if (id === undefined || id.leaf.depth > 0 || !/^[^[\]]+$/.test(path)) return undefined;
  const steps = path.split('.');
  const name = steps.pop() ?? '';
  const around = steps.reduce<Json | undefined>((at, step) => (isObject(at) ? at[step] : undefined), root.envelope);
  if (!isObject(around)) return undefined;
  for (const [key, rows] of Object.entries(around)) {
    if (key === name || !cancelling.test(key) || !Array.isArray(rows) || rows.length === 0) continue;
    const named = rows.filter(isObject).filter((row) => !isObject(row[id.leaf.path]) && row[id.leaf.path] != null);
    if (named.length < rows.length) continue;
    const at = [...steps, key].join('.');
    const own = isPlainKey(status) ? status : freeKey(root.records);
    const isWhole = matchReservation(leavesOf(named)).has('check_in');
    return {
      also: { path: at, set: { [own]: 'cancelled' }, ...(!isWhole && { partial: true }) },
      status: isPlainKey(status) ? status : { first: [own, ...alternatives(status)] },
      line: {
        field: 'shape.also',
        path: at,
        confidence: 0.85,
        reason: `its name says cancellations, and its rows have ${id.leaf.path}${isWhole ? '' : ' but no dates'}`,
      },
    };
  }
  return undefined;
}

const isPlainKey = (path: Json | undefined): path is string => typeof path === 'string' && /^\w+$/.test(path);

function alternatives(status: Json | undefined): readonly Json[] {
  if (status === undefined) return [];
  return isObject(status) && Array.isArray(status.first) && Object.keys(status).length === 1 ? status.first : [status];
}

/** A name for the set status that no record uses. */
function freeKey(records: readonly Json[]): string {
  const used = new Set(records.filter(isObject).flatMap(Object.keys));
  return ['status', 'list_status', 'cancelled_by_list'].find((key) => !used.has(key)) ?? 'list_of_cancellations';
}
