import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { operationShape, situationSchema } from './operation.ts';

/** A ready-made body of settings for one system, as a file of data. What a destination says itself comes before it. */
const presetSchema = z.strictObject({
  preset: z.string(),
  title: z.string(),
  description: z.string(),
  /** The public description of the API that it was made from. */
  reference: z.array(z.url()),
  /** How the credentials are written in the destination. */
  auth_example: z.json(),
  with: z.record(z.string(), z.strictObject({ description: z.string(), default: z.string().optional() })),
  each: z.enum(['record', 'guest']),
  requires: z.array(z.string()).default([]),
  skip_if: z.array(z.string()).default([]),
  batch: z.int().min(1),
  ...operationShape,
  url: z.string(),
  on: z.strictObject({ withdrawn: situationSchema.optional(), erased: situationSchema.optional() }),
});
export type Preset = z.infer<typeof presetSchema>;

const folder = new URL('./presets/', import.meta.url);

export const presets: ReadonlyMap<string, Preset> = new Map(
  readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .sort()
    .map((file) => {
      const preset = presetSchema.parse(parse(readFileSync(new URL(file, folder), 'utf8')));
      return [preset.preset, preset];
    }),
);
