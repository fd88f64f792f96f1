import type { FastifyInstance } from 'fastify';

export interface HealthPorts {
  /** Why the node cannot accept work now; empty when it can. */
  readonly notReady: () => Promise<readonly string[]>;
  /** What an operator should correct although the node works. */
  readonly warnings?: () => Promise<readonly string[]>;
}

/** `/healthz`: the process responds. `/readyz`: it can accept work, or lists the reasons why not. */
export function registerHealth(app: FastifyInstance, ports: HealthPorts): void {
  app.get('/healthz', { logLevel: 'silent' }, async () => ({ status: 'ok' }));
  app.get('/readyz', { logLevel: 'silent' }, async (_request, reply) => {
    const reasons = await ports.notReady();
    if (reasons.length === 0) {
      const warnings = (await ports.warnings?.()) ?? [];
      return { status: 'ready', ...(warnings.length > 0 && { warnings }) };
    }
    return reply.code(503).header('retry-after', '5').send({ status: 'not_ready', reasons });
  });
}
