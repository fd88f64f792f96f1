import { z } from 'zod';
import { addSpelling, listUnknown } from '../../operations/spellings.ts';
import { type Api, instant, ok, type Route, route } from '../route.ts';
import { answer } from './document-edits.ts';

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
export function spellingRoutes({ runtime }: Api): Route[] {
  return [
    route('GET /spellings/unknown', {
      id: 'spellings.unknown',
      summary: 'Channels, sources and boards that brands send and no value map lists',
      role: 'viewer',
      response: z.object({ items: z.array(unknown) }),
      handle: async () => ok({ items: await listUnknown(runtime) }),
    }),
    route('POST /spellings', {
      id: 'spellings.add',
      summary: 'Add a spelling for all brands to innbound.yaml',
      role: 'admin',
      body: added,
      response: z.object({ version: z.int(), file: z.string() }),
      handle: async ({ body, caller }) => answer(await addSpelling(runtime, body, caller.name), 'innbound.yaml'),
    }),
  ];
}
