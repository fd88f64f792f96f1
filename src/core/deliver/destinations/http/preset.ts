import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';
import { reportKinds } from '../../../../terms.ts';
import type { Rate } from '../../../outbound/circuit.ts';
import { operationShape, perSituation, situationSchema } from './operation.ts';

/** One list of a vendor that says who unsubscribed, bounced or complained, and since when. Texts are templates. */
const feedbackSchema = z.strictObject({
  /** With {since.iso}, {since.ms}, {since.date}, and {until.date}, which is tomorrow. */
  url: z.string(),
  /** Settings without which the list is not read. */
  requires: z.array(z.string()).default([]),
  /** The rows in the answer. */
  list: z.string(),
  /** A list inside each row: each of its elements, with the fields of the row, is a row. */
  each: z.string().optional(),
  email: z.string(),
  /** When it happened, or when the vendor's record last changed: ISO 8601, or Unix time in milliseconds. */
  at: z.string(),
  /** A row means this if it has all values of one of the conditions; other rows mean nothing. */
  says: z.partialRecord(z.enum(reportKinds), z.array(z.record(z.string(), z.union([z.string(), z.boolean()]))).min(1)),
  /** The path of the next page's address; with `more`, of the value of {page}. */
  next: z.string().optional(),
  /** Added to the address from the second page on; without `next`, {page} is the number of rows so far. */
  more: z.string().optional(),
  /** The rows of a full page, where the vendor does not say whether there are more. */
  page_size: z.int().optional(),
});
export type Feedback = z.infer<typeof feedbackSchema>;

/** One thing that a vendor's account needs, or several of a kind: how to find it, and how to create it. Texts are templates. */
const prepareStepSchema = z.strictObject({
  what: z.string(),
  /** The step is done for each of these, as {each.…}. */
  for: z.array(z.record(z.string(), z.json())).default([{}]),
  find: z
    .strictObject({
      /** It exists unless the answer is a 404; */
      url: z.string(),
      /** or if this list of the answer has an element with these values. */
      list: z.string().optional(),
      where: z.record(z.string(), z.string()).default({}),
    })
    .optional(),
  create: z
    .strictObject({
      method: z.enum(['POST', 'PUT']).default('POST'),
      url: z.string(),
      body: z.json(),
      /** The path in the answer of what was created; the answer itself by default. */
      answer: z.string().default(''),
    })
    .optional(),
  /** Without `create`: what a person has to do. */
  by_hand: z.string().optional(),
  /** Values for `with` in the destination's document: fixed, or from what was found or created. */
  gives: z
    .record(z.string(), z.union([z.string(), z.strictObject({ path: z.string(), without: z.string().optional() })]))
    .default({}),
});
export type PrepareStep = z.infer<typeof prepareStepSchema>;

const limitSchema = z
  .strictObject({ per_minute: z.number().min(1), burst: z.int().min(1) })
  .transform(({ per_minute: count, burst }): Rate => ({ everyMs: 60_000 / count, burst }));

/** The one of `limits` that a request counts for; the usual request's by default. */
const limit = z.string().optional();
const limitedSchema = situationSchema.extend({ limit });

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
  /** The vendor's limits, below what it publishes: `burst` requests at once and all others of a period stay within its windows. */
  limits: z.record(z.string(), limitSchema).default({}),
  limit,
  /** The usual request takes one item, although a call holds several for the others. */
  alone: z.boolean().default(false),
  /** Where the new address has a contact already, `moved` leaves that of the old one as it is. */
  keeps_moved: z.boolean().default(false),
  ...operationShape,
  url: z.string(),
  /** One request, or several that follow each other. */
  on: perSituation(() => z.union([limitedSchema, z.array(limitedSchema)]).optional()),
  /** Where the vendor says who unsubscribed, bounced or complained. */
  feedback: z.array(feedbackSchema).default([]),
  /** What `destination prepare` creates, in order. */
  prepare: z.array(prepareStepSchema).default([]),
});
export type Preset = z.infer<typeof presetSchema>;

const folder = new URL('../../../../../presets/', import.meta.url);

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
