import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { operationShape, situationSchema } from './operation.ts';

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
  on: z.strictObject({
    consented: situationSchema.optional(),
    moment: situationSchema.optional(),
    withdrawn: situationSchema.optional(),
    erased: situationSchema.optional(),
  }),
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
