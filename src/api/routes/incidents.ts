import { z } from 'zod';
import type { IncidentDetail } from '../../operations/incidents.ts';
import type { ListedIncident } from '../../store/operate/incidents.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { anyJson, instant, notFound, ok, problem, type Route, route } from '../route.ts';
import { alertSchema } from './alerts.ts';
import { operatorAction } from './operator-action.ts';

export interface IncidentPorts {
  readonly list: (filter: {
    readonly open: boolean;
    readonly within: readonly string[] | undefined;
    readonly before: { readonly startedAt: string; readonly id: string } | undefined;
    readonly limit: number;
  }) => Promise<readonly (ListedIncident & { readonly title: string })[]>;
  readonly read: (incidentId: string, within: readonly string[] | undefined) => Promise<IncidentDetail | undefined>;
  readonly acknowledge: (incidentId: string, by: string, within: readonly string[] | undefined) => Promise<boolean>;
}

const listed = z.object({
  incident_id: z.string(),
  cause: z.string().describe('What its alerts have in common, such as destination:crm.'),
  title: z.string(),
  severity: z.enum(['warning', 'critical']),
  message: z.string(),
  alerts: z.int(),
  integrations: z.array(z.string()),
  started_at: instant,
  ended_at: instant.nullable(),
  acknowledged_at: instant.nullable(),
  acknowledged_by: z.string().nullable(),
  summary: anyJson.describe(
    'Written when it ends: its length and its effect. Null for a token that is limited to some integrations.',
  ),
});
const detail = listed.extend({
  brands: z.array(z.string()),
  alert_list: z.array(alertSchema),
  effect: z.object({
    waiting: z.int().describe('Changes that wait for delivery now.'),
    dead_letters: z.int(),
    failed_attempts: z.int(),
    failed_runs: z.int(),
    complete_runs: z.int(),
    refused_events: z.int(),
  }),
  tried: z.array(operatorAction).describe('What operators changed meanwhile.'),
  advice: z.array(z.string()),
});
const idParam = z.strictObject({ incident_id: z.string().max(100) });

export function incidentRoutes(ports: IncidentPorts): Route[] {
  const common = { tag: 'alerts', scope: 'any' } as const;
  return [
    route({
      ...common,
      method: 'GET',
      path: '/incidents',
      id: 'incidents.list',
      summary: 'Alerts grouped by their cause, newest first',
      role: 'viewer',
      query: z.strictObject({ ...pageQuery, state: z.enum(['open', 'all']).default('open') }),
      response: pageOf(listed),
      handle: async ({ query, within }) => {
        const [startedAt, id = ''] = decodeCursor(query.cursor, 'time', 'text');
        const rows = await ports.list({
          open: query.state === 'open',
          within,
          before: startedAt === undefined ? undefined : { startedAt, id },
          limit: query.limit + 1,
        });
        return ok(paged(rows, query.limit, (row) => [row.started_at.toISOString(), row.incident_id]));
      },
    }),
    route({
      ...common,
      method: 'GET',
      path: '/incidents/{incident_id}',
      id: 'incidents.get',
      summary: 'One incident: start, effect, what was tried, what to do',
      role: 'viewer',
      params: idParam,
      response: detail,
      handle: async ({ params, within }) => {
        const found = await ports.read(params.incident_id, within);
        return found ? ok(found) : notFound(`incident ${params.incident_id}`);
      },
    }),
    route({
      ...common,
      method: 'POST',
      path: '/incidents/{incident_id}/acknowledge',
      id: 'incidents.acknowledge',
      summary: 'Acknowledge an incident and its alerts',
      description:
        'A token that is limited to some integrations acknowledges the alerts of those, not the ones they share with others.',
      role: 'operator',
      params: idParam,
      body: z.strictObject({}),
      response: detail,
      handle: async ({ params, caller, within }) => {
        if ((await ports.read(params.incident_id, within)) === undefined) {
          return notFound(`incident ${params.incident_id}`);
        }
        const isDone = await ports.acknowledge(params.incident_id, caller.name, within);
        if (!isDone) {
          const detail = 'Its alerts concern other integrations too; a token for all of them can acknowledge it.';
          return problem(403, 'operate.forbidden', detail);
        }
        return ok(await ports.read(params.incident_id, within));
      },
    }),
  ];
}
