import { z } from 'zod';

/** One field of a connector's mapping: where its value comes from and what is done with it. */

export const scalar = z.union([z.string(), z.number(), z.boolean()]);
export const path = z.string().min(1);
export const paths = z.union([path, z.array(path).min(1)]);
export const spellings = z.union([scalar, z.array(scalar)]);

export const operatorsSchema = z.strictObject({
  is: spellings.optional().describe('The value is this, or one of these.'),
  not: spellings.optional().describe('The value is none of these.'),
  exists: z.boolean().optional().describe('true: there is a value; false: it is absent, null or empty text.'),
  same_as: path.optional().describe('The value equals the one at this path.'),
  not_same_as: path.optional().describe('The value differs from the one at this path, or is empty.'),
  at_least: z
    .union([z.number(), z.string()])
    .optional()
    .describe('The value is this or more; dates are compared as text.'),
  contains: z.string().optional().describe('The text contains this, or the list has this item.'),
});

const test = z.union([scalar, z.null(), z.array(z.union([scalar, z.null()])), operatorsSchema]);
const conditions = z.record(path, test);

export const conditionSchema = z
  .union([conditions, z.array(conditions).min(1)])
  .meta({ id: 'Condition' })
  .describe(
    'Paths, each with its required value, a list of allowed values, null for empty, or a test. All must hold; in a list of such conditions, one is enough.',
  );

export const valueMap = z.record(z.string(), spellings);
export const numberFormat = z.enum(['point', 'comma']);

/** One source, then modifiers; these are applied in the order in which they stand here. */
export const fieldFormSchema = z
  .strictObject({
    path: path.optional().describe('The value at a path.'),
    const: scalar.optional().describe('Always this value.'),
    get first() {
      return fields.optional().describe('The first of several fields that is not empty.');
    },
    get join() {
      return fields.optional().describe('Several fields as one text, separated by `with`; empty ones are left out.');
    },
    get sum() {
      return z.union([listSource, fields]).optional().describe('The exact sum over a list, or of several fields.');
    },
    get product() {
      return fields.optional().describe('The exact product of several fields; empty if one of them is empty.');
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
      return lookupSchema.optional().describe('A value from a table elsewhere in the same response.');
    },
    when: conditionSchema.optional().describe('The field is empty unless this condition holds.'),
    with: z.string().optional().describe('The separator between the texts of `join`; by default a space.'),
    empty: z
      .array(z.union([scalar, z.strictObject({}), z.array(z.never()).max(0)]))
      .optional()
      .describe('Values that mean "no value", such as N/A, {} or [].'),
    name: z.enum(['first', 'last']).optional().describe('Extracts the first or the last name from a full name.'),
    values: valueMap
      .optional()
      .describe('Canonical value to the partner’s spellings, for this field alone; `*` is any other spelling.'),
    number: numberFormat.optional().describe('The format of numbers in text: 1,234.56 (point) or 1.234,56 (comma).'),
    minor_units: z
      .union([
        z.int().min(0).max(8),
        z.literal('currency'),
        z.strictObject({ path: path.describe('Where the number of digits is, such as `@DecimalPlaces`.') }),
      ])
      .optional()
      .describe(
        'The amount is in minor units: how many digits they have, `currency` for those of the reservation’s currency, or the path of their number beside the amount. Without a number there, the amount stays as it is.',
      ),
    negate: z.boolean().optional().describe('Reverses the sign of an amount.'),
    date: paths
      .optional()
      .describe(
        'The date format: iso, as_written, epoch_s, epoch_ms, dotnet or a pattern such as DD/MM/YYYY; several are tried in turn.',
      ),
    get add_days() {
      return z
        .union([z.int(), fieldSchema])
        .optional()
        .describe('Adds a number of days to the date: a number, or a field that holds one.');
    },
    if_invalid: z
      .enum(['drop', 'dead_letter'])
      .optional()
      .describe(
        'What to do with a value that breaks the rule of its field. `drop` leaves it out with a note before `default` applies; `dead_letter` makes the record a dead letter. Without it the value is left out with a note, except for `id`, `check_in`, `check_out` and `status`, without which there is no record.',
      ),
    default: scalar.optional().describe('The value if there is none.'),
  })
  .meta({ id: 'FieldForm' });

export const fieldSchema = z
  .union([path, z.literal(false), fieldFormSchema])
  .meta({ id: 'Field' })
  .describe('A path, false to leave the field out, or one source with modifiers.');

const fields = z.array(fieldSchema).min(1);

export const joinSchema = z.strictObject({
  in: path.describe('The list elsewhere in the response.'),
  key: paths.describe('Where a row of that list has the key.'),
  by: paths.describe('Where the item has the key, or a list of keys; $item if the item itself is the key.'),
});

/** What is done with the items of a list, wherever they are. */
export const itemsShape = {
  join: z
    .union([joinSchema, z.array(joinSchema).min(1)])
    .optional()
    .describe(
      'Replaces each item by the rows of another list that have its key; several joins are applied in order. An item without a row is left out.',
    ),
  where: conditionSchema.optional().describe('Only items for which this holds.'),
  unique: paths.optional().describe('Items with the same values at these paths count as one.'),
};

export const listFormSchema = z
  .strictObject({
    from: paths
      .optional()
      .describe('Where the items are; several lists are concatenated. With only a join, the item itself.'),
    ...itemsShape,
    get value() {
      return fieldSchema.optional().describe('The part of each item to use; the item itself by default.');
    },
  })
  .meta({ id: 'ListForm' });

export const listSource = z.union([path, listFormSchema]);

export const lookupSchema = z
  .strictObject({
    in: path.describe('Where the table is: a list of rows, or an object whose names are the keys.'),
    get by() {
      return fieldSchema.describe('The key to look for.');
    },
    key: path.optional().describe('Where a row has its key; leave it out if the table is an object.'),
    get value() {
      return fieldSchema.optional().describe('The part of the row to use; the row itself by default.');
    },
  })
  .meta({ id: 'Lookup' });
