import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { type FastifyInstance, type FastifyReply, fastify } from 'fastify';
import { longestId } from '../../core/canonical/field-check.ts';
import { problemType } from '../../core/intake/push/answer.ts';
import { networkOf, plainAddress } from '../../core/intake/push/receive.ts';
import { randomId } from '../../kit/ids.ts';
import { errorFacts, type Log } from '../../kit/log.ts';
import { isConnectionFailure } from '../../kit/sql-state.ts';
import { sendProblem } from './problem.ts';

interface ServerPorts extends ConnectionLimits {
  readonly log: Log;
  /** Why the node cannot accept work now; empty when it can. */
  readonly notReady: () => Promise<readonly string[]>;
  /** Which node this is, and what an operator should correct although it works. */
  readonly about?: () => Promise<{
    readonly role: string;
    readonly worker: boolean;
    readonly warnings: readonly string[];
  }>;
  /** Whether browsers reach the service over https and may insist on it. */
  readonly secure?: () => boolean;
  /** How long a client may take none of its answer. */
  readonly sendTimeoutMs?: number;
  /** True while the service stops. */
  readonly isDraining?: () => boolean;
}

/** The HTTP server. Clients that are slow to send their headers or body are disconnected. */
export function buildServer(ports: ServerPorts): FastifyInstance {
  const { trustedProxies = [], sendTimeoutMs = 30_000, secure = () => false } = ports;
  const app = fastify({
    ...serverLimits,
    logger: false,
    genReqId: () => randomId('req'),
    forceCloseConnections: 'idle',
    trustProxy: trustedProxies.length > 0 ? [...trustedProxies] : false,
    clientErrorHandler: (error, socket) => void answerBrokenRequest(error, socket, secure()),
    // A URL that cannot be decoded matches no route, and no hook runs.
    frameworkErrors: (_error, request, reply) => {
      setSecurityHeaders(reply.raw, secure());
      return void sendProblem(request, reply, 400, 'operate.bad_request');
    },
  });
  // The only expectation that exists is 100-continue, which Node meets by itself.
  app.server.on('checkExpectation', (_request: IncomingMessage, response: ServerResponse) => {
    setSecurityHeaders(response, secure());
    response.writeHead(417, { connection: 'close' }).end();
  });
  holdConnections(app.server, ports);
  app.addHook('onRequest', async (request, reply) => {
    setSecurityHeaders(reply.raw, secure());
    const isHostMissing = request.headers.host === undefined && request.raw.httpVersion !== '1.0';
    // No id or name of ours contains %00, and PostgreSQL refuses it.
    if (isHostMissing || request.url.includes('%00')) return sendProblem(request, reply, 400, 'operate.bad_request');
    // A proxy must not send a request on a connection that is about to close.
    if (ports.isDraining?.()) reply.raw.setHeader('connection', 'close');
  });
  // Otherwise a client that asks for large pages and reads none would keep them in memory.
  app.addHook('onSend', async ({ raw: { socket } }) => {
    // A request that was injected has no real one.
    if ('setTimeout' in socket) socket.setTimeout(sendTimeoutMs);
  });
  registerHealth(app, ports);
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, 404, 'operate.no_route'));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return sendProblem(request, reply, status, 'operate.bad_request');
    if (isConnectionFailure(error)) {
      reply.header('retry-after', '5');
      return sendProblem(request, reply, 503, 'store.unreachable');
    }
    ports.log.error(
      { request_id: request.id, route: request.routeOptions.url, error: errorFacts(error) },
      'http: unexpected',
    );
    return sendProblem(request, reply, 500, 'operate.unexpected');
  });
  return app;
}

/** `/healthz`: the process responds. `/readyz`: it can accept work, or lists the reasons why not. */
function registerHealth(app: FastifyInstance, ports: ServerPorts): void {
  app.get('/healthz', { logLevel: 'silent' }, async () => ({ status: 'ok' }));
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const reasons = await ports.notReady();
    if (reasons.length === 0) {
      const { warnings = [], ...about } = (await ports.about?.()) ?? {};
      return { status: 'ready', ...about, ...(warnings.length > 0 && { warnings }) };
    }
    return reply.code(503).header('retry-after', '5').send({ status: 'not_ready', reasons });
  });
}

/** Headers of every response. A page that needs more, such as the console, replaces the content security policy. */
function securityHeaders(secure: boolean): Readonly<Record<string, string>> {
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
    'content-security-policy': strictPolicy(),
    ...(secure && { 'strict-transport-security': 'max-age=31536000; includeSubDomains' }),
  };
}

/** Set on the raw response, so that hijacked ones have them too. */
function setSecurityHeaders(response: ServerResponse, secure: boolean): void {
  for (const [name, value] of Object.entries(securityHeaders(secure))) response.setHeader(name, value);
}

/** Loads nothing but what `more` allows. `base-uri`, `form-action` and `frame-ancestors` do not fall back to `default-src`. */
export function strictPolicy(...more: readonly string[]): string {
  return ["default-src 'none'", ...more, "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join('; ');
}

/** A page without scripts: its only styles are its own. */
export function sendPlainPage(reply: FastifyReply, html: string): FastifyReply {
  const policy = strictPolicy("style-src 'unsafe-inline'");
  return reply.type('text/html; charset=utf-8').header('content-security-policy', policy).send(html);
}

/**
 * Limits for every connection, as options of the fastify instance. Node's defaults wait five minutes for a request and check
 * for late ones only twice a minute.
 */
export const serverLimits = {
  /** For a whole request, from its first byte to its last. */
  requestTimeout: 14_000,
  keepAliveTimeout: 65_000,
  bodyLimit: 1024 * 1024,
  /** An id in a path: three bytes of UTF-8 per character, each percent-encoded. The default of 100 hid reservations with longer ids. */
  routerOptions: { maxParamLength: longestId * 9 },
  http: {
    /** For the headers; also how long a new connection may stay silent. */
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
    /** Node's own answer would have no security headers: the server refuses a request without Host. */
    requireHostHeader: false,
  },
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => void answerBrokenRequest(error, socket),
} as const;

/** Further connections are refused, so that a flood does not exhaust memory. */
const maxConnections = 10_000;

interface ConnectionLimits {
  readonly connectionsPerAddress?: number;
  /** Addresses and ranges whose X-Forwarded-For is trusted. They are exempt, because many clients share them. */
  readonly trustedProxies?: readonly string[];
}

/** Limits that are not options of the constructor. */
export function holdConnections(server: Server, limits: ConnectionLimits = {}): void {
  const { connectionsPerAddress = 500, trustedProxies = [] } = limits;
  server.maxConnections = maxConnections;
  const exempt = rangesOf(trustedProxies);
  const open = new Map<string, number>();
  // Otherwise one address could take all connections of the node and lock out every sender.
  server.on('connection', (socket: Socket) => {
    const plain = plainAddress(socket.remoteAddress ?? '');
    if (exempt.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')) return;
    const address = networkOf(plain);
    const count = (open.get(address) ?? 0) + 1;
    if (count > connectionsPerAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
  // A sender may half-close the connection after its request; by default Node would then close before the answer is sent.
  Object.assign(server, { httpAllowHalfOpen: true });
}

function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return list;
}

/** Requests of a connection whose responses may not be sent yet. */
const openAnswers = new WeakMap<object, { readonly request: IncomingMessage; readonly response: ServerResponse }[]>();

/** Records that a connection still has to get a response. Finished ones are removed here, so that no listener is needed. */
export function expectsResponse(request: IncomingMessage, response: ServerResponse): void {
  const open = openAnswers.get(request.socket)?.filter((one) => !one.response.writableFinished) ?? [];
  open.push({ request, response });
  openAnswers.set(request.socket, open);
}

const byCode: ReadonlyMap<string, { status: number; detail: string }> = new Map([
  ['ERR_HTTP_REQUEST_TIMEOUT', { status: 408, detail: 'The request was not complete in time.' }],
  ['HPE_HEADER_OVERFLOW', { status: 431, detail: 'The request headers are too large.' }],
  ['HPE_CHUNK_EXTENSIONS_OVERFLOW', { status: 413, detail: 'The chunk extensions are too large.' }],
]);

/**
 * Answers a request that is not valid HTTP on the bare socket. Earlier requests on the same connection are answered first;
 * otherwise their sender would take this answer for theirs.
 */
async function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, secure = false): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const open = openAnswers.get(socket) ?? [];
  const owed = open.filter(({ request, response }) => request.complete && !response.writableFinished);
  await Promise.all(owed.map(({ response }) => new Promise((done) => response.once('close', done))));
  if (!socket.writable) return;
  const { status, detail } = byCode.get(error.code ?? '') ?? { status: 400, detail: 'The request is not valid HTTP.' };
  const body = JSON.stringify({
    type: 'urn:innbound:error:push.bad_request',
    title: STATUS_CODES[status],
    status,
    detail,
    code: 'push.bad_request',
    request_id: randomId('req'),
  });
  const headers = {
    ...securityHeaders(secure),
    connection: 'close',
    'content-type': problemType,
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}
