import { z } from 'zod';
import type { RouteView } from '../../operations/alert-routes.ts';
import type { AlertRow } from '../../store/operate/alert-row.ts';
import { decodeCursor, paged, pageOf, pageQuery } from '../paging.ts';
import { anyJson, instant, notFound, ok, type Route, route } from '../route.ts';

export interface AlertPorts {
  readonly list: (filter: {
    readonly open: boolean;
    readonly integrations: readonly string[] | undefined;
    readonly before: { readonly raisedAt: string; readonly alertId: string } | undefined;
    readonly limit: number;
  }) => Promise<readonly AlertRow[]>;
  readonly integrationOf: (alertId: string) => Promise<string | undefined>;
  readonly acknowledge: (alertId: string, by: string) => Promise<AlertRow | undefined>;
  readonly routes: () => Promise<readonly RouteView[]>;
  /** Undefined if there is no such route. */
  readonly testRoute: (
    route: string,
  ) => Promise<{ readonly kind: 'sent' } | { readonly kind: 'failed'; readonly message: string } | undefined>;
}

export const alertSchema = z.object({
  alert_id: z.string(),
  kind: z.string(),
  integration: z.string().describe('Empty when the alert concerns the whole service.'),
  subject: z.string(),
  severity: z.enum(['warning', 'critical']),
  message: z.string(),
  detail: anyJson,
  raised_at: instant,
  seen_at: instant,
  acknowledged_at: instant.nullable(),
  acknowledged_by: z.string().nullable(),
  resolved_at: instant.nullable(),
});

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

export function alertRoutes(ports: AlertPorts): Route[] {
  return [
    route({
      method: 'GET',
      path: '/alerts',
      id: 'alerts.list',
      summary: 'Alerts, newest first',
      tag: 'alerts',
      role: 'viewer',
      scope: 'any',
      query: z.strictObject({
        ...pageQuery,
        integration: z.string().optional(),
        state: z.enum(['open', 'all']).default('open'),
      }),
      response: pageOf(alertSchema),
      handle: async ({ query, within }) => {
        const [raisedAt, alertId = ''] = decodeCursor(query.cursor, 'time', 'text');
        const rows = await ports.list({
          open: query.state === 'open',
          integrations: query.integration === undefined ? within : [query.integration],
          before: raisedAt === undefined ? undefined : { raisedAt, alertId },
          limit: query.limit + 1,
        });
        return ok(paged(rows, query.limit, (row) => [row.raised_at.toISOString(), row.alert_id]));
      },
    }),
    route({
      method: 'POST',
      path: '/alerts/{alert_id}/acknowledge',
      id: 'alerts.acknowledge',
      summary: 'Acknowledge an alert; it resolves by itself when its cause is gone',
      tag: 'alerts',
      role: 'operator',
      scope: { kind: 'object', of: ({ alert_id = '' }) => ports.integrationOf(alert_id) },
      params: z.strictObject({ alert_id: z.string().max(100) }),
      body: z.strictObject({}),
      response: alertSchema,
      handle: async ({ params, caller }) => {
        const row = await ports.acknowledge(params.alert_id, caller.name);
        return row ? ok(row) : notFound(`alert ${params.alert_id}`);
      },
    }),
    route({
      method: 'GET',
      path: '/alert-routes',
      id: 'alert_routes.list',
      summary: 'Where alerts are sent, and the state of each route',
      tag: 'alerts',
      role: 'viewer',
      scope: 'all',
      response: z.object({ items: z.array(routeSchema) }),
      handle: async () => ok({ items: await ports.routes() }),
    }),
    route({
      method: 'POST',
      path: '/alert-routes/{route}/test',
      id: 'alert_routes.test',
      summary: 'Send a test alert over a route, at once',
      description: 'Ignores quiet hours. Incidents that PagerDuty and Opsgenie open for it are closed again.',
      tag: 'alerts',
      role: 'operator',
      scope: 'all',
      params: z.strictObject({ route: z.string().min(1).max(100) }),
      body: z.strictObject({}),
      response: z.object({ sent: z.boolean(), failure: z.string().nullable() }),
      handle: async ({ params }) => {
        const sent = await ports.testRoute(params.route);
        if (sent === undefined) return notFound(`alert route ${params.route}`);
        return ok({ sent: sent.kind === 'sent', failure: sent.kind === 'sent' ? null : sent.message });
      },
    }),
  ];
}
