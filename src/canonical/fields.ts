/**
 * The kind of value in each canonical field, in the order of the schema; a test compares the two. Shape uses the kind to decide how
 * to read a raw value.
 *
 * verbatim   text that normalization cleans later, so that its note can show what was sent
 * birth_date a date that is never converted between time zones
 */
export type FieldKind =
  | 'text'
  | 'verbatim'
  | 'date'
  | 'birth_date'
  | 'decimal'
  | 'count'
  | 'integer'
  | 'boolean'
  | 'country'
  | 'currency'
  | 'status';

export const guestFields = {
  guest_id: 'text',
  first_name: 'verbatim',
  last_name: 'verbatim',
  email: 'verbatim',
  phone: 'verbatim',
  date_of_birth: 'birth_date',
  nationality: 'country',
  document_type: 'text',
  document_number: 'text',
  marketing_consent: 'boolean',
} as const satisfies Record<string, FieldKind>;

export const roomFields = {
  room_type: 'text',
  board: 'text',
  rate_code: 'text',
  start_date: 'date',
  end_date: 'date',
  adults: 'count',
  children: 'count',
} as const satisfies Record<string, FieldKind>;

export const chargeFields = {
  code: 'text',
  description: 'text',
  amount: 'decimal',
  quantity: 'integer',
} as const satisfies Record<string, FieldKind>;

export const reservationFields = {
  id: 'text',
  confirmation_number: 'text',
  check_in: 'date',
  check_out: 'date',
  booking_date: 'date',
  status: 'status',
  channel: 'text',
  source: 'text',
  total_amount: 'decimal',
  currency: 'currency',
} as const satisfies Record<string, FieldKind>;

export const listFields = { guests: guestFields, rooms: roomFields, charges: chargeFields } as const;

export type ReservationField = keyof typeof reservationFields;
export type GuestField = keyof typeof guestFields;
export type RoomField = keyof typeof roomFields;
export type ChargeField = keyof typeof chargeFields;
export type ListName = keyof typeof listFields;
