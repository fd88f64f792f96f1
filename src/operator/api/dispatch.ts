import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Buckets, networkOf } from '../../core/intake/push/receive.ts';
import { type ErrorCode, InnboundError } from '../../errors.ts';
import { onBehalfOf } from '../../kit/holder.ts';
import type { Runtime } from '../../runtime/runtime.ts';
import { type NewAudit, writeAudit } from '../store/audit.ts';
import { admit, type Given, isAudited } from './admit.ts';
import { callerOf, consoleHeader, type Identified, isServedOverHttps, shownToken } from './caller.ts';
import { openStreams, openWaits, type Streams, type Waits } from './held-answers.ts';
import { failureRate, identify, partnerRate } from './identify.ts';
import { sendProblem } from './problem.ts';
import { redacted, withoutGuestIds } from './redact.ts';
import { type Call, type Problem, problem, type Result, type Route } from './route.ts';

interface State {
  readonly failures: Buckets;
  readonly partners: Buckets;
  readonly streams: Streams;
  readonly waits: Waits;
}

type Answered = Exclude<Result, { kind: 'stream' }>;

export const apiPrefix = '/api/v1';
const never = new AbortController().signal;
/** A body without a token is a sign-in. */
const publicBodyLimit = 16 * 1024;
const bodyLimit = 8 * 1024 * 1024;

/** The one place that guards routes: token, role, integration, request schema, and audit. */
export function registerRoutes(app: FastifyInstance, routes: readonly Route[], runtime: Runtime): void {
  const state: State = {
    failures: new Buckets(() => failureRate, 10_000),
    partners: new Buckets(() => partnerRate, 10_000),
    streams: openStreams(),
    waits: openWaits(),
  };
  const known = new WeakMap<FastifyRequest, Identified & { kind: 'known' }>();
  // Streams never end by themselves, and closing the server waits for open responses.
  app.addHook('preClose', async () => {
    state.streams.end();
    state.waits.end();
  });
  for (const route of routes) {
    app.route({
      method: route.method,
      url: `${apiPrefix}${route.path.replace(/\{(\w+)\}/g, ':$1')}`,
      bodyLimit: route.role === 'public' ? publicBodyLimit : bodyLimit,
      // Checked before the body is read: without a token, no body is parsed.
      onRequest: async (request, reply) => {
        reply.header('cache-control', 'no-store');
        const identified = await identify(route, request, runtime, state);
        if (identified.kind === 'known') {
          known.set(request, identified);
          return;
        }
        const { status, code, detail } = identified;
        logRefusal(runtime, { action: route.id, status, address: request.ip, request_id: request.id });
        if (identified.kind === 'wait') reply.header('retry-after', identified.seconds);
        else if (status === 401) reply.header('www-authenticate', 'Bearer realm="innbound"');
        return sendProblem(request, reply, status, code, { detail });
      },
      handler: async (request, reply) => {
        const identified = known.get(request);
        if (identified === undefined) throw new TypeError('a request without a caller reached its handler');
        return serve({ ...state, route, runtime }, request, reply, identified);
      },
    });
  }
}

interface Serving extends State {
  readonly route: Route;
  readonly runtime: Runtime;
}

async function serve(
  serving: Serving,
  request: FastifyRequest,
  reply: FastifyReply,
  { caller, token, link }: Identified & { kind: 'known' },
): Promise<FastifyReply> {
  const { route, runtime, streams, waits } = serving;
  const { id: requestId, ip: address } = request;
  const { params, query, body } = request;
  const given = { params: params as Given['params'], query, body };
  const admitted = await admit(route, given, caller, runtime);
  if (admitted.kind === 'problem') {
    const { status } = admitted;
    if (status === 403 || status === 404)
      logRefusal(runtime, { action: route.id, status, address, request_id: requestId, token_id: caller.tokenId });
    return send(request, reply, status, admitted);
  }
  const wait = route.waits ? waits.begin(request, reply, caller.grantId) : undefined;
  if (wait === 'too many') {
    reply.header('retry-after', '1');
    const detail = 'This token has too many waiting requests; retry when one is answered.';
    return sendProblem(request, reply, 429, 'operate.busy', { detail });
  }
  const shown = shownToken(request.headers, isServedOverHttps(runtime));
  const call: Call<unknown, unknown, unknown> = {
    ...admitted.parsed,
    cookie: shown?.by === 'cookie' ? shown.token : undefined,
    fromConsole: request.headers[consoleHeader] !== undefined,
    caller,
    link,
    cookies: request.headers.cookie ?? '',
    within: admitted.within,
    signal: wait?.signal ?? never,
  };
  const stillMay = async () => token !== undefined && (await callerOf(runtime, token, false)) !== undefined;
  const result = await onBehalfOf(caller.grantId, () => route.handle(call))
    .catch(asProblem)
    .finally(() => wait?.end());
  // Otherwise the connection stays open for the next request, and the server does not close.
  if (waits.isEnding) reply.header('connection', 'close');
  // A partner's action has no token; its answer says no more than its page.
  if (wait !== undefined && link === undefined && !(await stillMay())) {
    const detail = 'The token has expired or was revoked.';
    return sendProblem(request, reply, 401, 'operate.unauthorized', { detail });
  }
  if (result.kind === 'stream') {
    return streams.send(request, reply, result, { stillMay, holder: caller.grantId });
  }
  const status = result.kind === 'ok' ? route.status : result.status;
  await record(serving, result, {
    actor: (result.kind === 'ok' && result.actor) || caller.name,
    tokenId: caller.tokenId === '' ? undefined : caller.tokenId,
    action: route.id,
    ...admitted.about,
    status,
    requestId,
    address,
  });
  const hides = result.kind === 'ok' && caller.role === 'viewer';
  return send(request, reply, status, hides ? { ...result, body: masked(route, result.body) } : result);
}

const logRefusal = ({ log }: Runtime, facts: object): void => log.warn(facts, 'api: access refused');

/** A response with guest data is sent only after its audit entry is written. */
async function record(
  { route, runtime, failures }: Serving,
  result: Answered,
  entry: Required<NewAudit>,
): Promise<void> {
  const { action, status, address, requestId } = entry;
  if (route.role === 'public' && status === 401) {
    // A guess, for the log and the rate limit. The audit log has a row per action, not per guess.
    failures.charge(networkOf(address), runtime.clock.now(), 1);
    logRefusal(runtime, { action, status, address, request_id: requestId });
    return;
  }
  if (isAudited(route, result)) await writeAudit(runtime.pool, entry);
}

/** What a viewer sees: no guest data in payloads, and no guest ids of the partner anywhere. */
const masked = (route: Route, body: unknown): unknown => (route.payload ? redacted(body) : withoutGuestIds(body));

const statuses: Readonly<Partial<Record<ErrorCode, number>>> = {
  'operate.bad_request': 400,
  'operate.not_found': 404,
  'operate.cursor_outdated': 410,
  'operate.invalid_input': 422,
  'operate.too_costly': 422,
  'documents.invalid': 422,
  'operate.busy': 503,
};

/** An InnboundError is an answer for the caller; anything else is a bug and propagates. Details of the store name places of this machine. */
function asProblem(error: unknown): Result {
  if (!(error instanceof InnboundError) || error.code === 'operate.unexpected') throw error;
  const { code, message, detail } = error;
  if (code.startsWith('store.')) return problem(503, code, message);
  return problem(statuses[code] ?? 409, code, message, detail as Problem['more']);
}

function send(request: FastifyRequest, reply: FastifyReply, status: number, result: Answered): FastifyReply {
  if (result.kind === 'problem') {
    return sendProblem(request, reply, status, result.code, { detail: result.detail, ...result.more });
  }
  for (const [name, value] of Object.entries(result.headers ?? {})) reply.header(name, value);
  return reply.code(status).type('application/json; charset=utf-8').send(JSON.stringify(result.body));
}
