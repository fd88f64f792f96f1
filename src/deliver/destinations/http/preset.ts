import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { operationShape, perSituation, situationSchema } from './operation.ts';
import { prepareStepSchema } from './prepare-step.ts';

/** Ready-made settings for one system, as a data file. The destination's own settings override it. */
const presetSchema = z.strictObject({
  preset: z.string(),
  title: z.string(),
  description: z.string(),
  /** The public API descriptions that it follows. */
  reference: z.array(z.url()),
  /** How to write the credentials in the destination. */
  auth_example: z.json(),
  with: z.record(
    z.string(),
    z.strictObject({ description: z.string(), default: z.string().optional(), optional: z.boolean().optional() }),
  ),
  each: z.enum(['record', 'guest']),
  requires: z.array(z.string()).default([]),
  skip_if: z.array(z.string()).default([]),
  batch: z.int().min(1),
  ...operationShape,
  url: z.string(),
  /** One request, or several that follow each other. */
  on: perSituation(() => z.union([situationSchema, z.array(situationSchema)]).optional()),
  /** What `destination prepare` creates, in order. */
  prepare: z.array(prepareStepSchema).default([]),
});
export type Preset = z.infer<typeof presetSchema>;

const folder = new URL('./presets/', import.meta.url);

export const presets: ReadonlyMap<string, Preset> = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const preset = presetSchema.parse(parse(readFileSync(new URL(file, folder), 'utf8'), { merge: true }));
      return [preset.preset, preset];
    }),
);
