import { z } from 'zod';
import type { DeliveryRow, DestinationNow } from '../../store/outbox/delivery-list.ts';
import type { judgeDestination } from '../../watch/health.ts';
import { instant, notFound, ok, type Route, route } from '../route.ts';
import { backlogSchema, healthStates, type IntegrationPorts } from './integrations.ts';

export interface DestinationPorts {
  readonly views: () => readonly {
    readonly name: string;
    readonly type: string;
    readonly version: number;
    readonly receives: readonly string[];
    readonly paused: boolean;
    /** The integrations that deliver to it. */
    readonly integrations: readonly string[];
  }[];
  readonly now: (names: readonly string[]) => Promise<readonly DestinationNow[]>;
  readonly health: IntegrationPorts['health'];
  readonly judge: typeof judgeDestination;
  readonly tryNow: (destination: string) => Promise<void>;
  readonly deliveries: (filter: {
    readonly destination: string | undefined;
    readonly integrations: readonly string[] | undefined;
    readonly state: 'waiting' | 'retrying' | 'held';
    readonly limit: number;
  }) => Promise<readonly DeliveryRow[]>;
}

const lane = z.object({ integration: z.string(), ...backlogSchema });

export function destinationRoutes(ports: DestinationPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/destinations',
      id: 'destinations.list',
      summary: 'Every destination: its integrations, its backlog and its last attempts',
      tag: 'destinations',
      role: 'viewer',
      scope: 'any',
      response: z.object({
        items: z.array(
          z.object({
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
              })
              .nullable()
              .describe('The destination is away: work waits, only probes are sent, and no tries are used.'),
            last_delivered_at: instant.nullable(),
            last_failed_at: instant.nullable(),
            last_failure: z.string().nullable(),
            lanes: z.array(lane),
          }),
        ),
      }),
      handle: async ({ within }) => {
        const views = ports
          .views()
          .map((view) => ({
            ...view,
            integrations: view.integrations.filter((name) => within === undefined || within.includes(name)),
          }))
          .filter(({ integrations }) => within === undefined || integrations.length > 0);
        const [now, health] = await Promise.all([
          ports.now(views.map(({ name }) => name)),
          ports.health([...new Set(views.flatMap(({ integrations }) => integrations))]),
        ]);
        const lanes = health.flatMap((one) => one.lanes);
        const items = views.map(({ integrations, ...view }) => {
          const found = now.find(({ destination }) => destination === view.name);
          const mine = lanes.filter((one) => one.destination === view.name && integrations.includes(one.integration));
          return {
            ...view,
            state: ports.judge(view.paused, mine),
            paused_until: found?.paused_until ?? null,
            circuit: found?.circuit ?? null,
            last_delivered_at: found?.last_delivered_at ?? null,
            last_failed_at: found?.last_failed_at ?? null,
            last_failure: found?.last_failure ?? null,
            lanes: mine.map(({ destination: _, ...rest }) => rest),
          };
        });
        return ok({ items });
      },
    }),
    route({
      method: 'POST',
      path: '/destinations/{destination}/try-now',
      id: 'destinations.try_now',
      summary: 'Probe a destination whose circuit is open, and retry failed deliveries without waiting',
      tag: 'destinations',
      role: 'operator',
      scope: 'any',
      params: z.strictObject({ destination: z.string().max(200) }),
      body: z.strictObject({}),
      response: z.object({ tried: z.literal(true) }),
      handle: async ({ params, within }) => {
        const { integrations } = ports.views().find(({ name }) => name === params.destination) ?? {};
        const isSeen = within === undefined || integrations?.some((name) => within.includes(name));
        if (integrations === undefined || !isSeen) return notFound(`destination ${params.destination}`);
        await ports.tryNow(params.destination);
        return ok({ tried: true });
      },
    }),
    route({
      method: 'GET',
      path: '/deliveries',
      id: 'deliveries.list',
      summary: 'Undelivered records, longest overdue first, each with the result of its last attempt',
      tag: 'destinations',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        integration: z.string().optional(),
        destination: z.string().optional(),
        state: z.enum(['waiting', 'retrying', 'held']).default('waiting'),
        limit: z.coerce.number().int().min(1).max(500).default(100),
      }),
      response: z.object({
        items: z.array(
          z.object({
            integration: z.string(),
            destination: z.string(),
            type: z.string(),
            id: z.string(),
            next_version: z.int(),
            last_version: z.int(),
            delivered_version: z.int(),
            attempt: z.int(),
            due_at: instant.nullable(),
            held_by: z.string().nullable().describe('The dead letter that holds it back.'),
            last_code: z.string().nullable(),
            last_message: z.string().nullable(),
            last_at: instant.nullable(),
          }),
        ),
      }),
      handle: async ({ query, within }) =>
        ok({
          items: await ports.deliveries({
            destination: query.destination,
            integrations: query.integration === undefined ? within : [query.integration],
            state: query.state,
            limit: query.limit,
          }),
        }),
    }),
  ];
}
