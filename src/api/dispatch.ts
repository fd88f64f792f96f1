import type { ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { noIntegration } from '../errors/no-integration.ts';
import { InnboundError } from '../errors.ts';
import { Buckets } from '../intake/push/bucket.ts';
import type { Json } from '../terms.ts';
import { type Caller, consoleHeader, mayAs, maySee, shownToken } from './caller.ts';
import { sendProblem } from './problem.ts';
import { redacted } from './redact.ts';
import type { Call, Result, Route } from './route.ts';
import { sendStream } from './stream.ts';

interface AuditEntry {
  readonly actor: string;
  readonly tokenId: string | undefined;
  readonly action: string;
  readonly integration: string | undefined;
  readonly target: { readonly [key: string]: Json };
  readonly status: number;
  readonly requestId: string;
  readonly address: string;
}

export interface DispatchPorts {
  readonly authenticate: (token: string) => Promise<Caller | undefined>;
  readonly audit: (entry: AuditEntry) => Promise<void>;
  readonly now: () => number;
}

export const apiPrefix = '/api/v1';
const anonymous: Caller = { tokenId: '', name: 'anonymous', role: 'viewer', integrations: [], kind: 'api' };
/** Tokens have 256 random bits and cannot be guessed; this limits what guessing costs the store. */
const failureRate = { perSecond: 1, burst: 60 };

/** The one place that guards routes: token, role, integration, request schema, and audit. */
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], ports: DispatchPorts): void {
  const failures = new Buckets(() => failureRate, 10_000);
  // Streams never end by themselves, and closing the server waits for open responses.
  const streams = new Set<ServerResponse>();
  app.addHook('preClose', async () => {
    for (const stream of streams) stream.end();
  });
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `${apiPrefix}${route.path.replace(/\{(\w+)\}/g, ':$1')}`,
      bodyLimit: 8 * 1024 * 1024,
      handler: async (request, reply) => {
        reply.header('cache-control', 'no-store');
        return serve(route, request, reply, ports, { failures, streams });
      },
    });
  }
}

async function serve(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  ports: DispatchPorts,
  { failures, streams }: { readonly failures: Buckets; readonly streams: Set<ServerResponse> },
): Promise<FastifyReply> {
  const identified = await identify(route, request, ports, failures);
  if (identified.kind !== 'known') {
    if (identified.kind === 'wait') reply.header('retry-after', identified.seconds);
    else if (identified.status === 401) reply.header('www-authenticate', 'Bearer realm="innbound"');
    return sendProblem(request, reply, identified.status, identified.code, { detail: identified.detail });
  }
  const { caller } = identified;
  const scope = await scopeOf(route, request.params as Record<string, string>, caller);
  if (scope.kind === 'refused') {
    return sendProblem(request, reply, scope.status, scope.code, { detail: scope.detail });
  }
  const parsed = parse(route, request);
  if (parsed.kind === 'invalid') {
    return sendProblem(request, reply, 422, 'operate.invalid_input', {
      detail: parsed.problems.map(({ pointer, message }) => `${pointer}: ${message}`).join('; '),
      problems: parsed.problems,
    });
  }
  const asked = (parsed.query as { integration?: unknown } | undefined)?.integration;
  if (typeof asked === 'string' && !maySee(caller, asked)) {
    return sendProblem(request, reply, 404, 'operate.not_found', { detail: noIntegration(asked) });
  }
  const { id: requestId, ip: address } = request;
  const call: Call<unknown, unknown, unknown> = {
    ...parsed,
    caller,
    within: caller.integrations,
    requestId,
    address,
  };
  const result = await route.handle(call).catch(asProblem);
  if (result.kind === 'stream') {
    const shown = shownToken(request.headers);
    const stillMay = async () => (shown && (await ports.authenticate(shown.token))) !== undefined;
    return sendStream(request, reply, result, stillMay, streams);
  }
  const status = result.kind === 'ok' ? route.status : result.status;
  // A response with guest data is sent only after the audit entry is written.
  if ((route.method !== 'GET' && !route.asks) || route.payload) {
    await ports.audit({
      actor: caller.name,
      tokenId: caller.tokenId === '' ? undefined : caller.tokenId,
      action: route.id,
      integration: scope.integration,
      target: request.params as { [key: string]: Json },
      status,
      requestId,
      address,
    });
  }
  const hides = result.kind === 'ok' && route.payload && caller.role === 'viewer';
  return send(request, reply, status, hides ? { ...result, body: redacted(result.body) } : result);
}

const unprocessable = new Set<string>(['operate.invalid_input', 'operate.too_costly']);

/** An InnboundError is an answer for the caller; anything else is a bug and propagates. */
function asProblem(error: unknown): Result {
  if (!(error instanceof InnboundError) || error.code === 'operate.unexpected') throw error;
  const { code } = error;
  const status = unprocessable.has(code) ? 422 : code === 'operate.busy' || code.startsWith('store.') ? 503 : 409;
  return { kind: 'problem', status, code: error.code, detail: error.message };
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  status: number,
  result: Exclude<Result, { kind: 'stream' }>,
): FastifyReply {
  if (result.kind === 'problem') {
    return sendProblem(request, reply, status, result.code, { detail: result.detail, ...result.more });
  }
  for (const [name, value] of Object.entries(result.headers ?? {})) reply.header(name, value);
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(result.body));
}

type Identified =
  | { kind: 'known'; caller: Caller }
  | { kind: 'refused'; status: 401 | 403; code: 'operate.unauthorized' | 'operate.forbidden'; detail: string }
  | { kind: 'wait'; status: 429; code: 'operate.too_many_failures'; detail: string; seconds: number };

async function identify(
  route: Route,
  request: FastifyRequest,
  ports: DispatchPorts,
  failures: Buckets,
): Promise<Identified> {
  const waiting = failures.peek(request.ip, ports.now());
  if (waiting.kind === 'wait') {
    const detail = 'Too many requests from this address had an invalid token.';
    return { kind: 'wait', status: 429, code: 'operate.too_many_failures', detail, seconds: waiting.seconds };
  }
  const { headers } = request;
  const shown = shownToken(headers);
  if (route.role === 'public') return { kind: 'known', caller: anonymous };
  const caller = shown && (await ports.authenticate(shown.token));
  if (caller === undefined) {
    if (shown?.by === 'header') failures.charge(request.ip, ports.now(), 1);
    const detail = shown ? 'The token is unknown, expired or revoked.' : 'Send a token as Authorization: Bearer …';
    return { kind: 'refused', status: 401, code: 'operate.unauthorized', detail };
  }
  if (shown?.by === 'cookie' && request.method !== 'GET' && headers[consoleHeader] === undefined) {
    const detail = `A session request that changes data must have the header ${consoleHeader}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  if (!mayAs(caller, route.role)) {
    const detail = `This requires the role ${route.role}; the token has the role ${caller.role}.`;
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  return { kind: 'known', caller };
}

type Scoped =
  | { kind: 'within'; integration: string | undefined }
  | { kind: 'refused'; status: 403 | 404; code: 'operate.forbidden' | 'operate.not_found'; detail: string };

async function scopeOf({ scope }: Route, params: Record<string, string>, caller: Caller): Promise<Scoped> {
  if (scope.kind === 'any') return { kind: 'within', integration: undefined };
  if (scope.kind === 'all') {
    if (caller.integrations === undefined) return { kind: 'within', integration: undefined };
    const detail = 'This concerns all integrations; the token is limited to some of them.';
    return { kind: 'refused', status: 403, code: 'operate.forbidden', detail };
  }
  const integration = scope.kind === 'param' ? params.integration : await scope.of(params);
  if (integration !== undefined && maySee(caller, integration)) return { kind: 'within', integration };
  const detail = scope.kind === 'param' ? noIntegration(integration ?? '') : 'There is nothing at this address.';
  return { kind: 'refused', status: 404, code: 'operate.not_found', detail };
}

type Parsed =
  | { kind: 'ok'; params: unknown; query: unknown; body: unknown }
  | { kind: 'invalid'; problems: { pointer: string; message: string }[] };

function parse(route: Route, request: FastifyRequest): Parsed {
  const problems: { pointer: string; message: string }[] = [];
  const read = (where: string, schema: z.ZodType, value: unknown): unknown => {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    for (const issue of parsed.error.issues) {
      const message = issue.code === 'unrecognized_keys' ? `unknown: ${issue.keys.join(', ')}` : issue.message;
      problems.push({ pointer: [where, ...issue.path.map(String)].join('/'), message });
    }
    return undefined;
  };
  const params = read('path', route.params, request.params);
  const query = read('query', route.query, request.query);
  const body = route.body && read('body', route.body, request.body ?? {});
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'ok', params, query, body };
}
