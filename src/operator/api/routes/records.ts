import { z } from 'zod';
import { longestId } from '../../../core/canonical/field-check.ts';
import { entityType } from '../../../core/canonical/schema.ts';
import { statuses } from '../../../core/canonical/values.ts';
import type { EntityType } from '../../../terms.ts';
import { stops, waitsFor } from '../../operations/facts.ts';
import { type ArrivalsFound, findArrivals, findRecords } from '../../operations/find-arrivals.ts';
import { timelineOf } from '../../operations/timeline.ts';
import { anyJson, counts, instant } from '../../store/answers.ts';
import { timelineEntry } from '../forms.ts';
import { decodeCursor, encodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { type Node, notFound, ok, type Route, viewer } from '../route.ts';

const canonicalRecord = anyJson.meta({
  description: 'The canonical record. Viewers get its personal fields masked.',
  anyOf: [{ $ref: '#/components/schemas/Reservation' }, { $ref: '#/components/schemas/Guest' }],
});
const recordMatch = z.object({
  integration: z.string(),
  type: entityType,
  id: z.string(),
  version: z.int(),
  changed_at: instant,
  data: canonicalRecord,
  matched: z.string().describe('Which field matched.'),
  undelivered: z.int().describe('Destinations that do not have the newest version.'),
  receivers: z.int().describe('Destinations that have a version of it, or wait for one.'),
  open_dead_letters: z.int(),
  held: z.int().describe('What the partner said and a hold keeps back.'),
});
const timeline = z.object({
  integration: z.string(),
  type: entityType,
  id: z.string(),
  version: z.int().describe('0 when it never became a record.'),
  changed_at: z.string(),
  data: canonicalRecord,
  consents: z
    .array(
      z.object({
        guest: z.int().optional().describe('Position among the guests of a reservation.'),
        value: z.boolean(),
        source: z
          .string()
          .describe('pull, single or push: the partner. destination:NAME: a destination where the guest unsubscribed.'),
        at: z.string(),
      }),
    )
    .describe(
      'Which source stated or denied marketing consent for a guest, and when. Of a profile, the first one is in force.',
    ),
  deliveries: z.array(
    z.object({
      destination: z.string(),
      ...counts('delivered_version', 'next_version', 'last_version', 'attempt'),
      due_at: instant.nullable(),
      waits_for: z.enum(stops).nullable().describe('What stops all deliveries of the brand to the destination.'),
      held_by: z.string().nullable(),
      removed: z.boolean().describe('The record has left the destination.'),
      delivered_at: instant.nullable(),
      away_since: instant.nullable().describe('The circuit of the destination is open since then.'),
      next_probe_at: instant.nullable(),
      away_said: z.string().nullable().describe('The last failed answer of the destination, without guest data.'),
    }),
  ),
  history_since: z
    .string()
    .optional()
    .describe('Present if the record is older than the kept history: since when the timeline is complete.'),
  timeline: z.array(timelineEntry).describe('Oldest first.'),
  next_cursor: z.string().nullable().describe('For older entries; null if there are none.'),
});

const arrival = z.object({
  outcome: z.enum([
    'dead_letter',
    'held',
    'waiting',
    'dropped',
    'superseded',
    'not_for_this_sync',
    'unlisted',
    'erased',
  ] as const satisfies readonly ArrivalsFound['items'][number]['outcome'][]),
  integration: z.string().describe('Empty for an erasure.'),
  type: z.string(),
  id: z.string().nullable(),
  at: instant,
  reason: z.string().nullable().describe('Why, without guest data.'),
  times: z.int(),
  dead_letter_id: z.string().nullable(),
  run_id: z.string().nullable(),
});

const arrivalsRoute = ({ runtime }: Node) =>
  viewer('GET /arrivals', {
    id: 'arrivals.search',
    summary:
      'What arrived and did not become a record: refused, dropped by a rule, held, waiting, not for a sync, erased',
    description:
      'By id, or by any text of the payload: confirmation number, name, e-mail address, phone number. Payloads are searched while they are kept.',
    scope: 'any',
    payload: true,
    query: z.strictObject({ q: z.string().trim().min(2).max(longestId), integration: z.string().optional() }),
    response: z.object({
      items: z.array(arrival),
      since: instant.nullable().describe('Since when the history is complete; null for since the first record.'),
      refused: z.int().describe('Webhooks refused in the last day: nothing of their content is kept.'),
    }),
    handle: async ({ query: { q }, within, caller }) => {
      const withErasures = caller.role === 'admin' && caller.integrations === undefined;
      return ok(
        await findArrivals(runtime, {
          text: q,
          within,
          withErasures,
        }),
      );
    },
  });

/** The same two routes for reservations and for guests. */
const recordRoutes = (type: EntityType, { runtime }: Node): Route[] => [
  viewer(`GET /${type}s`, {
    id: `${type}s.search`,
    summary:
      type === 'reservation'
        ? 'Search by id, confirmation number, e-mail, phone or name; without q, the latest changes'
        : 'Search profiles by guest id, e-mail, phone or name; without q, the latest changes',
    scope: 'any',
    payload: true,
    query: z.strictObject({
      ...pageQuery,
      q: z.string().max(longestId).optional(),
      integration: z.string().optional(),
      ...(type === 'reservation' ? { status: z.enum(statuses).optional() } : {}),
    }),
    response: pageOf(recordMatch),
    handle: async ({ query, within }) => {
      const { q, limit, status } = query as typeof query & { status?: string };
      const [changedAt, id = '', from = ''] = decodeCursor(query.cursor, 'time', 'text', 'text');
      const rows = await findRecords(runtime, {
        type,
        text: q,
        integrations: within,
        status,
        before: changedAt === undefined ? undefined : { changedAt, id, integration: from },
        limit: limit + 1,
      });
      const page = paged(rows, limit, (row) => [row.changed_at.toISOString(), row.id, row.integration]);
      // A text search returns one page; for more results, narrow the search.
      return ok(q === undefined || q.trim() === '' ? page : { ...page, next_cursor: null });
    },
  }),
  viewer(`GET /integrations/{integration}/${type}s/{id}`, {
    id: `${type}s.timeline`,
    summary: `The timeline of one ${type}: what was received, what changed, and every delivery attempt`,
    payload: true,
    query: z.strictObject({
      cursor: pageQuery.cursor.describe('`next_cursor` of the newer entries.'),
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .max(1000)
        .default(500)
        .describe('About how many entries, the newest first.'),
    }),
    response: timeline,
    handle: async ({ params, query }) => {
      const [upTo] = decodeCursor(query.cursor, 'time');
      const history = await timelineOf(runtime.pool, params.integration, type, params.id, { limit: query.limit, upTo });
      if (history === undefined) return notFound(`${type} ${params.id} in ${params.integration}`);
      const { earlier, ...story } = history;
      const stop = await waitsFor(runtime);
      const deliveries = story.deliveries.map((one) => ({
        ...one,
        waits_for: stop(params.integration, one.destination),
      }));
      return ok({ ...story, deliveries, next_cursor: earlier === undefined ? null : encodeCursor([earlier]) });
    },
  }),
];

/** With one for what became neither. */
export const reservationRoutes = (node: Node): Route[] => [...recordRoutes('reservation', node), arrivalsRoute(node)];
export const guestRoutes = (node: Node): Route[] => recordRoutes('guest', node);
