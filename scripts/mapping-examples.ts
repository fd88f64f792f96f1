import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

/** The examples of docs/reference/mapping.md: each a file with a mapping, a response and the resulting records. */

export const chapters = {
  root: 'Where the reservations are',
  paths: 'Paths',
  fields: 'Fields',
  dates: 'Dates',
  amounts: 'Amounts and numbers',
  lists: 'Guests, rooms and charges',
  flat: 'Flat rows',
  values: 'Values',
  push: 'Events',
} as const;
export type Chapter = keyof typeof chapters;

export const defaultTimezone = 'Europe/Lisbon';

const exampleSchema = z.strictObject({
  title: z.string(),
  chapter: z.enum(Object.keys(chapters) as [Chapter, ...Chapter[]]),
  place: z.int(),
  about: z.string(),
  timezone: z.string().default(defaultTimezone),
  /** What the input is: a list, the answer for one reservation, the data of an event. */
  form: z.enum(['list', 'single', 'event']).default('list'),
  mapping: z.string(),
  input: z.string(),
  /** The records, each with the keys that the example is about. */
  output: z.string(),
  total: z.int().optional(),
  notes: z.array(z.string()).default([]),
  drift: z.array(z.string()).default([]),
  /** Keys that no record may have. */
  absent: z.array(z.string()).default([]),
});
export type Example = z.infer<typeof exampleSchema> & { readonly file: string };

const folder = new URL('../docs/reference/mapping-examples/', import.meta.url);

export function readExamples(): Example[] {
  const order = Object.keys(chapters);
  return readdirSync(folder)
    .filter((file) => file.endsWith('.yaml'))
    .map((file) => ({ file, ...exampleSchema.parse(parse(readFileSync(new URL(file, folder), 'utf8'))) }))
    .sort((a, b) => order.indexOf(a.chapter) - order.indexOf(b.chapter) || a.place - b.place);
}
