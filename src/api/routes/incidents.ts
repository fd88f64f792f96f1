import { z } from 'zod';
import { incidentDetail, incidentList } from '../../operations/incidents.ts';
import { acknowledgeIncident } from '../../store/operate/incidents.ts';
import { readCause, titleOf } from '../../watch/causes.ts';
import { operatorAction } from '../forms.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { type Api, anyJson, instant, notFound, ok, okIfFound, problem, type Route, route } from '../route.ts';
import { alertSchema } from './alerts.ts';

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
  effect: z
    .object({
      waiting: z.int().describe('Changes that wait for delivery now.'),
      dead_letters: z.int(),
      failed_attempts: z.int(),
      failed_runs: z.int(),
      complete_runs: z.int(),
      refused_events: z.int(),
    })
    .partial()
    .describe('What a cause of this kind can bring about, since it started.'),
  tried: z.array(operatorAction).describe('What operators changed meanwhile.'),
  advice: z.array(z.string()),
});

export function incidentRoutes({ runtime }: Api): Route[] {
  return [
    route('GET /incidents', {
      id: 'incidents.list',
      summary: 'Alerts grouped by their cause, newest first',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        state: z.enum(['open', 'all']).default('open'),
        from: z.iso.datetime().optional().describe('With `to`: only those that were open between these times.'),
        to: z.iso.datetime().optional(),
      }),
      response: pageOf(listed),
      handle: async ({ query, within }) => {
        const found = await incidentList(runtime, {
          open: query.state === 'open',
          within,
          before: beforeOf(query.cursor),
          ...(query.from && query.to && { during: { from: new Date(query.from), to: new Date(query.to) } }),
          limit: query.limit + 1,
        });
        const rows = found.map((one) => ({ ...one, title: titleOf(readCause(one.cause)) }));
        return ok(paged(rows, query.limit, (row) => [row.started_at.toISOString(), row.incident_id]));
      },
    }),
    route('GET /incidents/{incident_id}', {
      id: 'incidents.get',
      summary: 'One incident: start, effect, what was tried, what to do',
      role: 'viewer',
      scope: 'any',
      response: detail,
      handle: async ({ params: { incident_id: id }, within }) =>
        okIfFound(await incidentDetail(runtime, id, within), `incident ${id}`),
    }),
    route('POST /incidents/{incident_id}/acknowledge', {
      id: 'incidents.acknowledge',
      summary: 'Acknowledge an incident and its alerts',
      description:
        'A token that is limited to some integrations acknowledges the alerts of those, not the ones they share with others.',
      role: 'operator',
      scope: 'any',
      response: detail,
      handle: async ({ params, caller, within }) => {
        if ((await incidentDetail(runtime, params.incident_id, within)) === undefined) {
          return notFound(`incident ${params.incident_id}`);
        }
        const isDone = await acknowledgeIncident(runtime.pool, params.incident_id, caller.name, within);
        if (!isDone) {
          const detail = 'Its alerts concern other integrations too; a token for all of them can acknowledge it.';
          return problem(403, 'operate.forbidden', detail);
        }
        return ok(await incidentDetail(runtime, params.incident_id, within));
      },
    }),
  ];
}
