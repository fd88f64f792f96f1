import { z } from 'zod';
import { destinationsNow, listDeliveries } from '../../../core/store/outbox/delivery-list.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { stops, waitsFor } from '../../operations/facts.ts';
import { healthOf } from '../../operations/health.ts';
import { tryDestination } from '../../operations/resume.ts';
import { counts, instant } from '../../store/answers.ts';
import { comparisonSchema, listComparisons } from '../../store/comparisons.ts';
import { refusingDestinations } from '../../store/conditions.ts';
import { healthStates } from '../../watch/facts.ts';
import { destinationState } from '../../watch/health.ts';
import { itemsOf } from '../forms.ts';
import { type Node, notFound, ok, operator, type Route, viewer } from '../route.ts';
import { backlogSchema } from './integrations.ts';

const lane = z.object({ integration: z.string(), ...backlogSchema });

export function destinationRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    viewer('GET /destinations', {
      id: 'destinations.list',
      summary: 'Every destination: its integrations, its backlog and its last attempts',
      scope: 'any',
      response: itemsOf({
        name: z.string(),
        type: z.string(),
        version: z.int(),
        receives: z.array(z.string()),
        state: z.enum(healthStates),
        paused: z.boolean(),
        paused_until: instant.nullable().describe('The destination asked us to wait until then.'),
        circuit: z
          .object({
            open_since: instant,
            last_failure: z.string().describe('The last failed answer of the destination, without guest data.'),
            next_probe_at: instant,
            refused: z.boolean().describe('It refuses our credentials.'),
          })
          .nullable()
          .describe(
            'The destination is away or refuses our credentials: work waits, only probes are sent, and no tries are used.',
          ),
        refusing: z
          .object({ since: instant, records: z.int(), last_failure: z.string() })
          .nullable()
          .describe('It refuses every change; each is a dead letter.'),
        last_delivered_at: instant.nullable(),
        last_failed_at: instant.nullable(),
        last_failure: z.string().nullable(),
        lanes: z.array(lane),
      }),
      handle: async ({ within }) => {
        const views = viewsOf(runtime, within);
        const [now, refusing, health] = await Promise.all([
          destinationsNow(
            pool,
            views.map(({ name }) => name),
          ),
          refusingDestinations(
            pool,
            views.map(({ name }) => name),
          ),
          healthOf(runtime, [...new Set(views.flatMap(({ integrations }) => integrations))]),
        ]);
        const items = views.map(({ integrations, ...view }) => {
          const status = now.find(({ destination }) => destination === view.name);
          const brands = health.filter(({ integration }) => integrations.includes(integration));
          const mine = brands.flatMap(({ lanes }) => lanes.filter(({ destination }) => destination === view.name));
          const held = mine.reduce((sum, lane) => sum + lane.held, 0);
          return {
            ...view,
            state: destinationState(
              view.name,
              { paused: view.paused, held, delivered: (status?.last_delivered_at ?? null) !== null },
              brands,
            ),
            paused_until: status?.paused_until ?? null,
            circuit: status?.circuit ?? null,
            refusing: refusing.find(({ name }) => name === view.name) ?? null,
            last_delivered_at: status?.last_delivered_at ?? null,
            last_failed_at: status?.last_failed_at ?? null,
            last_failure: status?.last_failure ?? null,
            lanes: mine.map((one) => lane.parse(one)),
          };
        });
        return ok({ items });
      },
    }),
    operator('POST /destinations/{destination}/try-now', {
      id: 'destinations.try_now',
      summary:
        'Probe a destination whose circuit is open, retry failed deliveries, and send again what one that refuses everything refused',
      scope: 'any',
      response: z.object({ tried: z.literal(true), replayed: z.int().describe('Dead letters that are sent again.') }),
      handle: async ({ params: { destination }, within, caller }) => {
        const isSeen = viewsOf(runtime, within).some(({ name }) => name === destination);
        if (!isSeen) return notFound(`destination ${destination}`);
        const replayed = await tryDestination(runtime, destination, { within, by: caller.name });
        return ok({ tried: true, replayed });
      },
    }),
    viewer('GET /comparisons', {
      id: 'comparisons.list',
      summary: 'The last audit of each destination and brand: what it holds, compared with what would be sent to it',
      scope: 'any',
      query: z.strictObject({ integration: z.string().optional(), destination: z.string().optional() }),
      response: z.object({ items: z.array(comparisonSchema) }),
      handle: async ({ query: { destination }, within }) => {
        const items = await listComparisons(pool, { destination, within, withDifferences: true });
        return ok({ items });
      },
    }),
    viewer('GET /deliveries', {
      id: 'deliveries.list',
      summary: 'Undelivered records, longest overdue first, each with the result of its last attempt',
      scope: 'any',
      query: z.strictObject({
        integration: z.string().optional(),
        destination: z.string().optional(),
        state: z.enum(['waiting', 'retrying', 'held']).default('waiting'),
        limit: z.coerce.number().int().min(1).max(500).default(100),
      }),
      response: itemsOf({
        integration: z.string(),
        destination: z.string(),
        type: z.string(),
        id: z.string(),
        ...counts('next_version', 'last_version', 'delivered_version', 'attempt'),
        due_at: instant.nullable(),
        waits_for: z.enum(stops).nullable(),
        held_by: z.string().nullable().describe('The dead letter that holds it back.'),
        last_code: z.string().nullable(),
        last_message: z.string().nullable(),
        last_at: instant.nullable(),
      }),
      handle: async ({ query: { integration: _, ...filter }, within }) => {
        const items = await listDeliveries(pool, { ...filter, integrations: within });
        const stop = await waitsFor(runtime);
        return ok({ items: items.map((one) => ({ ...one, waits_for: stop(one.integration, one.destination) })) });
      },
    }),
  ];
}

/** The destinations that the caller may see, with the integrations that deliver to them. */
function viewsOf(runtime: Runtime, within: readonly string[] | undefined) {
  const { destinations, integrations } = runtime.active();
  const seen = [...integrations.values()].filter(
    ({ integration: name }) => within === undefined || within.includes(name),
  );
  return [...destinations.values()]
    .map(({ name, version, body: { type, receives, paused } }) => {
      const feeding = seen.filter(({ body }) => body.deliver.includes(name)).map((one): string => one.integration);
      return { name, version, type, receives, paused, integrations: feeding };
    })
    .filter((view) => within === undefined || view.integrations.length > 0);
}
