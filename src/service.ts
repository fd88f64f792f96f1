import type { AddressInfo } from 'node:net';
import { registerApi } from './api/api.ts';
import { registerConsole } from './api/console.ts';
import { registerMetrics } from './api/metrics.ts';
import { buildServer } from './api/server.ts';
import { registerWebhooks, type Webhooks } from './api/webhooks.ts';
import { startDeliveries } from './deliver/deliveries.ts';
import { sizeBytes } from './documents/size.ts';
import { InnboundError } from './errors.ts';
import { type Ground, openGround } from './ground.ts';
import { startRunner } from './intake/pull/runner.ts';
import { startScheduler } from './intake/pull/schedule.ts';
import { startHydrator } from './intake/push/hydrate.ts';
import type { PushIntake } from './intake/push/intake.ts';
import { startPushUpkeep } from './intake/push/upkeep.ts';
import { startEventWorker } from './intake/push/worker.ts';
import { systemClock } from './kit/clock.ts';
import { openLog } from './kit/log.ts';
import { endAbandonedLeases } from './store/abandoned.ts';
import { newerSchemaCheck } from './store/migrate.ts';
import { forgetNode, seenNode } from './store/nodes.ts';
import { apiPorts } from './wiring/api.ts';
import { startConsoleBuild } from './wiring/console.ts';
import { deliverPorts } from './wiring/deliver.ts';
import { eventWorkerPorts, hydratorPorts, sandboxOf, upkeepPorts } from './wiring/events.ts';
import { metricsOf } from './wiring/metrics.ts';
import { pullPorts, schedulerPorts } from './wiring/pull.ts';
import { openIntake } from './wiring/push.ts';
import { startWatch } from './wiring/watch.ts';

export type Role = 'all' | 'web' | 'worker';

export interface ServiceOptions {
  readonly workspaceDir: string;
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  /** Where the settings and INNBOUND_LOG_LEVEL say nothing. */
  readonly logLevel?: string;
  /** How often it tells others that it is there. */
  readonly seenEveryMs?: number;
  /** Done once the ground is there, before any work begins. */
  readonly prepare?: (ground: Ground) => Promise<void>;
}

export interface Service {
  readonly url: string;
  readonly ground: Ground;
  stop(): Promise<void>;
}

/** A part of the node that runs until it is stopped. */
interface Loop {
  stop(): Promise<void>;
}

/** The only wiring of a running node: ground, loops, HTTP; stopped in the opposite order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host, port, role } = options;
  const log = openLog(process.env.INNBOUND_LOG_LEVEL ?? options.logLevel ?? 'info');
  const ground = await openGround({
    workspaceDir: options.workspaceDir,
    purpose: 'service',
    describe: `serve on port ${port}`,
    apply: 'always',
    log,
  });
  const loops: Loop[] = [];
  let draining = false;
  const app = buildServer({
    log,
    notReady: async () => {
      if (draining) return ['draining'];
      return ground.pool.query('select 1').then(
        () => [],
        () => ['store.unreachable'],
      );
    },
  });
  let intake: PushIntake | undefined;
  let webhooks: Webhooks | undefined;
  // The port stays open to the last: whoever calls meanwhile is told to come back, not left to guess.
  const stop = async (): Promise<void> => {
    draining = true;
    await webhooks?.drain();
    await Promise.allSettled(loops.map((loop) => loop.stop()));
    await app.close();
    await intake?.close();
    await ground.close();
  };
  try {
    if (ground.alone) await endAbandonedLeases(ground.pool);
    await options.prepare?.(ground);
    const metrics = metricsOf(ground);
    registerMetrics(app, metrics);
    loops.push(followDocuments(ground, () => intake?.directory.clear()));
    if (role !== 'worker') {
      intake = openIntake(ground, { answered: metrics.answered });
      const { limits } = ground.active().settings;
      webhooks = registerWebhooks(app, {
        clock: systemClock,
        intake,
        sandbox: sandboxOf(ground, intake),
        maxBodyBytes: () => sizeBytes(limits.webhook_body),
      });
      registerApi(app, apiPorts(ground));
      const desk = startConsoleBuild(log);
      registerConsole(app, desk.ports);
      loops.push(desk);
    }
    if (role !== 'web') {
      loops.push(startScheduler(schedulerPorts(ground)), startRunner(pullPorts(ground)));
      loops.push(startEventWorker(eventWorkerPorts(ground)), startHydrator(hydratorPorts(ground)));
      loops.push(startPushUpkeep(upkeepPorts(ground)));
      loops.push(startDeliveries(await deliverPorts(ground)));
    }
    loops.push(startWatch(ground));
    await app.listen({ host, port });
  } catch (error) {
    await stop();
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      throw new InnboundError('operate.port_taken', `Port ${port} on ${host} is taken.`, { port });
    }
    throw error;
  }
  const { port: bound } = app.server.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
  loops.push(await keepSeen(ground, role, url, options.seenEveryMs ?? 15_000));
  return { url, ground, stop };
}

/**
 * Tells the other processes that this node runs, and where; and finds out when one of a newer version has taken over the tables. What
 * a web node takes only waits there, so that it may stay until it is replaced.
 */
async function keepSeen(ground: Ground, role: Role, url: string, everyMs: number): Promise<Loop> {
  const newerSchema = await newerSchemaCheck(ground.pool);
  const seen = async () => {
    const newer = role === 'web' ? undefined : await newerSchema();
    if (newer) ground.giveUp(newer);
    await seenNode(ground.pool, ground.node, role, url);
  };
  await seen();
  const timer = setInterval(() => seen().catch(() => {}), everyMs);
  return {
    stop: async () => {
      clearInterval(timer);
      await forgetNode(ground.pool, ground.node);
    },
  };
}

/** Takes up documents that were applied elsewhere, at once by signal, at the latest after half a minute. */
function followDocuments(ground: Ground, changed: () => void): Loop {
  const stopping = new AbortController();
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await ground.wake.wait('documents', 30_000, stopping.signal);
      if (stopping.signal.aborted) return;
      changed();
      await ground.refresh().then(
        (fresh) => {
          if (!fresh) return;
          ground.log.info({ integrations: ground.active().integrations.size }, 'documents: new versions in force');
          ground.wake.arrived('schedules');
        },
        (error: Error) => ground.log.warn({ error: error.message }, 'documents: cannot be read now'),
      );
    }
  })();
  return {
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
