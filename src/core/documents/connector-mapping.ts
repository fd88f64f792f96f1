import { z } from 'zod';
import {
  type ChargeField,
  entriesOf,
  type FieldKind,
  fields,
  type GuestField,
  kinds,
  listFields,
  type ReservationField,
  type RoomField,
  reservationFields,
  type Table,
  type ValueField,
} from '../canonical/fields.ts';
import { statuses } from '../canonical/values.ts';
import {
  conditionSchema,
  fieldFormSchema,
  fieldSchema,
  itemsShape,
  path,
  paths,
  spellings,
  valueMap,
} from './mapping-field.ts';

/**
 * The sections of a connector that describe the partner's JSON: `shape` (where the reservations are), `map` (which raw value is
 * which canonical field) and `values` (which spelling is which canonical value). The descriptions here are what editors show
 * and what the reference is made of.
 */

type Optional<Names extends string, Of extends z.ZodType> = { [Name in Names]: z.ZodOptional<Of> };

function fieldsOf<Names extends string>(
  mapped: { readonly [Name in Names]: FieldKind },
): Optional<Names, typeof fieldSchema> {
  const shape: { [name: string]: unknown } = {};
  for (const [name, kind] of Object.entries<FieldKind>(mapped))
    shape[name] = fieldSchema.optional().describe(`${kinds[kind].about} Default: the raw field of the same name.`);
  return shape as Optional<Names, typeof fieldSchema>;
}

function listMapOf<Names extends string>(mapped: { readonly [Name in Names]: FieldKind }) {
  return z.strictObject({
    from: z
      .union([
        paths,
        z.strictObject({ first: z.array(path).min(1).describe('The first of these lists that has an item.') }),
      ])
      .optional()
      .describe('Where the items are; by default the raw list of the same name. Several lists are concatenated.'),
    ...itemsShape,
    fields: z
      .strictObject(fieldsOf(mapped))
      .optional()
      .describe('The fields of an item, by paths that start at the item.'),
  });
}

function listOf<Of extends z.ZodType>(one: Of) {
  return z.union([one, z.array(one).min(1), z.literal(false)]);
}

/** What identifies items or rows: a path, several paths, or a field with any source. */
export const flatKey = z.union([paths, fieldFormSchema]);

/** Of rooms and charges; guests have a canonical field for it. */
export const itemId = {
  id: z
    .union([flatKey, z.literal(false)])
    .optional()
    .describe(
      'Rooms and charges: the partner’s own id of an item, by which later messages refer to it; by default the item’s `id`. `false`: the item’s `id` is something else, such as the room number.',
    ),
};

const extraMap = z.record(z.string(), fieldSchema);

export const guestListSchema = listMapOf<GuestField>(listFields.guests)
  .extend({
    extra: extraMap
      .optional()
      .describe('Other fields of a guest, such as a loyalty number: a name that you choose, and where the value is.'),
  })
  .meta({ id: 'GuestList' });

export const mapSchema = z.strictObject({
  ...fieldsOf<ReservationField>(reservationFields),
  guests: listOf(guestListSchema).optional().describe('The guests.'),
  rooms: listOf(listMapOf<RoomField>(listFields.rooms).extend(itemId).meta({ id: 'RoomList' }))
    .optional()
    .describe('The rooms, one for each stay.'),
  charges: listOf(listMapOf<ChargeField>(listFields.charges).extend(itemId).meta({ id: 'ChargeList' }))
    .optional()
    .describe('The charges.'),
  extra: extraMap
    .optional()
    .describe('Further fields: a name that you choose, and where the value is. Any JSON is allowed.'),
  where: conditionSchema
    .optional()
    .describe(
      'Only records for which this holds are reservations; blocks, owner stays and tests are dropped. Not applied to events, unless `push.map` says it too.',
    ),
});

export const pushMapSchema = mapSchema.describe('Where the data of events differs from `map`, field by field.');

const keyed = z.strictObject({
  key: flatKey.describe('What identifies an item in a row: a path, several paths, or a field with any source.'),
});

export const flatSchema = z.strictObject({
  key: flatKey.describe(
    'What all rows of a reservation share: a path, several paths, or a field with any source, such as { first: [masterId, bookId] }.',
  ),
  whole: z
    .boolean()
    .optional()
    .describe(
      'true: the list always shows all rows of a reservation together. Without it, a group with fewer rooms than stored is requested by `pull.single`, or held back, because some of its rows may lie outside the requested dates.',
    ),
  conflict: z
    .enum(['first', 'last'])
    .optional()
    .describe('Which row wins if rows of one reservation disagree; the last one by default. A note reports it.'),
  guests: keyed.optional().describe('How to identify guests.'),
  rooms: keyed.optional().describe('How to identify rooms.'),
  charges: keyed.optional().describe('How to identify charges.'),
});

export const shapeSchema = z.strictObject({
  root_path: path
    .optional()
    .describe(
      'The path of the list of reservations; by default the response itself is the list. It may pass through lists and through objects whose keys are data, bookings[].rooms, days[][]: then the items of the first list are what paging counts.',
    ),
  also: z
    .array(
      z.strictObject({
        path: path.describe('Where the further list is; it may be missing.'),
        set: z
          .record(z.string().min(1), z.union([z.string(), z.number(), z.boolean()]))
          .optional()
          .describe('Fields to set in each row of that list before the mapping, such as { status: cancelled }.'),
        partial: z
          .boolean()
          .optional()
          .describe(
            'true: its rows may lack dates or status, such as a bare cancellation. Such a row changes only the fields that it states of a stored reservation; for an unknown reservation it is a dead letter.',
          ),
      }),
    )
    .min(1)
    .optional()
    .describe('Further lists of reservations in the same response, such as cancellations beside bookings.'),
  single_path: path
    .optional()
    .describe('The path of the reservation in the response for a single one; by default the response itself.'),
  total: path.optional().describe('Where the response has the count of all records; `total` by default.'),
  missing_is_empty: z
    .boolean()
    .optional()
    .describe('The partner leaves the list out when it is empty. Otherwise a missing list is an error.'),
  object_is_one: z
    .boolean()
    .optional()
    .describe('The partner sends a list of one as the object alone. An empty object is an empty list.'),
  flat: flatSchema.optional().describe('The list has several rows per reservation: they are grouped by their keys.'),
  dates: paths.optional().describe('The date format of all fields of this connector; by default iso.'),
});

const statusValues = z.strictObject(
  Object.fromEntries(
    statuses.map((status) => [status, spellings.optional().describe(`The partner’s spellings of ${status}.`)]),
  ) as { [Name in (typeof statuses)[number]]: z.ZodOptional<typeof spellings> },
);
const booleanValues = z.strictObject({
  true: spellings.optional().describe('Spellings of true.'),
  false: spellings.optional().describe('Spellings of false.'),
});

const valuesShape = (Object.keys(fields) as Table[]).flatMap((table) =>
  entriesOf(table).flatMap(([name, { kind, values }]) => {
    if (values === undefined) return [];
    const schema = kind === 'status' ? statusValues : kind === 'boolean' ? booleanValues : valueMap;
    return [[name, schema.optional().describe(values)] as const];
  }),
);
export const valuesSchema = z.strictObject(
  Object.fromEntries(valuesShape) as Optional<Exclude<ValueField, 'status' | 'marketing_consent'>, typeof valueMap> & {
    status: z.ZodOptional<typeof statusValues>;
    marketing_consent: z.ZodOptional<typeof booleanValues>;
  },
);
