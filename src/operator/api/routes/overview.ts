import { z } from 'zod';
import { histogramOf, latencyBoundsMs } from '../../../kit/histogram.ts';
import { concernOf } from '../../operations/alert-view.ts';
import { type BrandHealth, healthOf } from '../../operations/health.ts';
import { namesIn, openCauses } from '../../operations/incidents.ts';
import { countOpenAlerts } from '../../store/alerts.ts';
import { counts, instant } from '../../store/answers.ts';
import { operatorActions } from '../../store/incidents.ts';
import { liveNodes } from '../../store/nodes.ts';
import { waitingAges } from '../../store/overview.ts';
import { readActivity, readBrandActivity, readDays, readFlow } from '../../store/read-activity.ts';
import { leastLateMs } from '../../watch/conditions/judged.ts';
import { healthStates } from '../../watch/facts.ts';
import { operatorAction } from '../forms.ts';
import { type Api, ok, operator, type Route, viewer } from '../route.ts';
import { healthAnswer, healthSchema, integrationsWithin, sum } from './integrations.ts';

const point = z.object({
  at: instant,
  ...counts('events', 'pulls', 'changes', 'delivered', 'retried', 'dead'),
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
const cause = z.object({
  incident_id: z.string(),
  cause: z.string().describe('What its alerts have in common, such as destination:crm.'),
  kind: z.string().describe('The kind of the alert that the message is of.'),
  title: z.string(),
  message: z.string(),
  severity: z.enum(['warning', 'critical']),
  since: instant,
  acknowledged_by: z.string().nullable(),
  brands: z.int().describe('How many brands it concerns.'),
  integrations: z.array(z.string()).describe('Their names, unless many share one alert.'),
  waiting: z
    .int()
    .describe('Changes of these brands that wait for delivery, for a destination those that wait for it.'),
  dead_letters: z.int().describe('Open dead letters of these brands.'),
  bookings: z.int().describe('Stored bookings of these brands.'),
  everything: z.boolean().describe('It concerns the whole service: the others may be its effects.'),
});
const lane = z.object({
  destination: z.string(),
  waiting: z.int(),
  preview: z.boolean(),
  held: z.int(),
  failing: z.boolean(),
  moves: z.boolean().describe('The destination accepted something in the last minute.'),
});
const periods = { '15m': 15 * 60_000, '1h': 3_600_000, '24h': 86_400_000, '7d': 7 * 86_400_000 };

export function overviewRoutes({ runtime, live }: Api): Route[] {
  const { pool } = runtime;
  return [
    viewer('GET /overview', {
      id: 'overview.get',
      summary: 'Rates, latency, backlog and health, for charts',
      description:
        'Series have steps of ten seconds for periods up to an hour, otherwise of an hour; empty steps are absent.',
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
            'What happened until then is counted. An absent step before it was empty; one that it is in is not complete yet.',
          ),
        series: z.array(point),
        totals: z.object({
          integrations: z.int(),
          bookings: z.int().describe('Stored now, of all brands, as they were last counted.'),
          waiting: z.int().describe('Events that wait to be processed, and changes that wait for delivery.'),
          ...counts('held', 'open_dead_letters', 'open_alerts', 'running'),
        }),
        checked_at: instant.describe('When the health below was checked.'),
        states: z.record(z.enum(healthStates), z.int()),
        causes: z
          .array(cause)
          .describe(
            'What is wrong, one entry for each cause: first what concerns everything, then critical ones, those of most bookings first.',
          ),
        health: z.array(
          z.object({
            integration: z.string(),
            ...healthSchema,
            connector: z.string(),
            events: z.int().describe('Events accepted in the period.'),
            changes: z.int(),
            moves: z.boolean().describe('Something of it changed or arrived in the last minute.'),
            lanes: z.array(lane),
          }),
        ),
        latency_waiting: z
          .array(z.int())
          .describe(
            'By the age of what is not delivered yet: events and changes, in the steps of the series’ latency.',
          ),
        late_after_ms: z.int().describe('A delivery that takes longer is late.'),
        nodes: z.array(z.object({ node: z.string(), role: z.string(), url: z.string(), started_at: instant })),
        broken: z.array(z.object({ document: z.string(), message: z.string() })),
      }),
      handle: async ({ query, within, caller }) => {
        const integrations = integrationsWithin(runtime, within);
        const names = integrations.map(({ integration: name }) => name);
        const previews = integrations.flatMap(({ integration, body }) =>
          (body.preview ?? []).map((destination) => ({ integration, destination })),
        );
        const periodMs = periods[query.period];
        const step = periodMs <= periods['1h'] ? '10s' : '1h';
        const [activity, byBrand, causes, health, nodes, open_alerts, ages] = await Promise.all([
          readActivity(pool, step, periodMs, within),
          readBrandActivity(pool, step, periodMs, within),
          openCauses(runtime, within),
          healthOf(runtime, names),
          liveNodes(pool),
          countOpenAlerts(pool, concernOf(runtime, within)),
          waitingAges(pool, names, previews),
        ]);
        const now = health.map((one) => one.now);
        const lanes = health.flatMap((one) => one.lanes);
        const waiting = sum([...health.map(({ pending }) => pending), ...lanes.map((lane) => lane.waiting)]);
        const inPreview = sum(lanes.map((lane) => (lane.preview ? lane.waiting : 0)));
        const activityOf = new Map(byBrand.map((one) => [one.integration, one]));
        const connectorOf = new Map<string, string>(
          integrations.map(({ integration: name, connector }) => [name, connector.name]),
        );
        const states = Object.fromEntries(
          healthStates.map((state) => [state, health.filter((one) => one.state === state).length]),
        );
        return ok({
          now: new Date(),
          step_ms: step === '10s' ? 10_000 : 3_600_000,
          counted_until: activity.countedUntil,
          series: activity.points,
          totals: {
            integrations: names.length,
            bookings: sum(now.map(({ bookings }) => bookings ?? 0)),
            waiting,
            held: sum(lanes.map(({ held }) => held)),
            open_dead_letters: sum(now.map(({ open_dead_letters }) => open_dead_letters)),
            open_alerts,
            running: sum(now.map(({ running }) => running)),
          },
          checked_at: new Date(),
          states,
          causes: causes.map((one) => ({ ...one, ...effectOn(one, health) })).toSorted(byReach),
          health: health.map((one) => {
            const { events = 0, changes = 0, moves = false } = activityOf.get(one.integration) ?? {};
            return {
              integration: one.integration,
              ...healthAnswer(one),
              connector: connectorOf.get(one.integration) ?? '',
              events,
              changes,
              moves,
              lanes: one.lanes.map((each) => lane.parse(each)),
            };
          }),
          latency_waiting: histogramOf(ages, Math.max(ages.length, waiting - inPreview)),
          late_after_ms: leastLateMs,
          nodes: nodes.map(({ node, role, url, started_at }) => ({ node, role, url, started_at })),
          // A caller limited to some integrations must not learn the names of others.
          broken: caller.integrations === undefined ? runtime.active().broken : [],
        });
      },
    }),
    viewer('GET /live', {
      id: 'live',
      summary: 'Live events, as server-sent events',
      description:
        'activity: counts of the last ten seconds of each integration; run: progress of a run; change: a new version of a record; event: an accepted webhook; alert: raised, acknowledged or resolved. A comment every 15 seconds keeps the connection open.',
      scope: 'any',
      media: 'text/event-stream',
      query: z.strictObject({ integration: z.string().optional() }),
      response: z.object({ at: instant }).describe('The data of an event.'),
      handle: ({ within }) => {
        const allowed = within && new Set(within);
        const isVisible = (integration: string): boolean => allowed === undefined || allowed.has(integration);
        let stop: (() => void) | undefined;
        return {
          kind: 'stream',
          open: (send) => {
            stop = live.follow(({ event, integration, data, shared }) => {
              if (isVisible(integration)) send(event, data);
              else if (shared?.brands.some(isVisible)) send(event, shared.data);
            });
            return stop !== undefined;
          },
          close: () => stop?.(),
        };
      },
    }),
    viewer('GET /overview/days', {
      id: 'overview.days',
      summary: 'By brand and day: how complete pulls and events were',
      scope: 'any',
      query: z.strictObject({
        q: z.string().max(100).default('').describe('Only brands whose name contains this text.'),
        days: z.coerce.number().int().min(1).max(60).default(28),
      }),
      response: z.object({
        brands: z.int().describe('How many there are; the first 50 are listed.'),
        items: z.array(
          z.object({
            integration: z.string(),
            pulls: z.boolean(),
            push: z.boolean(),
            days: z.array(
              z.object({
                day: z.string().describe('In UTC.'),
                hours: z.int().describe('Hours of the day since the first activity of the brand.'),
                pulled_hours: z.int().describe('Those in which a run found records.'),
                events: z.int(),
                failed_runs: z.int().describe('Failed or incomplete.'),
                refused_events: z.int(),
                dead_letters: z.int(),
                unlisted: z
                  .int()
                  .describe('Bookings that left the partner’s list on this day and are not listed again.'),
              }),
            ),
          }),
        ),
      }),
      handle: async ({ query, within }) => {
        const named = integrationsWithin(runtime, within).filter(({ integration: name }) => name.includes(query.q));
        const listed = named.slice(0, 50);
        const days = Map.groupBy(
          await readDays(
            pool,
            listed.map(({ integration: name }) => name),
            query.days,
          ),
          ({ integration }) => integration,
        );
        return ok({
          brands: named.length,
          items: listed.map(({ integration: name, body }) => ({
            integration: name,
            pulls: body.pull !== undefined || body.pulled_by !== undefined,
            push: body.push.enabled,
            days: (days.get(name) ?? []).map(({ integration: _, ...day }) => day),
          })),
        });
      },
    }),
    viewer('GET /overview/flow', {
      id: 'overview.flow',
      summary: 'How much flowed between two times, by whole hours',
      scope: 'any',
      query: z.strictObject({ from: z.iso.datetime(), to: z.iso.datetime() }),
      response: z.object({
        ...counts('events', 'changes', 'delivered'),
        dead: z.int().describe('Deliveries that failed for good.'),
        ...counts('complete_runs', 'failed_runs', 'refused_events'),
      }),
      handle: async ({ query, within }) => ok(await readFlow(pool, new Date(query.from), new Date(query.to), within)),
    }),
    operator('GET /overview/marks', {
      id: 'overview.marks',
      summary: 'What operators changed, to compare with the curves: documents, pauses, replays',
      scope: 'any',
      query: z.strictObject({
        period: z.enum(['15m', '1h', '24h', '7d']).default('24h'),
        from: z.iso.datetime().optional().describe('Instead of the period.'),
        to: z.iso.datetime().optional(),
      }),
      response: z.object({
        items: z.array(operatorAction),
      }),
      handle: async ({ query, within }) => {
        const actions = await operatorActions(pool, {
          integrations: within,
          isLimited: within !== undefined,
          from: query.from ? new Date(query.from) : new Date(Date.now() - periods[query.period]),
          to: query.to ? new Date(query.to) : null,
          limit: 200,
        });
        return ok({ items: actions.map(({ target, ...one }) => ({ ...one, what: namesIn(target) })) });
      },
    }),
  ];
}

type OpenCause = Awaited<ReturnType<typeof openCauses>>[number];

/** What waits and what failed because of a cause, as far as the health of its brands shows it. */
function effectOn(cause: OpenCause, health: readonly BrandHealth[]) {
  const destination = /^destination:(.*)$/s.exec(cause.cause)?.[1];
  // A cause of many brands does not list them.
  const isShared = cause.cause.startsWith('brands:');
  const mine = health.filter(({ integration, findings }) =>
    isShared ? findings.some(({ kind }) => kind === cause.kind) : cause.integrations.includes(integration),
  );
  const lanes = mine
    .flatMap((one) => one.lanes)
    .filter((lane) => destination === undefined || lane.destination === destination);
  return {
    waiting: sum(lanes.map(({ waiting }) => waiting)),
    dead_letters: sum(mine.map(({ now }) => now.open_dead_letters)),
    bookings: sum(mine.map(({ now }) => now.bookings ?? 0)),
    everything: cause.kind === 'role_missing' || cause.kind === 'disk_full',
  };
}

type Reach = OpenCause & ReturnType<typeof effectOn>;

const byReach = (a: Reach, b: Reach): number =>
  Number(b.everything) - Number(a.everything) ||
  a.severity.localeCompare(b.severity) ||
  b.bookings - a.bookings ||
  a.since.getTime() - b.since.getTime();
