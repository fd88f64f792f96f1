import { z } from 'zod';
import { entriesOf, type Field, type FieldKind, type Table } from './fields.ts';
import { type Charge, decimalSchema, type Guest, type Reservation, type Room } from './reservation.ts';
import { localDateSchema, statuses } from './values.ts';

/** The canonical record as a schema, made from fields.ts. It has no zod transforms, so that it exports to JSON Schema. */

type Shape = Record<string, z.ZodType>;
/** Knows the type of what it accepts, which zod cannot infer from a table. */
type Of<Record> = z.ZodObject<Shape> & z.ZodType<Record>;

/** `decimal`: text in memory, a number in JSON. */
export function recordSchemas(decimal: z.ZodType) {
  const ofKind: Readonly<Record<FieldKind, z.ZodType>> = {
    text: z.string(),
    verbatim: z.string(),
    date: localDateSchema,
    birth_date: localDateSchema,
    decimal,
    count: z.int().nonnegative(),
    integer: z.int(),
    boolean: z.boolean(),
    flag: z.literal(true),
    country: z.string().regex(/^[A-Z]{2}$/),
    currency: z.string().regex(/^[A-Z]{3}$/),
    status: z.enum(statuses),
    json: z.record(z.string(), z.unknown()),
  };
  const schemaOf = ({ kind, check, required, about, example }: Field): z.ZodType => {
    const schema = check === 'id' ? z.string().min(1) : ofKind[kind];
    const shown = kind === 'decimal' && decimal !== decimalSchema ? Number(example) : example;
    return (required ? schema : schema.optional()).meta({ description: about, examples: [shown] });
  };
  const shapeOf = (table: Table): Shape =>
    Object.fromEntries(entriesOf(table).map(([name, field]) => [name, schemaOf(field)]));
  const guest = z.strictObject(shapeOf('guests')) as Of<Guest>;
  const room = z.strictObject(shapeOf('rooms')) as Of<Room>;
  const charge = z.strictObject(shapeOf('charges')) as Of<Charge>;
  const { extra, ...own } = shapeOf('reservation');
  const reservation = z.strictObject({
    ...own,
    guests: z.array(guest).meta({ description: 'The guests; the first is the lead guest.' }),
    rooms: z.array(room).meta({ description: 'The rooms, one element per room and uninterrupted part of the stay.' }),
    charges: z.array(charge).meta({ description: 'The lines of the bill.' }),
    ...(extra && { extra }),
  }) as z.ZodObject<Shape> as Of<Reservation>;
  return { reservation, guest, room, charge };
}

export const {
  reservation: reservationSchema,
  guest: guestSchema,
  room: roomSchema,
  charge: chargeSchema,
} = recordSchemas(decimalSchema);

export const entityType = z.enum(['reservation', 'guest']);

/** A note, as the timeline and the sandbox show it. */
export const noteSchema = z.object({
  step: z.enum(['shape', 'normalize', 'transform', 'reconcile']),
  field: z.string().describe('Canonical path, such as guests[0].phone.'),
  code: z.string(),
  reason: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});

/** A field in which two states of a record differ. */
export const differenceSchema = z.object({
  path: z.string(),
  before: z.unknown().optional(),
  after: z.unknown().optional(),
});
