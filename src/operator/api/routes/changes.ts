import { z } from 'zod';
import { entityType } from '../../../core/canonical/schema.ts';
import { anyJson, instant } from '../../store/answers.ts';
import { type Api, feed, ok, type Route } from '../route.ts';

const change = z.object({
  type: entityType,
  integration: z.string(),
  brand_id: z.string(),
  event: z.enum(['created', 'updated', 'cancelled', 'erased', 'removed']),
  removed: z.literal(true).optional().describe('The record has left: `data` is its id alone.'),
  epoch: z.int().optional().describe('Outranks the version; present after a restore from a backup.'),
  version: z.int().describe('Rises with each version of a record.'),
  idempotency_key: z.string().describe('The same whenever this version is read or delivered.'),
  changed_at: instant,
  data: anyJson.describe('The canonical record.'),
});

export function changeRoutes({ changes }: Api): Route[] {
  return [
    feed('GET /changes', {
      id: 'changes.read',
      summary: 'The feed of changes after a cursor',
      description:
        'Every version of every record that the token may read, in order per record. Without `after` the feed starts at the oldest change; `after=now` returns a cursor at the end. With `wait`, the response waits until there is a change or the time is over. Store the page, then keep `cursor`: the same cursor returns the same changes again. After an erasure, the feed sends a version with the event `erased` for each record that was erased. A record that a rule drops after it was delivered gets a last version with the event `removed` and its id alone.',
      scope: 'any',
      payload: true,
      waits: true,
      query: z.strictObject({
        after: z.string().max(200).optional().describe('`cursor` of the previous page, or `now`.'),
        limit: z.coerce.number().int().min(1).max(500).default(100).describe('Maximum number of changes.'),
        wait: z.coerce.number().int().min(0).max(30).default(0).describe('Seconds to wait for a change.'),
        integration: z.string().min(1).max(200).optional(),
        type: entityType.optional(),
      }),
      response: z.object({
        changes: z.array(change),
        cursor: z.string().describe('For the next request.'),
        more: z.boolean().describe('There is more to read at once.'),
      }),
      handle: async ({ query, within, signal }) => {
        const { after, limit, wait, integration, type } = query;
        const page = await changes.read({
          after,
          integrations: within,
          types: type && [type],
          filter: JSON.stringify([integration ?? null, type ?? null]),
          limit,
          waitMs: wait * 1_000,
          signal,
        });
        return { ...ok(page), isEmpty: page.changes.length === 0 };
      },
    }),
  ];
}
