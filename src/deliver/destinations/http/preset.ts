import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { feedbackSchema } from './feedback-list.ts';
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
  /** The usual request takes one item, although a call holds several for the others. */
  alone: z.boolean().default(false),
  ...operationShape,
  url: z.string(),
  /** One request, or several that follow each other. */
  on: perSituation(() => z.union([situationSchema, z.array(situationSchema)]).optional()),
  /** Where the vendor says who unsubscribed, bounced or complained. */
  feedback: z.array(feedbackSchema).default([]),
  /** What `destination prepare` creates, in order. */
  prepare: z.array(prepareStepSchema).default([]),
});
export type Preset = z.infer<typeof presetSchema>;

const folder = new URL('./presets/', import.meta.url);

const names = readdirSync(folder)
  .flatMap((file) => (file.endsWith('.yaml') ? [file.slice(0, -'.yaml'.length)] : []))
  .sort();
const read = new Map<string, Preset>();

/** Files are read on first use: all seven take 180 ms, in every process that knows the schemas (two arm64 cores). */
export const presets = {
  keys: (): readonly string[] => names,
  values: (): readonly Preset[] => names.flatMap((name) => presets.get(name) ?? []),
  get(name: string): Preset | undefined {
    if (!names.includes(name)) return undefined;
    const known = read.get(name);
    if (known !== undefined) return known;
    const text = readFileSync(new URL(`${name}.yaml`, folder), 'utf8');
    const preset = presetSchema.parse(parse(text, { merge: true }));
    read.set(name, preset);
    return preset;
  },
};
