import * as canonical from '../canonical/fields.ts';

/** The canonical fields as rules see them, with the fields that cleaning adds. */
export type FieldKind = 'text' | 'decimal' | 'integer' | 'flag';
export type ListName = canonical.ListName;
type Fields = Readonly<Record<string, FieldKind>>;

const kindInRules: Readonly<Record<canonical.FieldKind, FieldKind>> = {
  text: 'text',
  verbatim: 'text',
  date: 'text',
  birth_date: 'text',
  country: 'text',
  currency: 'text',
  status: 'text',
  decimal: 'decimal',
  count: 'integer',
  integer: 'integer',
  boolean: 'flag',
};

function inRules(fields: Readonly<Record<string, canonical.FieldKind>>): Fields {
  return Object.fromEntries(Object.entries(fields).map(([name, kind]) => [name, kindInRules[kind]]));
}

export const reservationFields: Fields = { ...inRules(canonical.reservationFields), status_raw: 'text' };

export const guestFields: Fields = {
  ...inRules(canonical.guestFields),
  email_raw: 'text',
  email_proxy: 'flag',
  phone_raw: 'text',
};

/** The lists of a reservation: the fields of an item, and the variable that names one item in a rule. */
export const lists = {
  guests: { fields: guestFields, variable: 'guest', type: 'Guest' },
  rooms: { fields: inRules(canonical.roomFields), variable: 'room', type: 'Room' },
  charges: { fields: inRules(canonical.chargeFields), variable: 'charge', type: 'Charge' },
} as const satisfies Record<ListName, { fields: Fields; variable: string; type: string }>;

export const listNames = Object.keys(lists) as readonly ListName[];

export const celTypes: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  decimal: 'double',
  integer: 'int',
  flag: 'bool',
};

/** Refused as field names: they reach the prototype of a JavaScript object. */
export const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
