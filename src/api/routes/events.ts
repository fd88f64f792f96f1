import { z } from 'zod';
import { listEvents, readEvent } from '../../store/events/list.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Api, anyJson, instant, ok, okIfFound, type Route, route } from '../route.ts';

const event = z.object({
  integration: z.string(),
  seq: z.int(),
  event_id: z.string(),
  event: z.string(),
  occurred_at: instant,
  received_at: instant,
  state: z.enum(['pending', 'hydrate', 'waiting', 'done', 'dead']),
  outcome: z.string().nullable(),
  type: z.string().nullable(),
  id: z.string().nullable().describe('The reservation or guest that it changed.'),
  version: z.int().nullable(),
  attempt: z.int(),
});

export function eventRoutes({ runtime: { pool } }: Api): Route[] {
  return [
    route('GET /events', {
      id: 'events.list',
      summary: 'Accepted webhooks, newest first; without payloads',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        integration: z.string().optional(),
        state: event.shape.state.optional(),
        event_id: z.string().max(500).optional(),
      }),
      response: pageOf(event),
      handle: async ({ query, within }) => {
        const [receivedAt, seq] = decodeCursor(query.cursor, 'time', 'number');
        const rows = await listEvents(pool, {
          integrations: within,
          state: query.state,
          eventId: query.event_id,
          before: receivedAt === undefined ? undefined : { receivedAt, seq: Number(seq) || 0 },
          limit: query.limit + 1,
        });
        return ok(paged(rows, query.limit, (row) => [row.received_at.toISOString(), row.seq]));
      },
    }),
    route('GET /integrations/{integration}/events/{seq}', {
      id: 'events.get',
      summary: 'One event with its payload, as long as it is retained',
      role: 'viewer',
      payload: true,
      params: z.strictObject({ integration: z.string(), seq: z.string().regex(/^\d{1,18}$/) }),
      response: event.extend({ body: anyJson }),
      handle: async ({ params: { integration, seq } }) =>
        okIfFound(await readEvent(pool, integration, seq), `event ${seq} of ${integration}`),
    }),
  ];
}
