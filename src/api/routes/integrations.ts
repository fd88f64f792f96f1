import { z } from 'zod';
import type { BrandHealth } from '../../operations/health.ts';
import type { Spark } from '../../store/operate/activity.ts';
import type { ScheduleNow } from '../../store/operate/overview.ts';
import type { DriftRow } from '../../store/records/drift.ts';
import { type SyncType, syncTypes } from '../../terms.ts';
import type { Action, Check, HealthState } from '../../watch/health.ts';
import { namePageQuery, pagedByName, pageOf } from '../paging.ts';
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
  readonly pull: { readonly syncs: Readonly<Partial<Record<SyncType, { every: string }>>> } | null;
  /** The integration that also polls for this brand. */
  readonly pulled_by: string | null;
  readonly push: { readonly enabled: boolean };
  readonly deliver: readonly string[];
}

export interface IntegrationPorts {
  readonly views: () => readonly IntegrationView[];
  /** Computed from the tables at each call. */
  readonly health: (names: readonly string[]) => Promise<readonly BrandHealth[]>;
  readonly schedules: (names: readonly string[]) => Promise<readonly ScheduleNow[]>;
  readonly sparks: (names: readonly string[], sinceMs: number) => Promise<readonly Spark[]>;
  readonly drift: (integration: string) => Promise<readonly DriftRow[]>;
  readonly consent: (integration: string) => Promise<'given' | 'needed' | null>;
}

export const healthStates = [
  'healthy',
  'new',
  'paused',
  'attention',
  'failing',
  'auth_failed',
] as const satisfies readonly HealthState[];
const checks = [
  'data',
  'credentials',
  'circuit',
  'runs',
  'events',
  'deliveries',
  'backlog',
  'dead_letters',
  'alerts',
] as const satisfies readonly Check[];
const actions = ['resume', 'test_and_resume', 'try_now', 'try_destination'] as const satisfies readonly Action[];
export const healthSchema = {
  state: z.enum(healthStates).describe('The worst state among the findings.'),
  reasons: z.array(z.string()).describe('The messages of the findings.'),
  findings: z.array(
    z.object({
      check: z.enum(checks),
      state: z.enum(healthStates),
      message: z.string(),
      action: z.enum(actions).optional().describe('What can be done at once about what waits.'),
      destination: z.string().optional().describe('The destination of the action.'),
    }),
  ),
};

export const backlogSchema = {
  waiting: z.int(),
  retrying: z.int().describe('Waiting after a failed attempt.'),
  held: z.int().describe('Held back by dead letters.'),
  late_ms: z.int().nullable().describe('How long the oldest due delivery has been due.'),
  failing: z.boolean().describe('Several deliveries are being retried and nothing was accepted since.'),
  last_failure: z.string().nullable().describe('The answer to a failed attempt, while something is being retried.'),
};
const lane = z.object({ destination: z.string(), ...backlogSchema });
const integrationSchema = z.object({
  name: z.string(),
  version: z.int(),
  brand_id: z.string(),
  connector: z.string(),
  connector_version: z.int(),
  timezone: z.string(),
  country: z.string().nullable(),
  ...healthSchema,
  paused: z
    .boolean()
    .describe('Scheduled pulls are paused: by the document, by a person or after refused credentials.'),
  paused_in_document: z.boolean().describe('Paused by the document: to resume, change the document.'),
  pulled_by: z.string().nullable().describe('The integration that also polls for this brand.'),
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
      summary: 'Integrations by name: their state, their backlog and their recent activity',
      tag: 'integrations',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        ...namePageQuery,
        q: namePageQuery.q.describe('Only integrations whose name or brand id contains this text, in any letter case.'),
        connector: z.string().max(100).optional().describe('Only integrations of this connector.'),
        hours: z.coerce.number().int().min(1).max(168).default(3),
      }),
      response: pageOf(integrationSchema),
      handle: async ({ within, query }) => {
        const seen = within && new Set<string>(within);
        const views = ports
          .views()
          .filter(({ name }) => seen === undefined || seen.has(name))
          .filter(({ connector }) => query.connector === undefined || connector === query.connector);
        const { items, next_cursor } = pagedByName(views, query, ({ name, brand_id }) => `${name} ${brand_id}`);
        return ok({ items: await describe(ports, items, query.hours), next_cursor });
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
  const [health, schedules, sparks] = await Promise.all([
    ports.health(names),
    ports.schedules(names),
    ports.sparks(names, hours * 3_600_000),
  ]);
  const healthBy = new Map(health.map((one) => [one.integration, one]));
  const schedulesBy = new Map(schedules.map((one) => [`${one.integration} ${one.sync}`, one]));
  const sparksBy = new Map(sparks.map((one) => [one.integration, one]));
  return views.map(({ pull, push, ...view }) => {
    const mine = healthBy.get(view.name);
    const now = mine?.now;
    return {
      ...view,
      ...healthAnswer(mine),
      paused: mine?.paused ?? false,
      paused_in_document: mine?.pausedInDocument ?? false,
      pull: pull && {
        syncs: Object.entries(pull.syncs).map(([sync, { every }]) => {
          const schedule = schedulesBy.get(`${view.name} ${sync}`);
          return { sync, every, next_at: schedule?.next_at ?? null, skipped: schedule?.skipped ?? 0 };
        }),
      },
      push: { enabled: push.enabled, last_event_at: now?.last_event_at ?? null },
      last_run_at: now?.last_run_at ?? null,
      last_run_status: now?.last_run_status ?? null,
      running: now?.running ?? 0,
      open_dead_letters: now?.open_dead_letters ?? 0,
      open_alerts: mine?.openAlerts ?? 0,
      lanes: (mine?.lanes ?? []).map(({ integration: _, ...rest }) => rest),
      sparkline: sparksBy.get(view.name)?.points ?? [],
    };
  });
}

export const healthAnswer = (health: BrandHealth | undefined) => ({
  state: health?.state ?? 'new',
  reasons: health?.findings.map(({ message }) => message) ?? [],
  findings: health?.findings ?? [],
});
