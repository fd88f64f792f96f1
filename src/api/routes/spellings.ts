import { z } from 'zod';
import type { Applied } from '../../operations/edit-documents.ts';
import type { AddedSpelling, UnknownView } from '../../operations/spellings.ts';
import { instant, ok, type Route, route } from '../route.ts';
import { answer } from './document-edits.ts';

export interface SpellingPorts {
  readonly unknown: () => Promise<readonly UnknownView[]>;
  readonly add: (spelling: AddedSpelling, by: string) => Promise<Applied>;
}

const field = z.enum(['channel', 'source', 'board']);
const unknown = z.object({
  field,
  value: z.string().describe('As the partners write it.'),
  times: z.int().describe('In how many changes of records.'),
  brands: z.array(z.string()),
  last_at: instant,
  known: z.array(z.string()).describe('The values that the workspace has spellings of.'),
  likely: z.string().nullable().describe('The one that looks most like it.'),
});
const added = z.strictObject({
  field,
  value: z.string().min(1).max(200),
  as: z.string().min(1).max(200).describe('The canonical value.'),
});

/** Spellings that hold for all brands (`spellings` in innbound.yaml). */
export function spellingRoutes(ports: SpellingPorts): Route[] {
  const common = { tag: 'documents', scope: 'all' } as const;
  return [
    route({
      ...common,
      method: 'GET',
      path: '/spellings/unknown',
      id: 'spellings.unknown',
      summary: 'Channels, sources and boards that brands send and no value map lists',
      role: 'viewer',
      response: z.object({ items: z.array(unknown) }),
      handle: async () => ok({ items: [...(await ports.unknown())] }),
    }),
    route({
      ...common,
      method: 'POST',
      path: '/spellings',
      id: 'spellings.add',
      summary: 'Add a spelling for all brands to innbound.yaml',
      role: 'admin',
      body: added,
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ body, caller }) => answer(await ports.add(body, caller.name), 'innbound.yaml'),
    }),
  ];
}
