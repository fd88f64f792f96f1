import { z } from 'zod';
import { countryLanguages } from '../canonical/country.ts';
import {
  type ChargeField,
  chargeFields,
  type GuestField,
  guestFields,
  type ReservationField,
  type RoomField,
  reservationFields,
  roomFields,
} from '../canonical/fields.ts';
import { statuses } from '../canonical/reservation.ts';

/**
 * The sections of a connector that say what its JSON means: `shape` (where the reservations are), `map` (which raw value is
 * which canonical field) and `values` (which spelling is which canonical value). The descriptions here are what editors show
 * and what the reference is made of.
 */

const scalar = z.union([z.string(), z.number(), z.boolean()]);
const path = z.string().min(1);
const paths = z.union([path, z.array(path).min(1)]);
const spellings = z.union([scalar, z.array(scalar)]);

// Conditions ----------------------------------------------------------------------------------------------------------

export const operatorsSchema = z.strictObject({
  is: spellings.optional().describe('The value is this, or one of these.'),
  not: spellings.optional().describe('The value is not this, and none of these.'),
  exists: z.boolean().optional().describe('true: there is a value; false: it is absent, null or empty text.'),
  same_as: path.optional().describe('The value equals the one at this path.'),
  at_least: z
    .union([z.number(), z.string()])
    .optional()
    .describe('The value is this or more; dates are compared as text.'),
  at_most: z
    .union([z.number(), z.string()])
    .optional()
    .describe('The value is this or less; dates are compared as text.'),
  starts_with: z.string().optional().describe('The text begins so.'),
  contains: z.string().optional().describe('The text holds this; a list has this among its items.'),
});

const test = z.union([scalar, z.null(), z.array(z.union([scalar, z.null()])), operatorsSchema]);
const conditions = z.record(path, test);

export const conditionSchema = z
  .union([conditions, z.array(conditions).min(1)])
  .meta({ id: 'Condition' })
  .describe(
    'Paths, each with what must stand there: a value, a list of values, null for empty, or a test. All must hold; of a list of such conditions, one.',
  );

// Fields --------------------------------------------------------------------------------------------------------------

const valueMap = z.record(z.string(), spellings);
const numberFormat = z.enum(['point', 'comma']);

const namePart = z.enum(['first', 'last']);

/** One source, then modifiers; these are applied in the order in which they stand here. */
export const fieldFormSchema = z
  .strictObject({
    path: path.optional().describe('The value at a path.'),
    const: scalar.optional().describe('Always this value.'),
    get first() {
      return fields.optional().describe('The first of several fields that is not empty.');
    },
    get join() {
      return fields
        .optional()
        .describe('Several fields as one text, with `with` between them; empty ones are left out.');
    },
    get sum() {
      return z.union([listSource, fields]).optional().describe('The exact sum over a list, or of several fields.');
    },
    get product() {
      return fields.optional().describe('The exact product of several fields; empty when one of them is.');
    },
    get min() {
      return listSource.optional().describe('The smallest number or earliest date of a list.');
    },
    get max() {
      return listSource.optional().describe('The largest number or latest date of a list.');
    },
    get count() {
      return listSource.optional().describe('How many items a list has.');
    },
    get pick() {
      return listFormSchema.optional().describe('The value of the first item of a list that meets a condition.');
    },
    get lookup() {
      return lookupSchema.optional().describe('A value out of a table elsewhere in the same response.');
    },
    when: conditionSchema.optional().describe('The field is empty unless this condition holds.'),
    with: z.string().optional().describe('What stands between the texts of `join`; a space unless said.'),
    empty: z.array(scalar).optional().describe('Values that mean "no value", such as N/A.'),
    split: z
      .strictObject({
        on: z.string().min(1).describe('Where the text is cut.'),
        part: z.int().describe('Which piece is taken, from 0; -1 is the last.'),
      })
      .optional()
      .describe('Cuts a text and takes one piece.'),
    name: z
      .union([
        namePart,
        z.strictObject({
          part: namePart.describe('Which part of the full name.'),
          order: z
            .enum(['first_last', 'last_first'])
            .optional()
            .describe('How the name is written, where its script does not say.'),
        }),
      ])
      .optional()
      .describe('Takes the first or the last name out of a full name.'),
    values: valueMap
      .optional()
      .describe('Canonical value to the partner’s spellings, for this field alone; `*` is any other spelling.'),
    number: numberFormat.optional().describe('How numbers in text are written: 1,234.56 (point) or 1.234,56 (comma).'),
    minor_units: z
      .union([z.int().min(0).max(8), z.literal('currency')])
      .optional()
      .describe(
        'The amount is in minor units: how many digits they have, or `currency` for those of the reservation’s currency.',
      ),
    negate: z.boolean().optional().describe('Turns the sign of an amount.'),
    date: paths
      .optional()
      .describe(
        'How the date is written: iso, as_written, epoch_s, epoch_ms, dotnet or a pattern such as DD/MM/YYYY; several are tried in turn.',
      ),
    get add_days() {
      return z
        .union([z.int(), fieldSchema])
        .optional()
        .describe('Moves the date by some days: a number, or a field that holds it.');
    },
    country: z
      .union([z.enum(countryLanguages), z.array(z.enum(countryLanguages)).min(1)])
      .optional()
      .describe('The value is a country’s name in this language, or a code: it becomes the two-letter code.'),
    if_invalid: z
      .literal('drop')
      .optional()
      .describe(
        'Leaves out, with a note, a value that would break the rule of its field; without it the record is a dead letter.',
      ),
    default: scalar.optional().describe('The value where there is none.'),
  })
  .meta({ id: 'FieldForm' });

export const fieldSchema = z
  .union([path, z.literal(false), fieldFormSchema])
  .meta({ id: 'Field' })
  .describe('A path, false where the field is not taken, or one source with modifiers.');

const fields = z.array(fieldSchema).min(1);

export const listFormSchema = z
  .strictObject({
    from: paths.describe('Where the items are; several lists follow one another.'),
    where: conditionSchema.optional().describe('Only items for which this holds.'),
    unique: paths.optional().describe('Items with the same values at these paths are one.'),
    get value() {
      return fieldSchema.optional().describe('What is taken of each item; the item itself unless said.');
    },
  })
  .meta({ id: 'ListForm' });

const listSource = z.union([path, listFormSchema]);

export const lookupSchema = z
  .strictObject({
    in: path.describe('Where the table is: a list of rows, or an object whose names are the keys.'),
    get by() {
      return fieldSchema.describe('The key to look for.');
    },
    key: path.optional().describe('Where a row has its key; left out where the table is an object.'),
    get value() {
      return fieldSchema.optional().describe('What is taken of the row; the row itself unless said.');
    },
  })
  .meta({ id: 'Lookup' });

// Lists ---------------------------------------------------------------------------------------------------------------

const joinSchema = z.strictObject({
  in: path.describe('The list elsewhere in the response.'),
  key: paths.describe('Where a row of that list has the key.'),
  by: paths.describe('Where the item has it; $item where the item is the key itself.'),
});

type Optional<Names extends string, Of extends z.ZodType> = { [Name in Names]: z.ZodOptional<Of> };

function fieldsOf<Names extends string>(
  kinds: { readonly [Name in Names]: string },
): Optional<Names, typeof fieldSchema> {
  const shape: { [name: string]: unknown } = {};
  for (const [name, kind] of Object.entries(kinds))
    shape[name] = fieldSchema
      .optional()
      .describe(`${kindText[kind as string] ?? ''} Nothing said: the raw field of the same name.`);
  return shape as Optional<Names, typeof fieldSchema>;
}

const kindText: { readonly [kind: string]: string } = {
  text: 'Text.',
  verbatim: 'Text, cleaned by normalization.',
  date: 'A date in the property’s time zone.',
  birth_date: 'A date, as written.',
  decimal: 'An exact decimal number.',
  count: 'A whole number, not negative.',
  integer: 'A whole number.',
  boolean: 'True or false; yes, no, y, n, 1 and 0 are understood.',
  country: 'A country of ISO 3166: two letters, three letters or its English name.',
  currency: 'A currency of ISO 4217.',
  status: 'The status, by values.status and the spellings understood unlisted.',
};

function listOf<Names extends string>(kinds: { readonly [Name in Names]: string }, id: string) {
  const one = z
    .strictObject({
      from: z
        .union([
          paths,
          z.strictObject({ first: z.array(path).min(1).describe('The first of these lists that has an item.') }),
        ])
        .optional()
        .describe('Where the items are; the raw list of the same name unless said. Several lists follow one another.'),
      join: joinSchema.optional().describe('Each item gives way to the rows of another list with its key.'),
      where: conditionSchema.optional().describe('Only items for which this holds.'),
      unique: paths.optional().describe('Items with the same values at these paths are one.'),
      fields: z
        .strictObject(fieldsOf(kinds))
        .optional()
        .describe('The fields of an item, by paths that start at the item.'),
    })
    .meta({ id });
  return z.union([one, z.array(one).min(1), z.literal(false)]);
}

export const mapSchema = z.strictObject({
  ...fieldsOf<ReservationField>(reservationFields),
  guests: listOf<GuestField>(guestFields, 'GuestList').optional().describe('The guests.'),
  rooms: listOf<RoomField>(roomFields, 'RoomList').optional().describe('The rooms, one for each stay.'),
  charges: listOf<ChargeField>(chargeFields, 'ChargeList').optional().describe('The charges.'),
  extra: z
    .record(z.string(), fieldSchema)
    .optional()
    .describe('Further fields to carry: a name of your own, and where the value is. Any JSON is taken.'),
});
export type MapDocument = z.infer<typeof mapSchema>;

/** What a push says otherwise than a pull; laid over `map`, field by field. */
export const pushMapSchema = mapSchema;

// Shape ---------------------------------------------------------------------------------------------------------------

const keyed = z.strictObject({ key: paths.describe('The path or paths of a row that tell one item from another.') });

const flatSchema = z.strictObject({
  key: paths.describe('The path or paths of a row that are the same in all rows of a reservation.'),
  conflict: z
    .union([
      z.enum(['first', 'last']),
      z.strictObject({ newest: path.describe('A path of the row; the row with the largest value there wins.') }),
    ])
    .optional()
    .describe('Which row is believed where rows of one reservation disagree: last unless said. A note tells of it.'),
  guests: keyed.optional().describe('How the guests are told apart.'),
  rooms: keyed.optional().describe('How the rooms are told apart.'),
  charges: keyed.optional().describe('How the charges are told apart.'),
});

export const shapeSchema = z.strictObject({
  root_path: path
    .optional()
    .describe(
      'Where the list of reservations is; left out where the response is the list. It may go through lists: bookings[].rooms.',
    ),
  single_path: path
    .optional()
    .describe('Where the reservation is in the response for a single one; the response itself unless said.'),
  total: path.optional().describe('Where the response says how many records there are in all; total unless said.'),
  count_path: path
    .optional()
    .describe('The list whose items the partner’s paging counts, where that is not root_path.'),
  missing_is_empty: z
    .boolean()
    .optional()
    .describe('The partner leaves the list out when it is empty. Otherwise a missing list is an error.'),
  object_is_one: z.boolean().optional().describe('The partner sends a list of one as the object alone.'),
  flat: flatSchema
    .optional()
    .describe('The list has rows, several for one reservation: they are put together by their keys.'),
  dates: paths.optional().describe('How dates are written everywhere in this connector; iso unless said.'),
  numbers: numberFormat.optional().describe('How numbers in text are written everywhere in this connector.'),
});
export type ShapeDocument = z.infer<typeof shapeSchema>;

// Values --------------------------------------------------------------------------------------------------------------

const statusValues = z.strictObject(
  Object.fromEntries(
    statuses.map((status) => [status, spellings.optional().describe(`The partner’s spellings of ${status}.`)]),
  ) as { [Name in (typeof statuses)[number]]: z.ZodOptional<typeof spellings> },
);

export const valuesSchema = z.strictObject({
  status: statusValues
    .optional()
    .describe('The five statuses, and other for what is none of them. Case and separators do not matter.'),
  channel: valueMap.optional().describe('Channels: canonical value to spellings; `*` is any other spelling.'),
  source: valueMap.optional().describe('Sources.'),
  currency: valueMap.optional().describe('Currencies, where the partner writes signs or names.'),
  board: valueMap.optional().describe('Boards, such as half_board.'),
  room_type: valueMap.optional().describe('Room types.'),
  rate_code: valueMap.optional().describe('Rate codes.'),
  document_type: valueMap.optional().describe('Kinds of identity document.'),
  nationality: valueMap.optional().describe('Nationalities, where the partner has codes of its own.'),
  marketing_consent: z
    .strictObject({
      true: spellings.optional().describe('Spellings of consent.'),
      false: spellings.optional().describe('Spellings of no consent.'),
    })
    .optional()
    .describe('Marketing consent.'),
});
export type ValuesDocument = z.infer<typeof valuesSchema>;
