import { z } from 'zod';
import { localDateSchema } from './dates.ts';
import { decimalSchema } from './decimal.ts';

/**
 * The canonical schema: every PMS is mapped to it and every destination receives it. It has no zod transforms, so that it exports to
 * JSON Schema. A field the partner did not send is absent, never null; the three arrays are always present.
 * Meanings and examples are part of the schema: docs/reference/canonical.md is generated from them.
 */

export const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'] as const;
const statusSchema = z.enum(statuses);
export type Status = z.infer<typeof statusSchema>;

const text = z.string();
const count = z.int().nonnegative();

function field<Schema extends z.ZodType>(schema: Schema, description: string, example: z.infer<Schema>) {
  return schema.optional().meta({ description, examples: [example] });
}

function required<Schema extends z.ZodType>(schema: Schema, description: string, example: z.infer<Schema>): Schema {
  return schema.meta({ description, examples: [example] });
}

export const guestSchema = z.strictObject({
  guest_id: field(
    text,
    'The partner’s own id of the guest, if it has one. A placeholder such as 0 is left out.',
    'G-5512',
  ),
  first_name: field(text, 'Given names.', 'Leonor'),
  last_name: field(text, 'Family name.', 'Magalhães'),
  email: field(text, 'A valid e-mail address, trimmed and in lower case.', 'leonor@mail.example'),
  email_raw: field(text, 'What the partner sent, if it is not a valid address; `email` is then absent.', 'leonor@mail'),
  email_proxy: field(
    z.literal(true),
    'The address is an alias created by a booking site. It is never used to match guests.',
    true,
  ),
  phone: field(text, 'The phone number in E.164.', '+351912345678'),
  phone_raw: field(text, 'What the partner sent, if it is not a possible number; `phone` is then absent.', '12345'),
  date_of_birth: field(localDateSchema, 'Date of birth; never converted between time zones.', '1988-11-30'),
  nationality: field(
    z.string().regex(/^[A-Z]{2}$/),
    'ISO 3166-1 alpha-2. The citizenship, not the country of residence.',
    'PT',
  ),
  document_type: field(text, 'The kind of identity document, in the partner’s own short code.', 'PP'),
  document_number: field(text, 'The number of the document.', 'N12345678'),
  marketing_consent: field(
    z.boolean(),
    'Whether the guest agreed to marketing. Three states: true, false, and absent for unknown.',
    true,
  ),
  extra: field(
    z.record(z.string(), z.json()),
    'Other fields of the guest, under names that the connector chooses: a loyalty number, a tier.',
    { loyalty_number: 'L-77120' },
  ),
});
export type Guest = z.infer<typeof guestSchema>;

export const roomSchema = z.strictObject({
  room_type: field(text, 'The room type or category, in the hotel’s own words or code.', 'Sea View'),
  board: field(
    text,
    'The meals included: `room_only`, `bed_and_breakfast`, `half_board`, `full_board` or `all_inclusive`; other words pass unchanged.',
    'half_board',
  ),
  rate_code: field(text, 'The rate plan, as a code.', 'BAR'),
  start_date: field(localDateSchema, 'First day of this room’s part of the stay.', '2026-06-15'),
  end_date: field(localDateSchema, 'Day of departure from this room.', '2026-06-18'),
  adults: field(count, 'Adults in this room.', 2),
  children: field(count, 'Children in this room, infants included.', 0),
});
export type Room = z.infer<typeof roomSchema>;

export const chargeSchema = z.strictObject({
  code: field(text, 'The kind of charge, in the partner’s own code.', 'ROOM'),
  description: field(text, 'What was charged, as text.', 'Sea View, 3 nights'),
  amount: field(
    decimalSchema,
    'The amount of the whole line, not of one unit, in the reservation’s currency; gross if the partner has both.',
    '512.4',
  ),
  quantity: field(z.int(), 'How many units the line covers. For information: it is already part of `amount`.', 3),
});
export type Charge = z.infer<typeof chargeSchema>;

export const reservationSchema = z.strictObject({
  id: required(
    z.string().min(1),
    'The partner’s id of the reservation: unique within the brand, never changes.',
    'R100234',
  ),
  confirmation_number: field(text, 'The number that the guest was given.', 'LIS-4820113'),
  check_in: required(localDateSchema, 'Day of arrival, in the property’s time zone.', '2026-06-15'),
  check_out: required(localDateSchema, 'Day of departure; not before `check_in`.', '2026-06-18'),
  booking_date: field(localDateSchema, 'Day on which the booking was made.', '2026-03-02'),
  status: required(statusSchema, 'The state of the stay.', 'confirmed'),
  status_raw: field(text, 'The partner’s spelling, if no value map lists it.', 'WAITLIST'),
  channel: field(text, 'The system that the booking came through, usually as a code.', 'BDC'),
  source: field(text, 'Where the business comes from, in the hotel’s own words.', 'online travel agency'),
  total_amount: field(decimalSchema, 'What the whole stay costs.', '512.4'),
  currency: field(z.string().regex(/^[A-Z]{3}$/), 'ISO 4217; for `total_amount` and all charges.', 'EUR'),
  guests: z.array(guestSchema).meta({ description: 'The guests; the first is the lead guest.' }),
  rooms: z
    .array(roomSchema)
    .meta({ description: 'The rooms, one element per room and uninterrupted part of the stay.' }),
  charges: z.array(chargeSchema).meta({ description: 'The lines of the bill.' }),
  extra: field(
    z.record(z.string(), z.json()),
    'Further fields of the partner, under names that the connector chooses.',
    { market_segment: 'LEISURE' },
  ),
});
export type Reservation = z.infer<typeof reservationSchema>;
