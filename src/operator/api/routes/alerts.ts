import { z } from 'zod';
import { systemClock } from '../../../kit/clock.ts';
import { testAlertRoute, viewRoutes } from '../../operations/alert-routes.ts';
import { concernOf, limitedAlert } from '../../operations/alert-view.ts';
import { incidentDetail, incidentList } from '../../operations/incidents.ts';
import { acknowledgeAlert, alertSchema, listAlerts, readAlert } from '../../store/alerts.ts';
import { counts, instant } from '../../store/answers.ts';
import { acknowledgeIncident, incidentSchema } from '../../store/incidents.ts';
import { readCause, titleOf } from '../../watch/causes.ts';
import { operatorAction } from '../forms.ts';
import { beforeOf, paged, pageOf, pageQuery } from '../paging.ts';
import { type Node, notFound, ok, okIfFound, operator, problem, type Route, viewer } from '../route.ts';

const routeSchema = z.object({
  route: z.string(),
  type: z.enum(['slack', 'teams', 'pagerduty', 'opsgenie', 'email', 'webhook']),
  severities: z.array(z.string()),
  integrations: z.array(z.string()).nullable().describe('Null: all, and alerts of the whole service.'),
  quiet: z.object({ from: z.string(), to: z.string(), timezone: z.string() }).nullable(),
  waiting: z.int().describe('Alerts that wait to be sent.'),
  failure: z.string().nullable().describe('Why the last try failed.'),
  last_sent_at: instant.nullable(),
});
const listed = incidentSchema.extend({ title: z.string() });
const detail = listed.extend({
  brands: z.array(z.string()),
  alert_list: z.array(alertSchema),
  effect: z
    .object({
      waiting: z.int().describe('Changes that wait for delivery now.'),
      dead_letters: z.int().describe('Those that are open; of an incident that has ended, those that it made.'),
      waiting_runs: z.int().describe('Runs that wait now.'),
      ...counts('failed_attempts', 'failed_runs', 'complete_runs', 'refused_events'),
    })
    .partial()
    .describe('What a cause of this kind can bring about, since it started.'),
  tried: z.array(operatorAction).describe('What operators changed meanwhile.'),
  advice: z.array(z.string()),
});

export function alertRoutes({ runtime }: Node): Route[] {
  const { pool } = runtime;
  return [
    viewer('GET /alerts', {
      id: 'alerts.list',
      summary: 'Alerts, newest first',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        integration: z.string().optional(),
        state: z.enum(['open', 'all']).default('open'),
      }),
      response: pageOf(alertSchema),
      handle: async ({ query, within }) => {
        const matching = await listAlerts(pool, {
          open: query.state === 'open',
          concern: concernOf(runtime, within),
          before: beforeOf(query.cursor),
          limit: query.limit + 1,
        });
        const rows = within ? matching.map(limitedAlert) : matching.map(({ brands: _, ...alert }) => alert);
        return ok(paged(rows, query.limit, (row) => [row.raised_at.toISOString(), row.alert_id]));
      },
    }),
    operator('POST /alerts/{alert_id}/acknowledge', {
      id: 'alerts.acknowledge',
      summary: 'Acknowledge an alert; it resolves by itself when its cause is gone',
      scope: async ({ alert_id = '' }) => (await readAlert(pool, alert_id))?.integration,
      response: alertSchema,
      handle: async ({ params: { alert_id }, caller }) =>
        okIfFound(await acknowledgeAlert(pool, alert_id, caller.name), `alert ${alert_id}`),
    }),
    viewer('GET /alert-routes', {
      id: 'alert_routes.list',
      summary: 'Where alerts are sent, and the state of each route',
      response: z.object({ items: z.array(routeSchema) }),
      handle: async () => ok({ items: await viewRoutes(runtime) }),
    }),
    operator('POST /alert-routes/{route}/test', {
      id: 'alert_routes.test',
      summary: 'Send a test alert over a route, at once',
      description: 'Ignores quiet hours. Incidents that PagerDuty and Opsgenie open for it are closed again.',
      response: z.object({ sent: z.boolean(), failure: z.string().nullable() }),
      handle: async ({ params }) => {
        const sent = await testAlertRoute(runtime, params.route, systemClock);
        if (sent === undefined) return notFound(`alert route ${params.route}`);
        return ok({ sent: sent.kind === 'sent', failure: sent.kind === 'sent' ? null : sent.message });
      },
    }),
    viewer('GET /incidents', {
      id: 'incidents.list',
      summary: 'Alerts grouped by their cause, newest first',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        state: z.enum(['open', 'all']).default('open'),
        from: z.iso.datetime().optional().describe('With `to`: only those that were open between these times.'),
        to: z.iso.datetime().optional(),
      }),
      response: pageOf(listed),
      handle: async ({ query, within }) => {
        const incidents = await incidentList(runtime, {
          open: query.state === 'open',
          within,
          before: beforeOf(query.cursor),
          ...(query.from && query.to && { during: { from: new Date(query.from), to: new Date(query.to) } }),
          limit: query.limit + 1,
        });
        const rows = incidents.map((one) => ({ ...one, title: titleOf(readCause(one.cause)) }));
        return ok(paged(rows, query.limit, (row) => [row.started_at.toISOString(), row.incident_id]));
      },
    }),
    viewer('GET /incidents/{incident_id}', {
      id: 'incidents.get',
      summary: 'One incident: start, effect, what was tried, what to do',
      scope: 'any',
      response: detail,
      handle: async ({ params: { incident_id: id }, within }) =>
        okIfFound(await incidentDetail(runtime, id, within), `incident ${id}`),
    }),
    operator('POST /incidents/{incident_id}/acknowledge', {
      id: 'incidents.acknowledge',
      summary: 'Acknowledge an incident and its alerts',
      description:
        'A token that is limited to some integrations acknowledges the alerts of those, not the ones they share with others.',
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
