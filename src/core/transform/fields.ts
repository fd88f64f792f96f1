import * as canonical from '../canonical/fields.ts';

/** The canonical fields as rules see them, with the fields that cleaning adds. */
export type FieldKind = 'text' | 'decimal' | 'integer' | 'flag';
export type ListName = canonical.ListName;
type Fields = Readonly<Record<string, FieldKind>>;

function inRules(table: canonical.Table): Fields {
  const entries = canonical.entriesOf(table).filter(([, { kind }]) => kind !== 'json');
  return Object.fromEntries(entries.map(([name, { kind }]) => [name, canonical.kinds[kind].rule]));
}

export const reservationFields: Fields = inRules('reservation');
export const guestFields: Fields = inRules('guests');

/** The lists of a reservation: the fields of an item, and the variable that names one item in a rule. */
export const lists = {
  guests: { fields: guestFields, variable: 'guest', type: 'Guest' },
  rooms: { fields: inRules('rooms'), variable: 'room', type: 'Room' },
  charges: { fields: inRules('charges'), variable: 'charge', type: 'Charge' },
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
