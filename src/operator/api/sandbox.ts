import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { answerBody, type Refused } from '../../core/intake/push/answer.ts';
import type { Sandbox } from '../../core/intake/push/sandbox.ts';
import type { SandboxReport } from '../../core/intake/push/sandbox-report.ts';
import { sendPlainPage } from './server.ts';

/** The sandbox's response to an event, with `accepted` only if the live endpoint would accept it; and the report. */
export function sandboxBody(endpointId: string, report: SandboxReport): string {
  return JSON.stringify({
    status: report.would_answer.status < 300 ? 'accepted' : 'refused',
    event_id: report.event_id,
    sandbox: true,
    report_url: `/webhooks/${endpointId}/reports/${report.report_id}`,
    report,
  });
}

/** The reports of a sandbox endpoint, for anyone with its address: JSON, or a plain page for a browser. */
export function registerSandboxReports(
  app: FastifyInstance,
  sandbox: Sandbox,
  guard: (address: string) => Refused | undefined,
): void {
  type Params = { endpointId: string; reportId: string };
  const list = async (request: FastifyRequest, reply: FastifyReply) => {
    const { endpointId } = request.params as Params;
    const answer = guard(request.ip) ?? (await sandbox.list(endpointId));
    if ('status' in answer) return problem(request, reply, answer);
    const reports = (answer as readonly SandboxReport[]).map(({ report_id, at, event, would_answer, signature }) => ({
      report_id,
      at,
      ...(event !== undefined && { event }),
      would_answer,
      signature_right: signature.right,
      url: `/webhooks/${endpointId}/reports/${report_id}`,
    }));
    return show(request, reply, 'Sandbox reports', { reports });
  };
  app.get('/webhooks/:endpointId/reports', { logLevel: 'silent' }, list);
  app.get('/webhooks/:endpointId/reports/:reportId', { logLevel: 'silent' }, async (request, reply) => {
    const { endpointId, reportId } = request.params as Params;
    const report = guard(request.ip) ?? (await sandbox.read(endpointId, reportId));
    return 'status' in report ? problem(request, reply, report) : show(request, reply, 'Sandbox report', report);
  });
}

function problem(request: FastifyRequest, reply: FastifyReply, refusal: Refused): FastifyReply {
  const { type, body } = answerBody(refusal, request.id);
  if (refusal.retryAfterS !== undefined) reply.header('retry-after', refusal.retryAfterS);
  return reply.code(refusal.status).type(type).header('cache-control', 'no-store').send(body);
}

function show(request: FastifyRequest, reply: FastifyReply, title: string, value: object): FastifyReply {
  reply.header('cache-control', 'no-store');
  if (!(request.headers.accept ?? '').includes('text/html')) return reply.send(value);
  const escaped = JSON.stringify(value, null, 2).replace(/[&<>]/g, (c) => `&#${c.charCodeAt(0)};`);
  // Only ids that we issued become links.
  const linked = escaped.replace(/"(\/webhooks\/sbx_\w+\/reports\/rep_\w+)"/g, '"<a href="$1">$1</a>"');
  return sendPlainPage(
    reply,
    `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title>` +
      `<style>body{font:14px/1.5 ui-monospace,monospace;margin:2rem;max-width:70rem}pre{white-space:pre-wrap}</style>` +
      `<h1>${title}</h1><pre>${linked}</pre>`,
  );
}
