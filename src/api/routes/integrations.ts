import { z } from 'zod';
import type { Spark } from '../../store/operate/activity.ts';
import type { BreakerNow, IntegrationNow, LaneNow, ScheduleNow } from '../../store/operate/overview.ts';
import type { DriftRow } from '../../store/records/drift.ts';
import { type SyncType, syncTypes } from '../../terms.ts';
import { integrationStates, stateOf } from '../integration-state.ts';
import { instant, integrationParam, notFound, ok, type Route, route } from '../route.ts';

/** An integration as defined by its documents. */
export interface IntegrationView {
  readonly name: string;
  readonly version: number;
  readonly brand_id: string;
  readonly connector: string;
  readonly connector_version: number;
  readonly timezone: string;
  readonly country: string | null;
  readonly document_paused: boolean;
  readonly pull: { readonly syncs: Readonly<Partial<Record<SyncType, { every: string }>>> } | null;
  readonly push: { readonly enabled: boolean };
  readonly deliver: readonly string[];
}

export interface IntegrationPorts {
  readonly views: () => readonly IntegrationView[];
  readonly now: (names: readonly string[]) => Promise<readonly IntegrationNow[]>;
  readonly lanes: (names: readonly string[]) => Promise<readonly LaneNow[]>;
  readonly schedules: (names: readonly string[]) => Promise<readonly ScheduleNow[]>;
  /** The APIs with an open breaker, each with the integrations that pull from it. */
  readonly breakers: () => Promise<readonly (BreakerNow & { readonly integrations: readonly string[] })[]>;
  readonly sparks: (names: readonly string[], sinceMs: number) => Promise<readonly Spark[]>;
  readonly drift: (integration: string) => Promise<readonly DriftRow[]>;
  readonly consent: (integration: string) => Promise<'given' | 'needed' | null>;
}

const lane = z.object({
  destination: z.string(),
  waiting: z.int(),
  held: z.int(),
  late_ms: z.int().nullable(),
});
const integrationSchema = z.object({
  name: z.string(),
  version: z.int(),
  brand_id: z.string(),
  connector: z.string(),
  connector_version: z.int(),
  timezone: z.string(),
  country: z.string().nullable(),
  state: z.enum(integrationStates),
  reasons: z.array(z.string()),
  pull: z
    .object({
      syncs: z.array(
        z.object({ sync: z.enum(syncTypes), every: z.string(), next_at: instant.nullable(), skipped: z.int() }),
      ),
    })
    .nullable(),
  push: z.object({ enabled: z.boolean(), last_event_at: instant.nullable() }),
  deliver: z.array(z.string()),
  last_run_at: instant.nullable(),
  last_run_status: z.string().nullable(),
  running: z.int(),
  open_dead_letters: z.int(),
  open_alerts: z.int(),
  lanes: z.array(lane).describe('The backlog at each destination.'),
  sparkline: z.array(z.object({ at: z.string(), changes: z.int(), events: z.int() })),
});

export function integrationRoutes(ports: IntegrationPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/integrations',
      id: 'integrations.list',
      summary: 'Every integration: its state, its backlog and its recent activity',
      tag: 'integrations',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({ hours: z.coerce.number().int().min(1).max(168).default(3) }),
      response: z.object({ items: z.array(integrationSchema) }),
      handle: async ({ within, query }) => {
        const views = ports.views().filter(({ name }) => within === undefined || within.includes(name));
        return ok({ items: await describe(ports, views, query.hours) });
      },
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}',
      id: 'integrations.get',
      summary: 'One integration',
      tag: 'integrations',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      query: z.strictObject({ hours: z.coerce.number().int().min(1).max(168).default(24) }),
      response: integrationSchema.extend({
        drift: z
          .array(
            z.object({ field: z.string(), value: z.string(), times: z.int(), first_at: instant, last_at: instant }),
          )
          .describe('Partner values that are missing from the value maps.'),
        consent: z
          .enum(['given', 'needed'])
          .nullable()
          .describe('Whether the brand has authorized our access; null when no authorization is needed.'),
      }),
      handle: async ({ params, query }) => {
        const views = ports.views().filter(({ name }) => name === params.integration);
        const [found] = await describe(ports, views, query.hours);
        if (found === undefined) return notFound(`integration ${params.integration}`);
        const [drift, consent] = await Promise.all([
          ports.drift(params.integration),
          ports.consent(params.integration),
        ]);
        return ok({ ...found, drift, consent });
      },
    }),
  ];
}

async function describe(ports: IntegrationPorts, views: readonly IntegrationView[], hours: number) {
  const names = views.map(({ name }) => name);
  const [now, lanes, schedules, breakers, sparks] = await Promise.all([
    ports.now(names),
    ports.lanes(names),
    ports.schedules(names),
    ports.breakers(),
    ports.sparks(names, hours * 3_600_000),
  ]);
  return views.map(({ document_paused, pull, push, ...view }) => {
    const mine = now.find(({ integration }) => integration === view.name);
    const myLanes = lanes.filter(({ integration }) => integration === view.name);
    const breaker = breakers.find(({ integrations }) => integrations.includes(view.name));
    return {
      ...view,
      ...stateOf(mine, document_paused, myLanes, breaker),
      pull: pull && {
        syncs: Object.entries(pull.syncs).map(([sync, { every }]) => {
          const schedule = schedules.find((one) => one.integration === view.name && one.sync === sync);
          return { sync, every, next_at: schedule?.next_at ?? null, skipped: schedule?.skipped ?? 0 };
        }),
      },
      push: { enabled: push.enabled, last_event_at: mine?.last_event_at ?? null },
      last_run_at: mine?.last_run_at ?? null,
      last_run_status: mine?.last_run_status ?? null,
      running: mine?.running ?? 0,
      open_dead_letters: mine?.open_dead_letters ?? 0,
      open_alerts: mine?.open_alerts ?? 0,
      lanes: myLanes.map(({ integration: _, ...rest }) => rest),
      sparkline: sparks.find(({ integration }) => integration === view.name)?.points ?? [],
    };
  });
}
