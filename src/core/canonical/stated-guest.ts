import type { Json } from '../../terms.ts';
import type { Guest } from './reservation.ts';

const made = new WeakMap<object, Guest>();

/**
 * The guest whom a source states, without the fields that it stated to be empty (null): compared as values, two of them would be the same
 * person. The same values give the same object, so that guests can be kept in sets.
 */
export function statedGuest(values: { readonly [field: string]: Json }): Guest {
  const fields = Object.entries(values);
  if (fields.every(([, value]) => value !== null)) return values as Guest;
  const guest = made.get(values) ?? (Object.fromEntries(fields.filter(([, value]) => value !== null)) as Guest);
  made.set(values, guest);
  return guest;
}
