/** The servers to compare, each in a separate process. */
import fastify from 'fastify';
import type pg from 'pg';
import { Agent, request } from 'undici';
import { serverLimits } from '../../src/api/limits.ts';
import { registerWebhooks } from '../../src/api/webhooks.ts';
import { openPushIntake } from '../../src/intake/push/intake.ts';
import { defaultVerification } from '../../src/intake/push/verify.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { openIntakePool } from '../../src/store/db/intake-pool.ts';
import { openPool } from '../../src/store/db/pool.ts';
import { appendEvents } from '../../src/store/events/append.ts';
import { loadEndpoints, type Sealer } from '../../src/store/events/endpoints.ts';

export interface ServerJob {
  /** `relay` sends each event on to the sink and keeps nothing. */
  readonly kind: 'bare' | 'naive' | 'group' | 'relay';
  readonly sinkPort?: number;
  readonly connection: pg.PoolConfig;
  readonly brandId: string;
}

export const plainSealer: Sealer = {
  seal: (plain) => Buffer.from(plain),
  open: (sealed) => Buffer.from(sealed).toString(),
};

let batches = 0;

process.on('message', async (job: ServerJob | { ask: 'cpu' }) => {
  if ('ask' in job) {
    process.send?.({ ...process.cpuUsage(), batches });
    return;
  }
  const app = fastify({ ...serverLimits });
  if (job.kind === 'bare') {
    app.post('/webhooks/:id', async (_request, reply) => reply.code(202).send({ status: 'accepted', event_id: 'x' }));
  } else if (job.kind === 'relay') {
    const dispatcher = new Agent({ connections: 64 });
    app.post('/webhooks/:id', async (incoming, reply) => {
      const { data } = incoming.body as { data: { reservation_id: string } };
      const { body } = await request(`http://127.0.0.1:${job.sinkPort}/changes`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ data: { ...data, id: data.reservation_id } }),
      });
      await body.dump();
      return reply.code(202).send({ status: 'accepted', event_id: 'x' });
    });
  } else {
    const pool = openPool({ connection: job.connection, applicationName: 'bench' });
    const intakePool = openIntakePool(pool);
    const settings = {
      enabled: true,
      brandId: job.brandId,
      verification: defaultVerification,
      eventIdPlaces: ['event_id', 'id'],
      rate: { perSecond: 1e6, burst: 1e6 },
    };
    const intake = openPushIntake({
      clock: systemClock,
      loadEndpoints: (ids) => loadEndpoints(pool, plainSealer, ids),
      settings: () => settings,
      // Naive: a connection, a transaction and an fsync per request.
      insert:
        job.kind === 'group'
          ? (events, written) => {
              batches += 1;
              return appendEvents(intakePool, events, written);
            }
          : async (events) => (await Promise.all(events.map((event) => appendEvents(pool, [event])))).flat(),
      writeRejections: async () => {},
    });
    const nobody = { examine: never, list: never, read: never };
    registerWebhooks(app, { clock: systemClock, intake, sandbox: nobody, maxBodyBytes: () => 1024 * 1024 });
  }
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.((app.server.address() as { port: number }).port);
});

process.once('SIGTERM', () => process.exit(0));

async function never(): Promise<never> {
  throw new Error('there is no sandbox here');
}

// The parent process is gone.
process.once('disconnect', () => process.exit(0));
