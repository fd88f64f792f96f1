import { type FastifyInstance, fastify } from 'fastify';
import { randomId } from '../kit/ids.ts';
import type { Log } from '../kit/log.ts';
import { type HealthPorts, registerHealth } from './health.ts';
import { holdConnections, serverLimits } from './limits.ts';
import { sendProblem } from './problem.ts';

export interface ServerPorts extends HealthPorts {
  readonly log: Log;
}

/** The HTTP server. Clients that are slow to send their headers or body are disconnected. */
export function buildServer(ports: ServerPorts): FastifyInstance {
  const app = fastify({
    ...serverLimits,
    logger: false,
    genReqId: () => randomId('req'),
    forceCloseConnections: 'idle',
    trustProxy: false,
    // A URL that cannot be decoded matches no route and gets a problem document like any other error.
    frameworkErrors: (_error, request, reply) => void sendProblem(request, reply, 400, 'operate.bad_request'),
  });
  holdConnections(app.server);
  registerHealth(app, ports);
  app.setNotFoundHandler((request, reply) => sendProblem(request, reply, 404, 'operate.no_route'));
  app.setErrorHandler((error: Error & { statusCode?: number }, request, reply) => {
    const status = error.statusCode ?? 500;
    if (status < 500) return sendProblem(request, reply, status, 'operate.bad_request');
    ports.log.error(
      { request_id: request.id, route: request.routeOptions.url, error: error.message },
      'http: unexpected',
    );
    return sendProblem(request, reply, 500, 'operate.unexpected');
  });
  return app;
}
