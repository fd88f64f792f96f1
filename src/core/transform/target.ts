import type { Json } from '../../terms.ts';
import { closest } from '../canonical/closest.ts';
import { decimal } from '../canonical/reservation.ts';
import { type FieldKind, type ListName, lists, refusedKeys, reservationFields } from './fields.ts';

/** A field that a rule sets or removes. */
export type FieldTarget =
  | { readonly place: 'reservation'; readonly field: string; readonly kind: FieldKind }
  | { readonly place: ListName; readonly field: string; readonly kind: FieldKind }
  | { readonly place: 'extra'; readonly field: string; readonly kind: 'any' }
  /** A name in the `extra` of a guest. */
  | { readonly place: 'guests'; readonly field: string; readonly kind: 'any' };

const required: ReadonlySet<string> = new Set(['id', 'check_in', 'check_out', 'status']);
const ofList = /^(guests|rooms|charges)\[\]\.(.+)$/;
const ofGuestExtra = /^guests\[\]\.extra\.([A-Za-z_][A-Za-z0-9_-]{0,63})$/;
const ofExtra = /^extra\.([A-Za-z_][A-Za-z0-9_-]{0,63})$/;

/** The target of a path, or a message if the path is invalid. */
export function targetOf(path: string): FieldTarget | string {
  const inGuestExtra = ofGuestExtra.exec(path)?.[1];
  if (inGuestExtra !== undefined && !refusedKeys.has(inGuestExtra))
    return { place: 'guests', field: inGuestExtra, kind: 'any' };
  const inList = ofList.exec(path);
  if (inList) {
    const place = inList[1] as ListName;
    const field = inList[2] ?? '';
    const kind = kindIn(lists[place].fields, field);
    if (kind) return { place, field, kind };
    const known = Object.keys(lists[place].fields);
    const near = closest(field, known);
    return near === undefined
      ? `There is no field ${field} in ${place}. There are: ${known.join(', ')}.`
      : `There is no field ${field} in ${place}; did you mean ${near}?`;
  }
  const inExtra = ofExtra.exec(path);
  if (inExtra?.[1] !== undefined && !refusedKeys.has(inExtra[1]))
    return { place: 'extra', field: inExtra[1], kind: 'any' };
  const kind = kindIn(reservationFields, path);
  if (kind) return { place: 'reservation', field: path, kind };
  if (Object.hasOwn(lists, path)) return `A list is set by its fields: ${path}[].field.`;
  const near = closest(path, Object.keys(reservationFields));
  if (near !== undefined) return `There is no field ${path}; did you mean ${near}?`;
  return `There is no field ${path}. Name a field of the reservation, guests[].field, rooms[].field, charges[].field, extra.name or guests[].extra.name.`;
}

export function isRequired(target: FieldTarget): boolean {
  return target.place === 'reservation' && required.has(target.field);
}

function kindIn(fields: Readonly<Record<string, FieldKind>>, name: string): FieldKind | undefined {
  return Object.hasOwn(fields, name) ? fields[name] : undefined;
}

const accepted: Readonly<Record<FieldKind, readonly string[]>> = {
  text: ['string'],
  decimal: ['double', 'int'],
  integer: ['int'],
  flag: ['bool'],
};

/** The types an expression may have for the target; undefined means any. */
export function acceptedTypes(target: FieldTarget): readonly string[] | undefined {
  return target.kind === 'any' ? undefined : accepted[target.kind];
}

/** Non-zero probe values, as stored in a record and as read by an expression. */
export const probes: Readonly<Record<FieldKind, { readonly raw: Json; readonly read: unknown }>> = {
  text: { raw: ' ', read: ' ' },
  decimal: { raw: '0.0000001', read: 1e-7 },
  integer: { raw: 1, read: 1n },
  flag: { raw: true, read: true },
};

export type Written = { readonly kind: 'value'; readonly value: Json | undefined } | { readonly kind: 'unfit' };

/**
 * Converts an expression's result to a value of the record. Empty text and null remove the field. A decimal equal to the present one as
 * a double keeps the present text with all digits; any other becomes the shortest text of the double.
 */
export function written(target: FieldTarget, result: unknown, present: unknown): Written {
  if (result === null) return { kind: 'value', value: undefined };
  switch (target.kind) {
    case 'text':
      return typeof result === 'string' ? value(result === '' ? undefined : result) : unfit;
    case 'flag':
      if (typeof result !== 'boolean') return unfit;
      return value(target.field === 'email_proxy' && !result ? undefined : result);
    case 'integer': {
      const whole = typeof result === 'bigint' ? Number(result) : result;
      return typeof whole === 'number' && Number.isSafeInteger(whole) ? value(whole) : unfit;
    }
    case 'decimal': {
      if (typeof result === 'bigint') return value(decimal(`${result}`));
      if (typeof result !== 'number' || !Number.isFinite(result)) return unfit;
      return value(typeof present === 'string' && Number(present) === result ? present : decimal(`${result}`));
    }
    case 'any': {
      const json = toJson(result);
      return json === undefined ? unfit : value(json === '' ? undefined : json);
    }
  }
}

const unfit: Written = { kind: 'unfit' };
function value(of: Json | undefined): Written {
  return { kind: 'value', value: of };
}

function toJson(from: unknown): Json | undefined {
  if (from === null || typeof from === 'string' || typeof from === 'boolean') return from;
  if (typeof from === 'number') return Number.isFinite(from) ? from : undefined;
  if (typeof from === 'bigint') return Number.isSafeInteger(Number(from)) ? Number(from) : `${from}`;
  if (Array.isArray(from)) {
    const items = from.map(toJson);
    return items.includes(undefined) ? undefined : (items as Json[]);
  }
  if (typeof from !== 'object' || from?.constructor !== Object) return undefined;
  const entries = Object.entries(from).map(([key, item]) => [key, toJson(item)] as const);
  return entries.some(([key, item]) => item === undefined || refusedKeys.has(key))
    ? undefined
    : (Object.fromEntries(entries) as Json);
}
