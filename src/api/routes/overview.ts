import { z } from 'zod';
import { latencyBoundsMs } from '../../kit/histogram.ts';
import type { Activity } from '../../store/operate/activity.ts';
import type { OperatorAction } from '../../store/operate/incidents.ts';
import type { NodeRow } from '../../store/operate/nodes.ts';
import { instant, ok, type Route, route } from '../route.ts';
import { healthAnswer, healthSchema, healthStates, type IntegrationPorts } from './integrations.ts';
import { operatorAction } from './operator-action.ts';

export interface OverviewPorts extends Pick<IntegrationPorts, 'views' | 'health'> {
  readonly activity: (
    step: '10s' | '1h',
    sinceMs: number,
    integrations: readonly string[] | undefined,
  ) => Promise<Activity>;
  /** What operators changed since a time, newest first. */
  readonly marks: (
    sinceMs: number,
    integrations: readonly string[] | undefined,
  ) => Promise<readonly (Omit<OperatorAction, 'target'> & { readonly what: string })[]>;
  /** How many open alerts concern these brands; all, if undefined. */
  readonly openAlerts: (integrations: readonly string[] | undefined) => Promise<number>;
  readonly nodes: () => Promise<readonly NodeRow[]>;
  /** Documents in force that do not compile. */
  readonly broken: () => readonly { readonly document: string; readonly message: string }[];
}

const point = z.object({
  at: instant,
  events: z.int(),
  pulls: z.int(),
  changes: z.int(),
  delivered: z.int(),
  retried: z.int(),
  dead: z.int(),
  latency_p50_ms: z.int().nullable(),
  latency_p95_ms: z.int().nullable(),
  latency: z
    .array(z.int())
    .describe(
      `Deliveries by the time from change to delivery: up to ${latencyBoundsMs.join(', ')} ms, and longer. Empty without deliveries.`,
    ),
  waiting: z
    .int()
    .describe(
      'Records that waited for delivery at the end of the step; in steps of an hour, the highest number in it.',
    ),
});
const periods = { '15m': 15 * 60_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 };

export function overviewRoutes(ports: OverviewPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/overview',
      id: 'overview.get',
      summary: 'Rates, latency, backlog and health, for charts',
      description:
        'Series have steps of ten seconds for periods up to an hour, otherwise of an hour; empty steps are absent.',
      tag: 'overview',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        integration: z.string().optional(),
        period: z.enum(['15m', '1h', '24h', '7d']).default('1h'),
      }),
      response: z.object({
        now: instant,
        step_ms: z.int(),
        counted_until: instant
          .nullable()
          .describe(
            'The end of the last counted step. An absent step before it was empty; later ones are not counted yet.',
          ),
        series: z.array(point),
        totals: z.object({
          integrations: z.int(),
          waiting: z.int(),
          held: z.int(),
          open_dead_letters: z.int(),
          open_alerts: z.int(),
          running: z.int(),
        }),
        checked_at: instant.describe('When the health below was checked.'),
        states: z.record(z.enum(healthStates), z.int()),
        health: z.array(z.object({ integration: z.string(), ...healthSchema })),
        problems: z.array(z.string()).describe('Problems of the service itself.'),
        nodes: z.array(z.object({ node: z.string(), role: z.string(), url: z.string(), started_at: instant })),
        broken: z.array(z.object({ document: z.string(), message: z.string() })),
      }),
      handle: async ({ query, within }) => {
        const seen = query.integration === undefined ? within : [query.integration];
        const views = ports.views().filter(({ name }) => seen === undefined || seen.includes(name));
        const names = views.map(({ name }) => name);
        const periodMs = periods[query.period];
        const step = periodMs <= periods['1h'] ? '10s' : '1h';
        const [activity, health, nodes, open_alerts] = await Promise.all([
          ports.activity(step, periodMs, seen),
          ports.health(names),
          ports.nodes(),
          ports.openAlerts(seen),
        ]);
        const now = health.map((one) => one.now);
        const lanes = health.flatMap((one) => one.lanes);
        const states = Object.fromEntries(
          healthStates.map((state) => [state, health.filter((one) => one.state === state).length]),
        );
        return ok({
          now: new Date(),
          step_ms: step === '10s' ? 10_000 : 3_600_000,
          counted_until: activity.countedUntil,
          series: activity.points,
          totals: {
            integrations: views.length,
            waiting: sum(lanes.map(({ waiting }) => waiting)),
            held: sum(lanes.map(({ held }) => held)),
            open_dead_letters: sum(now.map(({ open_dead_letters }) => open_dead_letters)),
            open_alerts,
            running: sum(now.map(({ running }) => running)),
          },
          checked_at: new Date(),
          states,
          health: health.map((one) => ({ integration: one.integration, ...healthAnswer(one) })),
          problems: nodes.some(({ role }) => role !== 'web')
            ? []
            : ['No worker node is running, so nothing is pulled, processed or delivered.'],
          nodes,
          // A caller limited to some integrations must not learn the names of others.
          broken: within === undefined ? ports.broken() : [],
        });
      },
    }),
    route({
      method: 'GET',
      path: '/overview/marks',
      id: 'overview.marks',
      summary: 'What operators changed, to compare with the curves: documents, pauses, replays, sign-ins',
      tag: 'overview',
      role: 'operator',
      scope: 'any',
      query: z.strictObject({ period: z.enum(['15m', '1h', '24h', '7d']).default('24h') }),
      response: z.object({
        items: z.array(operatorAction),
      }),
      handle: async ({ query, within }) => ok({ items: await ports.marks(Date.now() - periods[query.period], within) }),
    }),
  ];
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);
