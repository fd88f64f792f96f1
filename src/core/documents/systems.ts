import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { closest } from '../canonical/closest.ts';

/** The shipped systems, by which people find theirs: an index that is written from the connectors, their pages and their cases. */
export const systemSchema = z.object({
  name: z.string(),
  title: z.string(),
  description: z.string().describe('What its connector covers.'),
  vendor: z.string(),
  market: z.string(),
  aliases: z.array(z.string()),
  basis: z
    .enum(['live', 'vendor', 'clients'])
    .describe('What it rests on: a live property, the vendor, or other clients.'),
  auth: z.string().optional().describe('The type of credentials of its API; absent if it only sends.'),
  list: z.enum(['changes', 'stays', 'queue']).optional().describe('What its list is asked by; absent without a list.'),
  single: z.boolean().describe('One reservation can be requested.'),
  events: z.enum(['webhooks', 'stream']).optional().describe('How its events come.'),
  fields: z.array(z.string()).describe('The canonical fields that a case shows, as table.field.'),
  integration: z.string().describe('A complete integration, as YAML.'),
  credentials: z.array(z.string()).describe('Where the vendor’s settings have what it needs.'),
});

export type System = z.infer<typeof systemSchema>;

const file = new URL('../../../connectors/systems.json', import.meta.url);

export async function readSystems(): Promise<System[]> {
  return z.array(systemSchema).parse(JSON.parse(await readFile(file, 'utf8')));
}

const plain = (text: string): string =>
  text
    .normalize('NFD')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, '');

const namesOf = ({ name, title, aliases, vendor }: System): string[] => [
  name,
  title,
  ...aliases,
  vendor.replace(/ \(.*/, ''),
];

/** The systems that the words mean: by name, other name or vendor; else by market; else, as `similar`, the nearest name. */
export function findSystems(systems: readonly System[], words: string): { found: System[]; similar: System[] } {
  const wanted = plain(words);
  if (wanted === '') return { found: [...systems], similar: [] };
  const exact = systems.filter((one) => namesOf(one).some((name) => plain(name) === wanted));
  if (exact.length > 0) return { found: exact, similar: [] };
  // Somebody may type more than the name: "Mews PMS". Names of three letters are part of too many words.
  const isIn = (name: string) => name.includes(wanted) || (name.length > 3 && wanted.includes(name));
  const named = systems.filter((one) => namesOf(one).some((name) => isIn(plain(name))));
  if (named.length > 0) return { found: named, similar: [] };
  const parts = words.toLowerCase().split(/\s+/);
  const sold = systems.filter(({ market }) => parts.every((part) => market.toLowerCase().includes(part)));
  if (sold.length > 0) return { found: sold, similar: [] };
  const near = closest(
    words.toLowerCase(),
    systems.flatMap(namesOf).map((name) => name.toLowerCase()),
  );
  return { found: [], similar: systems.filter((one) => namesOf(one).some((name) => name.toLowerCase() === near)) };
}
