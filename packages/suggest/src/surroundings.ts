import { isCurrency } from '../../../src/core/canonical/values.ts';
import { pathWalker } from '../../../src/core/json-path/read.ts';
import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { isInEveryItem, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields } from './match.ts';
import { matchReservation } from './reservation-fields.ts';
import type { Root } from './root.ts';
import type { FieldLine } from './section.ts';

/**
 * What is stated once for several reservations: in the booking or property that encloses them, or, of a currency, beside their list.
 */
export function fieldsAround({ path = '', envelope }: Root): Match[] {
  const holders = /^(.+)\[\]\.[^.[\]]+$/.exec(path)?.[1];
  const parents = holders === undefined ? [] : pathWalker(holders)(envelope);
  const { currency, confirmation_number, channel, source } = reservationLexicon;
  const own = fieldsIn(parents, '$parent', { currency, confirmation_number, channel, source }, 0);
  return own.some(({ field }) => field === 'currency')
    ? own
    : [...own, ...fieldsIn([envelope], '$body', { currency }, 6)];
}

function fieldsIn(
  objects: readonly Json[],
  start: string,
  lexicon: typeof reservationLexicon | object,
  deepest: number,
): Match[] {
  const leaves = leavesOf(objects.filter(isObject)).filter(
    (leaf) => leaf.kind === 'value' && leaf.depth <= deepest && !leaf.path.includes('[') && isInEveryItem(leaf),
  );
  const matches = matchFields(leaves, { lexicon: { ...lexicon }, scope: new Set(['reservation', 'booking']) });
  return [...matches.values()]
    .filter(({ field, leaf }) => field !== 'currency' || present(leaf).every((value) => isCurrency(plain(value))))
    .map(({ leaf, confidence, ...match }) => {
      const path = `${start}.${leaf.path}`;
      const reason = 'stated once for all reservations that it contains';
      return { ...match, leaf: { ...leaf, path, source: path }, confidence: confidence * 0.9, reason };
    });
}

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
