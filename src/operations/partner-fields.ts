import { fieldNames } from '../canonical/fields.ts';
import { isObject, type Json } from '../terms.ts';

/** One canonical field as a partner's page shows it. */
export interface PartnerField {
  /** Such as check_in or guests[0].email. */
  readonly field: string;
  readonly value: string;
  /** Where it was found in the partner's record. */
  readonly from?: string;
}

const personal = fieldNames((field) => field.personal);
const mostFields = 80;

/**
 * The fields of a record, one per line. Personal values keep only their ends: the partner recognizes its own record, and whoever looks over
 * its shoulder learns nobody's name or address.
 */
export function partnerFields(record: Json, origins: { readonly [field: string]: string } = {}): PartnerField[] {
  const walk = (value: Json, path: string, name: string): PartnerField[] => {
    if (value === null || value === '') return [];
    if (Array.isArray(value)) return value.flatMap((one, i) => walk(one, `${path}[${i}]`, name));
    if (isObject(value)) {
      return Object.entries(value).flatMap(([key, one]) =>
        walk(one ?? null, path === '' ? key : `${path}.${key}`, key === 'extra' || name === 'extra' ? 'extra' : key),
      );
    }
    const from = origins[path];
    const text = personal.has(name) || name === 'extra' ? masked(String(value)) : String(value).slice(0, 200);
    return [{ field: path, value: text, ...(from !== undefined && { from }) }];
  };
  return walk(record, '', '').slice(0, mostFields);
}

/** `Anna` becomes `A•••`, an address keeps its domain's end, a number its last two digits. */
export function masked(text: string): string {
  const at = text.lastIndexOf('@');
  if (at > 0) return `${text[0]}•••@•••${text.slice(text.lastIndexOf('.'))}`;
  return /^\+?[\d\s()-]{5,}$/.test(text) ? `•••${text.slice(-2)}` : `${[...text][0] ?? ''}•••`;
}
