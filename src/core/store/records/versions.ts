import { parseJson } from '../../../kit/json.ts';
import { isObject, type Json } from '../../../terms.ts';
import { fields, listNames, reservationOrder } from '../../canonical/fields.ts';
import { type Difference, undo } from '../../reconcile/difference.ts';

/** The difference that an entry of the history made. */
interface MadeVersion {
  readonly version: number;
  readonly diff: readonly Difference[];
}

/** SQL: how the versions after `after` of the record `of` came about, newest first, as JSON text; null if there are none. */
export const versionsAfter = (of: string, after: string): string => `(
  select json_agg(json_build_object('version', h.version, 'diff', h.diff) order by h.version desc)::text from history h
   where h.integration = ${of}.integration and h.id = ${of}.id and h.type = ${of}.type and h.diff is not null
     and h.version > ${after})`;

/**
 * The earlier versions of a record as text, newest first, by undoing one difference after the other. Ends where the history does:
 * it may be past its retention.
 */
export function* versionsBefore(
  newest: { readonly version: number; readonly data: string },
  made: string | null,
): Generator<{ readonly version: number; readonly data: string }> {
  let record = made === null ? null : parseJson(newest.data);
  let at = newest.version;
  for (const { version, diff } of made === null ? [] : (parseJson(made) as unknown as MadeVersion[])) {
    if (version !== at) return;
    record = undo(record, diff);
    at -= 1;
    if (at > 0) yield { version: at, data: JSON.stringify(inOrder(record)) };
  }
}

/** One version of a record as text; undefined if its history is no longer complete. */
export function versionOf(
  version: number,
  newest: { readonly version: number; readonly data: string },
  made: string | null,
): string | undefined {
  if (version === newest.version) return newest.data;
  for (const one of versionsBefore(newest, made)) if (one.version === version) return one.data;
  return undefined;
}

/** A field that is undone comes last: a version that is sent again must be the same text under the same key. */
function inOrder(record: Json): Json {
  if (!isObject(record)) return record;
  if (!('guests' in record)) return sorted(record, Object.keys(fields.guests));
  for (const list of listNames) {
    const items = record[list];
    if (Array.isArray(items)) record[list] = items.map((item) => sorted(item, Object.keys(fields[list])));
  }
  return sorted(record, reservationOrder);
}

function sorted(item: Json, names: readonly string[]): Json {
  if (!isObject(item)) return item;
  const own = names.filter((name) => Object.hasOwn(item, name));
  return Object.fromEntries(
    [...own, ...Object.keys(item).filter((key) => !names.includes(key))].map((key) => [key, item[key] as Json]),
  );
}
