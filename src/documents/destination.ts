import { existsSync, readdirSync } from 'node:fs';
import { z } from 'zod';
import { moduleSuffix } from '../kit/module-suffix.ts';
import { commonShape, type DestinationCommon } from './destination-common.ts';

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

export type Destination = DestinationCommon & { readonly type: string; readonly [setting: string]: unknown };

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
