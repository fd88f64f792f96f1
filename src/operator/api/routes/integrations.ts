import { z } from 'zod';
import type { Brand } from '../../../core/brand/brand.ts';
import { listDrift } from '../../../core/store/records/drift.ts';
import { holdsTokens } from '../../../core/store/runs/partner-tokens.ts';
import type { Runtime } from '../../../runtime/runtime.ts';
import { syncTypes } from '../../../terms.ts';
import { type BrandHealth, healthOf } from '../../operations/health.ts';
import { counts, instant } from '../../store/answers.ts';
import { schedulesNow } from '../../store/overview.ts';
import { readSparks } from '../../store/read-activity.ts';
import { actions, healthStates } from '../../watch/facts.ts';
import { itemsOf } from '../forms.ts';
import { namePageQuery, pagedByName, pageOf } from '../paging.ts';
import { type Node, notFound, ok, type Route, viewer } from '../route.ts';

export const healthSchema = {
  state: z.enum(healthStates).describe('The worst state among the findings.'),
  reasons: z.array(z.string()).describe('The messages of the findings.'),
  rests_on: z
    .string()
    .nullable()
    .describe(
      'What the state rests on: how many bookings, and how many of them have an e-mail address. Null: on nothing yet.',
    ),
  bookings: z.int().nullable().describe('Stored now. Null if they were never counted.'),
  last_delivered_at: instant.nullable().describe('Within ten seconds; within an hour if it is long ago.'),
  findings: z.array(
    z.object({
      kind: z.string().describe('As of an alert; some conditions raise none.'),
      subject: z.string().describe('The part of the brand, such as a sync or a destination.'),
      cause: z.string().describe('What it has in common with others, as in causes and incidents: destination:crm.'),
      state: z.enum(healthStates),
      message: z.string(),
      action: z.enum(actions).optional().describe('What can be done at once about what waits.'),
    }),
  ),
};

export const backlogSchema = {
  waiting: z.int(),
  preview: z.boolean().describe('Nothing is sent until it is released.'),
  retrying: z.int().describe('Waiting after a failed attempt.'),
  held: z.int().describe('Blocked by dead letters.'),
  late_ms: z.int().nullable().describe('How long the oldest due delivery has been due.'),
  failing: z.boolean().describe('Several deliveries are being retried and nothing was accepted since.'),
  last_failure: z.string().nullable().describe('The answer to a failed attempt, while something is being retried.'),
};
const lane = z.object({ destination: z.string(), ...backlogSchema });
const integrationSchema = z.object({
  name: z.string(),
  version: z.int(),
  group: z.string().nullable().describe('The group that the console shows the brand in.'),
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
  stream: z
    .object({
      connected_since: instant.nullable().describe('Null while no node reads it.'),
      last_message_at: instant.nullable().describe('Also of messages that were refused, and of other properties.'),
      problem: z.string().nullable().describe('What is wrong with it, and what to do.'),
    })
    .nullable()
    .describe('The partner’s stream that brings the brand’s events.'),
  deliver: z.array(z.string()),
  waits_until: instant.nullable().describe('The partner asked us to wait (429): no run begins before.'),
  last_run_at: instant.nullable(),
  last_run_status: z.string().nullable(),
  ...counts('running', 'open_dead_letters', 'open_alerts'),
  lanes: z.array(lane).describe('The backlog at each destination.'),
  sparkline: z.array(z.object({ at: z.string(), changes: z.int(), events: z.int() })),
});

export function integrationRoutes({ runtime }: Node): Route[] {
  return [
    viewer('GET /integrations', {
      id: 'integrations.list',
      summary: 'Integrations by name: their state, their backlog and their recent activity',
      scope: 'any',
      query: z.strictObject({
        ...namePageQuery,
        q: namePageQuery.q.describe('Only integrations whose name or brand id contains this text, in any letter case.'),
        connector: z.string().max(100).optional().describe('Only integrations of this connector.'),
        group: z.string().max(100).optional().describe('Only integrations of this group; empty for those of none.'),
        hours: z.coerce.number().int().min(1).max(168).default(3),
      }),
      response: pageOf(integrationSchema),
      handle: async ({ within, query }) => {
        const wanted = integrationsWithin(runtime, within).filter(
          ({ connector, body }) =>
            (query.connector === undefined || connector.name === query.connector) &&
            (query.group === undefined || (body.group ?? '') === query.group),
        );
        const { items, next_cursor } = pagedByName(
          wanted,
          (one) => one.integration,
          query,
          ({ integration, body }) => `${integration} ${body.brand_id}`,
        );
        return ok({ items: await describe(runtime, items, query.hours), next_cursor });
      },
    }),
    viewer('GET /groups', {
      id: 'groups.list',
      summary: 'Groups of integrations: how many brands each has, and their states',
      scope: 'any',
      response: itemsOf({
        group: z.string(),
        brands: z.int(),
        states: z.partialRecord(z.enum(healthStates), z.int()).describe('How many brands are in each state.'),
        waiting: z.int(),
        open_dead_letters: z.int(),
      }),
      handle: async ({ within }) => {
        const all = integrationsWithin(runtime, within);
        const members = new Map<string, string>(
          all.flatMap(({ integration, body }) => (body.group === undefined ? [] : [[integration, body.group]])),
        );
        const health = await healthOf(runtime, [...members.keys()]);
        const groups = Map.groupBy(health, ({ integration }) => members.get(integration) ?? '');
        const items = [...groups]
          .sort(([one], [other]) => (one < other ? -1 : 1))
          .map(([group, brands]) => ({
            group,
            brands: brands.length,
            states: Object.fromEntries(
              Map.groupBy(brands, ({ state }) => state)
                .entries()
                .map(([state, its]) => [state, its.length]),
            ),
            waiting: sum(brands.flatMap(({ lanes }) => lanes.map(({ waiting }) => waiting))),
            open_dead_letters: sum(brands.map(({ now }) => now.open_dead_letters)),
          }));
        return ok({ items });
      },
    }),
    viewer('GET /integrations/{integration}', {
      id: 'integrations.get',
      summary: 'One integration',
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
        const active = runtime.active().integrations.get(params.integration);
        if (active === undefined) return notFound(`integration ${params.integration}`);
        const [view] = await describe(runtime, [active], query.hours);
        const [drift, consent] = await Promise.all([
          listDrift(runtime.pool, params.integration),
          consentOf(runtime, active),
        ]);
        return ok({ ...view, drift, consent });
      },
    }),
  ];
}

export const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0);

/** Those that the caller may see. */
export function integrationsWithin(runtime: Runtime, within: readonly string[] | undefined): Brand[] {
  const seen = within && new Set(within);
  return [...runtime.active().integrations.values()].filter(
    ({ integration: name }) => seen === undefined || seen.has(name),
  );
}

/** Whether the brand has authorized our access; null where that is not needed. */
async function consentOf({ pool }: Runtime, { integration: name, body }: Brand): Promise<'given' | 'needed' | null> {
  const auth = body.pull?.auth;
  if (auth?.type !== 'oauth2' || auth.grant !== 'authorization_code') return null;
  return (await holdsTokens(pool, name)) ? 'given' : 'needed';
}

async function describe(runtime: Runtime, integrations: readonly Brand[], hours: number) {
  const names = integrations.map(({ integration: name }) => name);
  const [health, schedules, sparks] = await Promise.all([
    healthOf(runtime, names),
    schedulesNow(runtime.pool, names),
    readSparks(runtime.pool, names, hours * 3_600_000),
  ]);
  const healthBy = new Map(health.map((one) => [one.integration, one]));
  const schedulesBy = new Map(schedules.map((one) => [`${one.integration} ${one.sync}`, one]));
  const sparksBy = new Map(sparks.map((one) => [one.integration, one]));
  return integrations.map(({ integration: name, integrationVersion: version, body, connector }) => {
    const mine = healthBy.get(name);
    const now = mine?.now;
    return {
      name,
      version,
      group: body.group ?? null,
      brand_id: body.brand_id,
      connector: connector.name,
      connector_version: connector.version,
      timezone: body.timezone,
      country: body.country ?? null,
      ...healthAnswer(mine),
      paused: mine?.paused ?? false,
      paused_in_document: mine?.pausedInDocument ?? false,
      pulled_by: body.pulled_by ?? null,
      pull: body.pull
        ? {
            syncs: Object.entries(body.pull.syncs).flatMap(([sync, settings]) => {
              const { next_at = null, skipped = 0 } = schedulesBy.get(`${name} ${sync}`) ?? {};
              return settings === undefined ? [] : { sync, every: settings.every, next_at, skipped };
            }),
          }
        : null,
      push: { enabled: body.push.enabled, last_event_at: now?.last_event_at ?? null },
      stream: mine?.stream ?? null,
      deliver: body.deliver,
      waits_until: now?.retry_at ?? null,
      last_run_at: now?.last_run_at ?? null,
      last_run_status: now?.last_run_status ?? null,
      running: now?.running ?? 0,
      open_dead_letters: now?.open_dead_letters ?? 0,
      open_alerts: mine?.openAlerts ?? 0,
      lanes: (mine?.lanes ?? []).map((one) => lane.parse(one)),
      sparkline: sparksBy.get(name)?.points ?? [],
    };
  });
}

export const healthAnswer = (health: BrandHealth | undefined) => ({
  state: health?.state ?? 'new',
  reasons: health?.findings.map(({ message }) => message) ?? [],
  findings: health?.findings ?? [],
  rests_on: health?.restsOn ?? null,
  bookings: health?.now.bookings ?? null,
  last_delivered_at: health?.now.last_delivered_at ?? null,
});
