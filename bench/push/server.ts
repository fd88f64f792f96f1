/** The servers to compare, each in a separate process. */
import { createHmac, createSecretKey } from 'node:crypto';
import fastify, { type FastifyInstance } from 'fastify';
import type pg from 'pg';
import { Agent, request } from 'undici';
import { openGroupCommit } from '../../src/core/intake/push/group-commit.ts';
import { openPushIntake } from '../../src/core/intake/push/intake.ts';
import type { NewEvent } from '../../src/core/intake/push/ports.ts';
import { defaultVerification } from '../../src/core/intake/push/verification.ts';
import { rowsTable } from '../../src/core/store/db/columns.ts';
import { openIntakePool, openPool } from '../../src/core/store/db/pool.ts';
import { appendEvents } from '../../src/core/store/events/append.ts';
import { loadEndpoints, type Sealer } from '../../src/core/store/events/endpoints.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { serverLimits } from '../../src/operator/api/server.ts';
import { registerWebhooks } from '../../src/operator/api/webhooks.ts';

export interface ServerJob {
  /** `relay` sends each event on to the sink and keeps nothing. `least` keeps it first; without a sink it only keeps it. */
  readonly kind: 'bare' | 'least' | 'naive' | 'group' | 'relay';
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
    app.post('/webhooks/:id', async (incoming, reply) => {
      await relayed(job, incoming.body as Sent);
      return reply.code(202).send({ status: 'accepted', event_id: 'x' });
    });
  } else if (job.kind === 'least') {
    await registerLeast(app, job);
  } else {
    const pool = openPool({ connection: job.connection, applicationName: 'bench' });
    const intakePool = openIntakePool(pool);
    const settings = {
      enabled: true,
      rehearses: false,
      brandId: job.brandId,
      verification: defaultVerification,
      isThin: false,
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
    const nobody = { examine: never, rehearse: never, list: never, read: never };
    registerWebhooks(app, { clock: systemClock, intake, sandbox: nobody, maxBodyBytes: () => 1024 * 1024 });
  }
  await app.listen({ port: 0, host: '127.0.0.1' });
  process.send?.((app.server.address() as { port: number }).port);
});

interface Sent {
  readonly event_id: string;
  readonly data: { readonly reservation_id: string };
}

const dispatcher = new Agent({ connections: 64 });

async function relayed({ sinkPort }: ServerJob, { data }: Sent): Promise<void> {
  const { body } = await request(`http://127.0.0.1:${sinkPort}/changes`, {
    dispatcher,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { ...data, id: data.reservation_id } }),
  });
  await body.dump();
}

const least = rowsTable(1, { text: ['event_id'], bytea: ['body'] });

/** The least that keeps an event: a signature, JSON, and one row with a key, in the same groups as Innbound's. */
async function registerLeast(app: FastifyInstance, job: ServerJob): Promise<void> {
  const pool = openPool({ connection: job.connection, applicationName: 'bench' });
  await pool.query('create table if not exists public.least (event_id text primary key, body bytea)');
  const commits = openGroupCommit({
    clock: systemClock,
    insert: async (events) => {
      await pool.query({
        name: 'least',
        text: `insert into public.least (event_id, body) select event_id, body from ${least.sql}`,
        values: least.values(events.map(({ eventId, rawBody }) => ({ event_id: eventId, body: rawBody }))),
      });
      return events.map(() => ({ kind: 'stored' }) as const);
    },
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  const key = createSecretKey(Buffer.from('secret'));
  app.post('/webhooks/:id', async (incoming, reply) => {
    const rawBody = incoming.body as Buffer;
    createHmac('sha256', key).update('0.').update(rawBody).digest('hex');
    const sent = JSON.parse(rawBody.toString()) as Sent;
    await commits.append({ eventId: sent.event_id, rawBody } as NewEvent);
    reply.code(202).send({ status: 'accepted', event_id: sent.event_id });
    if (job.sinkPort !== undefined) await relayed(job, sent);
  });
}

process.once('SIGTERM', () => process.exit(0));

async function never(): Promise<never> {
  throw new Error('there is no sandbox here');
}

// The parent process is gone.
process.once('disconnect', () => process.exit(0));
