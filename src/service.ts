import type { AddressInfo } from 'node:net';
import { registerApi } from './api/api.ts';
import { registerConsole } from './api/console.ts';
import { buildServer } from './api/server.ts';
import { registerWebhooks, type Webhooks } from './api/webhooks.ts';
import { startDeliveries } from './deliver/deliveries.ts';
import { sizeBytes } from './documents/size.ts';
import { InnboundError } from './errors.ts';
import { startRunner } from './intake/pull/runner.ts';
import { startScheduler } from './intake/pull/schedule.ts';
import { startHydrator } from './intake/push/hydrate.ts';
import { startPushUpkeep } from './intake/push/upkeep.ts';
import { startEventWorker } from './intake/push/worker.ts';
import { systemClock } from './kit/clock.ts';
import { openLog } from './kit/log.ts';
import { type Loop, startLoop } from './kit/loop.ts';
import { version } from './kit/version.ts';
import { startConsoleBuild } from './operations/build-console.ts';
import { startJobs } from './operations/jobs.ts';
import { clockToleranceMs } from './operations/watch-once.ts';
import { openRuntime, type Runtime, type RuntimeOptions } from './runtime/runtime.ts';
import { newerSchemaCheck } from './store/db/migrate.ts';
import { poolProblem } from './store/db/pool.ts';
import { endAbandonedLeases } from './store/operate/abandoned.ts';
import { forgetNode, seenNode } from './store/operate/nodes.ts';
import { apiPorts, isServedOverHttps } from './wiring/api.ts';
import { deliverPorts } from './wiring/deliver.ts';
import { eventWorkerPorts, hydratorPorts, sandboxOf, upkeepPorts } from './wiring/events.ts';
import { type MetricsExchange, metricsOf, serveMetrics } from './wiring/metrics.ts';
import { pullPorts, schedulerPorts } from './wiring/pull.ts';
import { type Intake, openIntake } from './wiring/push.ts';
import { startWatch } from './wiring/watch.ts';

export type Role = 'all' | 'web' | 'worker';

export interface ServiceOptions {
  readonly workspaceDir: string;
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  /** Takes precedence over the settings; INNBOUND_LOG_LEVEL over both. */
  readonly logLevel?: string;
  /** Set in one of several processes of the service (`serve --processes`). */
  readonly part?: ServicePart;
  /** Environment variables, by default those of the process. */
  readonly env?: RuntimeOptions['env'];
  /** The wall clock of this machine, which may be wrong. */
  readonly nodeClock?: RuntimeOptions['nodeClock'];
  /** Interval of the heartbeat in the table of nodes. */
  readonly seenEveryMs?: number;
  /** Called with the open runtime, before any work begins. */
  readonly prepare?: (runtime: Runtime) => Promise<void>;
}

export interface ServicePart {
  /** 1, 2, 3: a restarted process keeps its number. */
  readonly number: number;
  /** In the first process of a start. It takes up the workspace's documents before the others start. */
  readonly isFirst: boolean;
  /** The private server, which the parent process runs. */
  readonly connection?: RuntimeOptions['connection'];
  readonly metrics: MetricsExchange;
}

export interface Service {
  readonly url: string;
  readonly runtime: Runtime;
  /** Stops within the time that SIGTERM allows. During `graceMs`, events are still accepted while /readyz already answers 503. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Wires a running node: runtime, loops, HTTP. Stops them in the opposite order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host, port, role, part, env = process.env } = options;
  const setLevel = env.INNBOUND_LOG_LEVEL || options.logLevel;
  const log = openLog(setLevel ?? 'info').child(part ? { process: part.number } : {});
  const runtime = await openRuntime({
    workspaceDir: options.workspaceDir,
    purpose: 'service',
    describe: `serve on port ${port}`,
    apply: part && !part.isFirst ? 'never' : 'always',
    log,
    env,
    ...(part?.connection && { connection: part.connection }),
    ...(options.nodeClock && { nodeClock: options.nodeClock }),
  });
  const loops: Loop[] = [];
  let draining = false;
  let intake: Intake | undefined;
  const { network, limits, log: logging } = runtime.active().settings;
  if (setLevel === undefined) log.level = logging.level;
  const app = buildServer({
    log,
    trustedProxies: network.trusted_proxies,
    connectionsPerAddress: limits.connections_per_address,
    secure: () => isServedOverHttps(runtime),
    isDraining: () => draining,
    notReady: async () => {
      if (draining) return ['draining'];
      const pools = [runtime.pool, ...(intake ? [intake.pool] : [])];
      const problems = await Promise.all(pools.map((pool) => poolProblem(pool)));
      const stalled = runtime.heartbeats.stalled().length > 0 ? ['operate.stalled'] : [];
      return [...new Set([...problems.filter((problem) => problem !== undefined), ...stalled])];
    },
    warnings: () => (Math.abs(runtime.clock.nodeAheadMs()) > clockToleranceMs ? ['operate.clock_off'] : []),
  });
  let webhooks: Webhooks | undefined;
  // The port stays open until the end, so that senders get a 503 with Retry-After instead of a refused connection.
  const stop = async ({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> => {
    draining = true;
    // A proxy that watches /readyz takes the node out of service before anything is refused.
    if (role !== 'worker') await systemClock.wait(graceMs);
    await webhooks?.drain();
    await Promise.allSettled(loops.map((loop) => loop.stop()));
    await app.close();
    await intake?.close();
    await runtime.close();
  };
  try {
    // On a private server nothing else was running until now.
    if (part === undefined ? runtime.alone : part.isFirst && part.connection) await endAbandonedLeases(runtime.pool);
    await options.prepare?.(runtime);
    const metrics = metricsOf(runtime, part);
    const ownPort = await serveMetrics(runtime, app, metrics);
    if (ownPort) loops.push({ stop: () => ownPort.close() });
    loops.push(followDocuments(runtime, () => intake?.directory.clear()));
    if (role !== 'worker') {
      const worker = role === 'all' ? eventWorkerPorts(runtime) : undefined;
      intake = openIntake(runtime, { answered: metrics.answered, ...(worker && { worker }) });
      webhooks = registerWebhooks(app, {
        clock: runtime.clock,
        intake,
        sandbox: sandboxOf(runtime, intake),
        maxBodyBytes: () => sizeBytes(limits.webhook_body),
      });
      registerApi(app, apiPorts(runtime));
      const desk = startConsoleBuild(log);
      registerConsole(app, desk.ports);
      loops.push(desk);
    }
    // Before any work begins: with 100,000 brands the first start creates 300,000 schedules and begins to poll, and would answer late.
    await app.listen({ host, port });
    const { port: bound } = app.server.address() as AddressInfo;
    const url = `http://${host.includes(':') ? `[${host}]` : host}:${bound}`;
    loops.push(await keepSeen(runtime, role, url, options.seenEveryMs ?? 15_000));
    if (role !== 'web') {
      const deliveries = await deliverPorts(runtime);
      loops.push(startScheduler(schedulerPorts(runtime)), startRunner(pullPorts(runtime)));
      loops.push(startEventWorker(eventWorkerPorts(runtime)), startHydrator(hydratorPorts(runtime)));
      loops.push(startPushUpkeep(upkeepPorts(runtime)));
      loops.push(startDeliveries(deliveries), startJobs(runtime));
    }
    loops.push(startWatch(runtime));
    return { url, runtime, stop };
  } catch (error) {
    await stop();
    if ((error as { code?: string }).code === 'EADDRINUSE') {
      throw new InnboundError('operate.port_taken', `Port ${port} on ${host} is taken.`, { port });
    }
    throw error;
  }
}

/**
 * Writes this node's heartbeat, and stops a worker when a newer version has migrated the database. A web node only stores events, so it
 * may stay until it is replaced. Takes up a rotated key: at the signal of the rotation, or when the database is sealed with another one.
 */
async function keepSeen(runtime: Runtime, role: Role, url: string, everyMs: number): Promise<Loop> {
  const newerSchema = await newerSchemaCheck(runtime.pool);
  const seen = async () => {
    const newer = role === 'web' ? undefined : await newerSchema();
    if (newer) runtime.giveUp(newer);
    await runtime.restoreCheck.check();
    const stalled = runtime.heartbeats.stalled().map(({ loop }) => loop);
    const keys = runtime.keyring.map(({ id }) => id);
    const clockAheadMs = runtime.clock.nodeAheadMs();
    await seenNode(runtime.pool, { node: runtime.node, role, url, clockAheadMs, stalled, keys, version });
  };
  await seen();
  const timer = setInterval(
    () =>
      refreshKeys(runtime, false)
        .then(seen)
        .catch(() => {}),
    everyMs,
  );
  const keys = startLoop({
    name: 'keys',
    heartbeats: runtime.heartbeats,
    turn: async () => {
      await refreshKeys(runtime, true);
      await seen();
    },
    rest: (_, signal) => runtime.wake.wait('keys', 3_600_000, signal),
    onError: (error) => runtime.log.warn({ error: (error as Error).message }, 'store: reporting the keys failed'),
  });
  return {
    stop: async () => {
      clearInterval(timer);
      await keys.stop();
      await forgetNode(runtime.pool, runtime.node);
    },
  };
}

/** A node without the sealing key stops: it could open no secret, and would refuse every webhook as unsigned. */
async function refreshKeys(runtime: Runtime, readSource: boolean): Promise<void> {
  try {
    await runtime.refreshKeys(readSource);
  } catch (error) {
    if (error instanceof InnboundError && error.code === 'store.other_key') runtime.giveUp(error);
    else runtime.log.warn({ error: (error as Error).message }, 'store: reading the key failed, keeping the one in use');
  }
}

/** Loads documents that another process applied: at once after a signal, at the latest after 30 seconds. */
function followDocuments(runtime: Runtime, changed: () => void): Loop {
  return startLoop({
    name: 'documents',
    heartbeats: runtime.heartbeats,
    turn: async () => {
      changed();
      await runtime.restoreCheck.check().catch(() => {});
      if (await runtime.refresh())
        runtime.log.info({ integrations: runtime.active().integrations.size }, 'documents: new versions in force');
    },
    rest: (_, signal) => runtime.wake.wait('documents', 30_000, signal),
    onError: (error) =>
      runtime.log.warn({ error: (error as Error).message }, 'documents: reading failed, keeping the versions in force'),
  });
}
