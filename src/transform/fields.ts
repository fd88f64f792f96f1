/** The canonical fields as rules see them. A test holds these tables against the canonical schema. */
export type FieldKind = 'text' | 'decimal' | 'integer' | 'flag';
export type ListName = 'guests' | 'rooms' | 'charges';

export const reservationFields = {
  id: 'text',
  confirmation_number: 'text',
  check_in: 'text',
  check_out: 'text',
  booking_date: 'text',
  status: 'text',
  status_raw: 'text',
  channel: 'text',
  source: 'text',
  total_amount: 'decimal',
  currency: 'text',
} as const satisfies Record<string, FieldKind>;

export const guestFields = {
  guest_id: 'text',
  first_name: 'text',
  last_name: 'text',
  email: 'text',
  email_raw: 'text',
  email_proxy: 'flag',
  phone: 'text',
  phone_raw: 'text',
  date_of_birth: 'text',
  nationality: 'text',
  document_type: 'text',
  document_number: 'text',
  marketing_consent: 'flag',
} as const satisfies Record<string, FieldKind>;

const roomFields = {
  room_type: 'text',
  board: 'text',
  rate_code: 'text',
  start_date: 'text',
  end_date: 'text',
  adults: 'integer',
  children: 'integer',
} as const satisfies Record<string, FieldKind>;

const chargeFields = {
  code: 'text',
  description: 'text',
  amount: 'decimal',
  quantity: 'integer',
} as const satisfies Record<string, FieldKind>;

/** The lists of a reservation: the fields of an item, and the variable it is called by in a rule over its list. */
export const lists = {
  guests: { fields: guestFields, variable: 'guest', type: 'Guest' },
  rooms: { fields: roomFields, variable: 'room', type: 'Room' },
  charges: { fields: chargeFields, variable: 'charge', type: 'Charge' },
} as const satisfies Record<ListName, { fields: Readonly<Record<string, FieldKind>>; variable: string; type: string }>;

export const listNames = Object.keys(lists) as readonly ListName[];

export const celTypes: Readonly<Record<FieldKind, string>> = {
  text: 'string',
  decimal: 'double',
  integer: 'int',
  flag: 'bool',
};

/** Never a field: names that reach into an object's machinery. */
export const refusedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
