import { z } from 'zod';
import type { Rejection } from '../../intake/push/ports.ts';
import type { SandboxReport } from '../../intake/push/sandbox-report.ts';
import type { EndpointStatus } from '../../store/events/endpoint-status.ts';
import { sandboxReport } from '../forms.ts';
import { instant, integrationParam, notFound, ok, problem, type Route, route } from '../route.ts';

export interface EndpointPorts {
  readonly pushes: (integration: string) => boolean;
  readonly status: (integration: string) => Promise<EndpointStatus | undefined>;
  readonly addresses: (
    status: EndpointStatus,
  ) => Promise<{ readonly url: string; readonly sandbox_url: string | null }>;
  readonly issue: (
    integration: string,
    rotate: { readonly overlapMs: number } | undefined,
  ) => Promise<{
    readonly endpoint_id: string;
    readonly url: string;
    readonly sandbox_url: string;
    readonly secret?: string;
  }>;
  readonly retire: (integration: string) => Promise<boolean>;
  /** An empty name lists the requests to unknown endpoints. */
  readonly rejections: (integration: string) => Promise<readonly Rejection[]>;
  readonly rejectionCounts: (
    integration: string,
    sinceMs: number,
  ) => Promise<readonly { readonly code: string; readonly reason: string; readonly count: number }[]>;
  readonly sandboxReports: (integration: string) => Promise<readonly SandboxReport[]>;
  readonly sandboxReport: (integration: string, reportId: string) => Promise<SandboxReport | undefined>;
}

const issued = z.object({
  endpoint_id: z.string(),
  url: z.string(),
  sandbox_url: z.string(),
  secret: z.string().optional().describe('Only in the response that created it; it is never shown again.'),
});
const rejection = z.object({
  endpoint_id: z.string(),
  at: instant,
  status: z.int(),
  code: z.string(),
  reason: z.string(),
  request_id: z.string(),
  header_names: z.array(z.string()),
  body_bytes: z.int(),
  address: z.string(),
});
const sandboxSummary = sandboxReport
  .pick({ report_id: true, at: true, event_id: true, event: true, would_answer: true, signature: true })
  .extend({ outcome: z.enum(['record', 'dead_letter', 'dropped', 'fetched_first', 'ignored', 'none']) });
const summaryOf = ({ report_id, at, event_id, event, would_answer, signature, outcome }: SandboxReport) => ({
  report_id,
  at,
  event_id,
  ...(event !== undefined && { event }),
  would_answer,
  signature,
  outcome: outcome.kind,
});
const path = '/integrations/{integration}/endpoint';
const dayMs = 86_400_000;

export function endpointRoutes(ports: EndpointPorts): Route[] {
  const noPush = (integration: string) => problem(409, 'push.no_endpoint', `Push is not enabled for ${integration}.`);
  return [
    route({
      method: 'GET',
      path,
      id: 'endpoint.get',
      summary: 'The webhook URL of an integration and its active secrets; null before one is issued',
      tag: 'endpoints',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      response: z
        .object({
          endpoint_id: z.string(),
          url: z.string(),
          sandbox_url: z.string().nullable(),
          issued_at: instant,
          secrets: z.array(z.object({ secret_no: z.int(), issued_at: z.string(), expires_at: z.string().nullable() })),
          first_event_at: instant.nullable(),
          last_event_at: instant.nullable(),
        })
        .nullable(),
      handle: async ({ params }) => {
        const status = await ports.status(params.integration);
        if (status === undefined) return ok(null);
        const { sandbox_id: _, ...shown } = status;
        return ok({ ...shown, ...(await ports.addresses(status)) });
      },
    }),
    route({
      method: 'POST',
      path,
      id: 'endpoint.issue',
      summary: 'Issue the endpoint; the first call returns the secret once',
      tag: 'endpoints',
      role: 'admin',
      scope: 'param',
      params: integrationParam,
      body: z.strictObject({}),
      response: issued,
      handle: async ({ params }) =>
        ports.pushes(params.integration)
          ? ok(await ports.issue(params.integration, undefined))
          : noPush(params.integration),
    }),
    route({
      method: 'POST',
      path: `${path}/rotate`,
      id: 'endpoint.rotate',
      summary: 'Create a new secret; the previous one stays valid during the overlap',
      tag: 'endpoints',
      role: 'admin',
      scope: 'param',
      params: integrationParam,
      body: z.strictObject({ overlap_hours: z.number().min(0).max(720).default(24) }),
      response: issued,
      handle: async ({ params, body }) =>
        ports.pushes(params.integration)
          ? ok(await ports.issue(params.integration, { overlapMs: body.overlap_hours * 3_600_000 }))
          : noPush(params.integration),
    }),
    route({
      method: 'DELETE',
      path,
      id: 'endpoint.retire',
      summary: 'Retire the endpoint: its URL answers 410 from now on',
      tag: 'endpoints',
      role: 'admin',
      scope: 'param',
      params: integrationParam,
      response: z.object({ retired: z.literal(true) }),
      handle: async ({ params }) =>
        (await ports.retire(params.integration))
          ? ok({ retired: true })
          : notFound(`endpoint of ${params.integration}`),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/rejections',
      id: 'rejections.list',
      summary: 'The last refused webhooks with the reasons; no payloads',
      tag: 'endpoints',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      response: rejections,
      handle: async ({ params }) => ok(await rejectionsOf(ports, params.integration)),
    }),
    route({
      method: 'GET',
      path: '/rejections',
      id: 'rejections.unknown',
      summary: 'Webhooks sent to unknown endpoints',
      tag: 'endpoints',
      role: 'viewer',
      scope: 'all',
      response: rejections,
      handle: async () => ok(await rejectionsOf(ports, '')),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/sandbox-reports',
      id: 'sandbox.list',
      summary: 'Sandbox reports, newest first; without payloads',
      tag: 'endpoints',
      role: 'viewer',
      scope: 'param',
      params: integrationParam,
      response: z.object({ items: z.array(sandboxSummary) }),
      handle: async ({ params }) => ok({ items: (await ports.sandboxReports(params.integration)).map(summaryOf) }),
    }),
    route({
      method: 'GET',
      path: '/integrations/{integration}/sandbox-reports/{report_id}',
      id: 'sandbox.get',
      summary: 'One sandbox report: signature, envelope, and the record that would result',
      tag: 'endpoints',
      role: 'viewer',
      scope: 'param',
      payload: true,
      params: z.strictObject({ integration: z.string().max(200), report_id: z.string().max(100) }),
      response: sandboxReport,
      handle: async ({ params }) => {
        const found = await ports.sandboxReport(params.integration, params.report_id);
        return found ? ok(found) : notFound(`sandbox report ${params.report_id} of ${params.integration}`);
      },
    }),
  ];
}

const rejections = z.object({
  items: z.array(rejection),
  last_day: z.array(z.object({ code: z.string(), reason: z.string(), count: z.int() })),
});

async function rejectionsOf(ports: EndpointPorts, integration: string) {
  const [items, counts] = await Promise.all([
    ports.rejections(integration),
    ports.rejectionCounts(integration, Date.now() - dayMs),
  ]);
  return {
    items: items.map((one) => ({
      endpoint_id: one.endpointId,
      at: new Date(one.at),
      status: one.status,
      code: one.code,
      reason: one.reason,
      request_id: one.requestId,
      header_names: one.headerNames,
      body_bytes: one.bodyBytes,
      address: one.address,
    })),
    last_day: counts,
  };
}
