import { entriesOf, listNames } from '../canonical/fields.ts';
import { isObject, type Json } from '../terms.ts';

/** In how many records, or guests, rooms and charges, a canonical field has a value. */
export interface FillRate {
  /** Such as check_in, guests, guests.email. */
  readonly field: string;
  readonly filled: number;
  readonly of: number;
}

/**
 * Valid records can be useless: without names, or with phones that nobody can call. Only usable values count: an impossible phone is in
 * `phone_raw`, and an alias of a booking site is not the guest's address.
 */
export function fillRates(records: readonly Json[]): FillRate[] {
  const all = records.filter(isObject);
  const rate = (field: string, values: readonly (Json | undefined)[]): FillRate => ({
    field,
    filled: values.filter((value) => value !== undefined && value !== null && value !== '').length,
    of: values.length,
  });
  const own = namesOf('reservation').map((name) =>
    rate(
      name,
      all.map((record) => record[name]),
    ),
  );
  const lists = listNames.flatMap((list) => {
    const items = all.flatMap((record) => (Array.isArray(record[list]) ? record[list].filter(isObject) : []));
    const holders = all.map((record) => (Array.isArray(record[list]) && record[list].length > 0 ? true : undefined));
    const usable = (name: string) =>
      items.map((item) => (name === 'email' && item.email_proxy === true ? undefined : item[name]));
    return [
      rate(list, holders),
      ...(items.length === 0 ? [] : namesOf(list).map((name) => rate(`${list}.${name}`, usable(name)))),
    ];
  });
  return [...own, ...lists];
}

const namesOf = (table: Parameters<typeof entriesOf>[0]): string[] =>
  entriesOf(table)
    .filter(([, { derived, kind }]) => derived !== true && kind !== 'json')
    .map(([name]) => name);

/** The statuses that no value map lists, so that the records are `other`. */
export function unlistedStatuses(records: readonly Json[]): { readonly status: string; readonly times: number }[] {
  const spellings = records.filter(isObject).flatMap(({ status_raw: raw }) => (typeof raw === 'string' ? [raw] : []));
  return [...Map.groupBy(spellings, (spelling) => spelling)].map(([status, all]) => ({ status, times: all.length }));
}

/** `guests.email 0 of 5, guests.phone 3 of 5`: the fields that not everything has, the emptiest first. */
export function gapsText(rates: readonly FillRate[]): string {
  return rates
    .filter(({ filled, of }) => filled < of)
    .toSorted((a, b) => a.filled / a.of - b.filled / b.of)
    .map(({ field, filled, of }) => `${field} ${filled} of ${of}`)
    .join(', ');
}
