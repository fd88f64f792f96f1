import type { IncomingMessage, ServerResponse } from 'node:http';
import { type FastifyInstance, fastify } from 'fastify';
import { randomId } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { errorFacts } from '../kit/log.ts';
import { isConnectionFailure } from '../kit/sql-state.ts';
import { type HealthPorts, registerHealth } from './health.ts';
import { answerBrokenRequest, holdConnections, serverLimits } from './limits.ts';
import { sendProblem } from './problem.ts';
import { setSecurityHeaders } from './security-headers.ts';

export interface ServerPorts extends HealthPorts {
  readonly log: Log;
  /** Addresses and ranges whose X-Forwarded-For is trusted. */
  readonly trustedProxies?: readonly string[];
  readonly connectionsPerAddress?: number;
  /** Whether browsers reach the service over https and may insist on it. */
  readonly secure?: () => boolean;
  /** How long a client may take none of its answer. */
  readonly sendTimeoutMs?: number;
  /** True while the service stops. */
  readonly isDraining?: () => boolean;
}

/** The HTTP server. Clients that are slow to send their headers or body are disconnected. */
export function buildServer(ports: ServerPorts): FastifyInstance {
  const { trustedProxies = [], connectionsPerAddress, sendTimeoutMs = 30_000, secure = () => false } = ports;
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
  holdConnections(app.server, {
    trustedProxies,
    ...(connectionsPerAddress !== undefined && { connectionsPerAddress }),
  });
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
