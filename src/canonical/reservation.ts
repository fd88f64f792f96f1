import { z } from 'zod';
import { localDateSchema } from './dates.ts';
import { decimalSchema } from './decimal.ts';

/**
 * The canonical schema: every PMS is mapped to it and every destination receives it. It has no zod transforms, so that it exports to
 * JSON Schema. A field the partner did not send is absent, never null; the three arrays are always present.
 */

export const statuses = ['confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other'] as const;
const statusSchema = z.enum(statuses);
export type Status = z.infer<typeof statusSchema>;

export const guestSchema = z.strictObject({
  guest_id: z.string().optional().describe('The partner’s own id of the guest, if it has one.'),
  first_name: z.string().optional(),
  last_name: z.string().optional(),
  email: z.string().optional(),
  email_raw: z.string().optional().describe('What was sent, if it is not a valid address.'),
  email_proxy: z.literal(true).optional().describe('The address is an alias created by a booking site.'),
  phone: z.string().optional().describe('E.164.'),
  phone_raw: z.string().optional().describe('What was sent, if it is not a possible number.'),
  date_of_birth: localDateSchema.optional(),
  nationality: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .optional()
    .describe('ISO 3166-1 alpha-2.'),
  document_type: z.string().optional(),
  document_number: z.string().optional(),
  marketing_consent: z.boolean().optional(),
});
export type Guest = z.infer<typeof guestSchema>;

export const roomSchema = z.strictObject({
  room_type: z.string().optional(),
  board: z.string().optional(),
  rate_code: z.string().optional(),
  start_date: localDateSchema.optional(),
  end_date: localDateSchema.optional(),
  adults: z.int().nonnegative().optional(),
  children: z.int().nonnegative().optional(),
});
export type Room = z.infer<typeof roomSchema>;

export const chargeSchema = z.strictObject({
  code: z.string().optional(),
  description: z.string().optional(),
  amount: decimalSchema.optional(),
  quantity: z.int().optional(),
});
export type Charge = z.infer<typeof chargeSchema>;

export const reservationSchema = z.strictObject({
  id: z.string().min(1),
  confirmation_number: z.string().optional(),
  check_in: localDateSchema,
  check_out: localDateSchema,
  booking_date: localDateSchema.optional(),
  status: statusSchema,
  status_raw: z.string().optional().describe('The partner’s spelling, if it is not recognised.'),
  channel: z.string().optional(),
  source: z.string().optional(),
  total_amount: decimalSchema.optional(),
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/)
    .optional()
    .describe('ISO 4217.'),
  guests: z.array(guestSchema),
  rooms: z.array(roomSchema),
  charges: z.array(chargeSchema),
  extra: z.record(z.string(), z.json()).optional().describe('Other fields of the partner that the connector maps.'),
});
export type Reservation = z.infer<typeof reservationSchema>;
