import { existsSync, readdirSync } from 'node:fs';
import { z } from 'zod';
import { moduleSuffix } from '../../kit/module-suffix.ts';
import { closest } from '../canonical/closest.ts';
import { fields, listNames } from '../canonical/fields.ts';
import { checkedText } from './checked.ts';
import { durationText, nameText, rateSchema } from './scalars.ts';

/** The settings that all types of destinations share. */

/** The canonical fields as a destination names them: check_in, guests, guests[].email … */
const canonicalFields: readonly string[] = [
  ...Object.keys(fields.reservation),
  ...listNames,
  ...listNames.flatMap((list) => Object.keys(fields[list]).map((field) => `${list}[].${field}`)),
];

const fieldText = () =>
  checkedText('a field such as guests[].email', (text) => {
    if (canonicalFields.includes(text) || /^extra\..+$/.test(text)) return undefined;
    const suggestion =
      canonicalFields.find((field) => field.replace('[]', '') === text) ??
      canonicalFields.find((field) => field.endsWith(`].${text}`)) ??
      closest(text, canonicalFields);
    return { message: 'is not a field of the canonical record', suggestion };
  });

export const commonShape = {
  destination: nameText().describe('The destination’s name; integrations refer to it.'),
  receives: z
    .array(z.enum(['reservation', 'guest']))
    .min(1)
    .default(['reservation'])
    .describe('The kinds of records it gets.'),
  fields: z
    .array(fieldText())
    .min(1)
    .optional()
    .describe(
      'The only fields it gets, such as check_in or guests[].email; by default all. The id is always sent. guests[].FIELD also applies to guest records.',
    ),
  drop: z.array(fieldText()).default([]).describe('Fields it does not get, written as in `fields`.'),
  filter: z
    .string()
    .min(1)
    .optional()
    .describe('A CEL condition over the canonical record; only what meets it is delivered.'),
  consent: z
    .enum(['none', 'marketing'])
    .default('none')
    .describe('`marketing`: only guests with marketing_consent are sent, and a withdrawal is reported.'),
  test_data: z
    .boolean()
    .optional()
    .describe(
      'Whether obvious test guests (Test Test, test@test.com, example.com, sample numbers) are sent; by default not under `consent: marketing`.',
    ),
  retry: z
    .array(durationText('1s', '7d'))
    .max(20)
    .default(['5s', '1m', '10m', '1h'])
    .describe('The delays before each retry, with jitter; after the last retry the delivery becomes a dead letter.'),
  rate: rateSchema.optional().describe('The maximum request rate, over all nodes.'),
  concurrency: z
    .int()
    .min(1)
    .max(256)
    .default(4)
    .describe('Concurrent requests on each node; requests for one reservation never overlap.'),
  batch: z
    .strictObject({
      size: z
        .int()
        .min(1)
        .max(10_000)
        .optional()
        .describe('Maximum number of changes in one request; by default as the type suggests.'),
      wait: durationText('1ms', '5m')
        .optional()
        .describe('How long an incomplete batch waits for more; by default as the type suggests, or 1s.'),
    })
    .optional()
    .describe('Several changes in one request; by default the type of the destination decides.'),
  audit: z
    .strictObject({
      every: durationText('1h', '30d').describe('How often what it holds is compared with what would be sent to it.'),
      at: checkedText('a time such as 04:00', (text) =>
        /^([01]\d|2[0-3]):[0-5]\d$/.test(text) ? undefined : { message: 'must be a time such as 04:00' },
      )
        .default('04:00')
        .describe('The time of day (UTC) from which the intervals are counted.'),
    })
    .optional()
    .describe('Compares what the destination holds with what would be sent to it, on a schedule.'),
  paused: z.boolean().default(false).describe('Whether deliveries wait. Nothing is lost: they are sent when it ends.'),
};

/**
 * Where canonical records go. Each folder of deliver/destinations is a type; its settings.ts declares the settings of the type.
 * Types are discovered, not listed, so that a new destination changes no other file.
 */

const folder = new URL('../deliver/destinations/', import.meta.url);

async function findTypes(): Promise<ReadonlyMap<string, z.ZodObject>> {
  const types = new Map<string, z.ZodObject>();
  for (const type of readdirSync(folder).sort()) {
    const file = new URL(`${type}/settings${moduleSuffix}`, folder);
    if (!existsSync(file)) continue;
    const { settingsSchema }: { settingsSchema?: unknown } = await import(file.href);
    if (!(settingsSchema instanceof z.ZodObject)) throw new TypeError(`${file.pathname} exports no settingsSchema`);
    const taken = Object.keys(settingsSchema.shape).find((key) => key === 'type' || Object.hasOwn(commonShape, key));
    if (taken !== undefined) throw new TypeError(`${file.pathname} declares ${taken}, which all destinations have`);
    types.set(type, settingsSchema);
  }
  return types;
}

/** The existing types, each with the schema of its settings. */
const destinationTypes = await findTypes();

export type Destination = z.infer<z.ZodObject<typeof commonShape, z.core.$strict>> & {
  readonly type: string;
  readonly [setting: string]: unknown;
};

const options = Array.from(destinationTypes, ([type, settings]) =>
  // safeExtend keeps the checks across keys that a type may have.
  settings
    .safeExtend({ ...commonShape, type: z.literal(type).describe('The type of the destination.') })
    .meta({ title: type, description: settings.description ?? '' }),
);

export const destinationSchema = z
  .discriminatedUnion('type', options as [(typeof options)[number]])
  .meta({ title: 'Destination', description: 'Where canonical records go.' }) as unknown as z.ZodType<Destination>;

/** The settings of the type: the body without the keys that all destinations share. */
export function ownSettings(destination: Destination): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(destination).filter(([key]) => key !== 'type' && !Object.hasOwn(commonShape, key)),
  );
}
