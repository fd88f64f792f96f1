import type { AddressInfo } from 'node:net';
import { deliverPorts } from './composition/deliver.ts';
import { feedbackPorts } from './composition/feedback.ts';
import { pullPorts, schedulerPorts } from './composition/pull.ts';
import { eventWorkerPorts, hydratorPorts, type Intake, openIntake } from './composition/push.ts';
import { startState } from './composition/state.ts';
import { streamPorts } from './composition/stream.ts';
import { startDeliveries } from './core/deliver/deliveries.ts';
import { sizeBytes } from './core/documents/units.ts';
import { startRunner } from './core/intake/pull/run/runner.ts';
import { startScheduler } from './core/intake/pull/run/schedule.ts';
import { startHydrator } from './core/intake/push/hydrate.ts';
import { startEventWorker } from './core/intake/push/worker.ts';
import { startFeedback } from './core/intake/stream/feedback.ts';
import { startStreamReaders } from './core/intake/stream/readers.ts';
import { poolProblem } from './core/store/db/readiness.ts';
import { endAbandonedLeases } from './core/store/lease.ts';
import { InnboundError } from './errors.ts';
import { systemClock } from './kit/clock.ts';
import { openLog } from './kit/log.ts';
import type { Loop } from './kit/loop.ts';
import { openApi, registerApi } from './operator/api/api.ts';
import { isServedOverHttps } from './operator/api/caller.ts';
import { registerConsole } from './operator/api/console.ts';
import { metricsOf, serveMetrics } from './operator/api/node-metrics.ts';
import { buildServer } from './operator/api/server.ts';
import { registerWebhooks, type Webhooks } from './operator/api/webhooks.ts';
import { startConsoleBuild } from './operator/operations/build-console.ts';
import { missingRolesOf } from './operator/operations/facts.ts';
import { startJobs } from './operator/operations/jobs.ts';
import { openRuntime } from './operator/operations/open-runtime.ts';
import { sandboxOf } from './operator/operations/sandbox.ts';
import { startWatch } from './operator/operations/watch-loops.ts';
import { liveNodes } from './operator/store/nodes.ts';
import { clockToleranceMs } from './operator/watch/diagnosis.ts';
import { followDocuments } from './runtime/follow-documents.ts';
import type { RuntimeOptions } from './runtime/options.ts';
import { keepSeen, type Role } from './runtime/presence.ts';
import type { Runtime } from './runtime/runtime.ts';

export type { Role };

interface ServiceOptions {
  readonly workspaceDir: string;
  readonly port: number;
  readonly host: string;
  readonly role: Role;
  /** Takes precedence over the settings; INNBOUND_LOG_LEVEL over both. */
  readonly logLevel?: string;
  /** Environment variables, by default those of the process. */
  readonly env?: RuntimeOptions['env'];
  /** The wall clock of this machine, which may be wrong. */
  readonly nodeClock?: RuntimeOptions['nodeClock'];
  /** Interval of the heartbeat in the table of nodes. */
  readonly seenEveryMs?: number;
  /** Called with the open runtime, before any work begins. */
  readonly prepare?: (runtime: Runtime) => Promise<void>;
}

export interface Service {
  readonly url: string;
  readonly runtime: Runtime;
  /** Stops within the time that SIGTERM allows. During `graceMs`, events are still accepted while /readyz already answers 503. */
  stop(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Wires a running node: runtime, loops, HTTP. Stops them in the opposite order. */
export async function startService(options: ServiceOptions): Promise<Service> {
  const { host, port, role, env = process.env } = options;
  const setLevel = env.INNBOUND_LOG_LEVEL || options.logLevel;
  const log = openLog(setLevel ?? 'info');
  const runtime = await openRuntime({
    workspaceDir: options.workspaceDir,
    purpose: 'service',
    describe: `serve on port ${port}`,
    apply: 'always',
    log,
    env,
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
    about: async () => {
      const roles = [role, ...(await liveNodes(runtime.pool)).map((node) => node.role)];
      const missing = await missingRolesOf(runtime);
      const warnings = [
        ...(Math.abs(runtime.clock.nodeAheadMs()) > clockToleranceMs ? ['operate.clock_off'] : []),
        ...missing.map((one) => (one === 'worker' ? 'operate.no_worker' : 'operate.no_web')),
      ];
      return { role, worker: roles.some((one) => one !== 'web'), warnings };
    },
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
    if (runtime.alone) await endAbandonedLeases(runtime.pool);
    await options.prepare?.(runtime);
    const metrics = metricsOf(runtime);
    const ownPort = await serveMetrics(runtime, app, metrics);
    if (ownPort) loops.push({ stop: () => ownPort.close() });
    loops.push(followDocuments(runtime, () => intake?.directory.clear()));
    if (role !== 'worker') {
      intake = openIntake(runtime, { applies: role === 'all', answered: metrics.answered });
      webhooks = registerWebhooks(app, {
        clock: runtime.clock,
        intake,
        sandbox: sandboxOf(runtime, intake),
        maxBodyBytes: () => sizeBytes(runtime.active().settings.limits.webhook_body),
        publicUrl: () => runtime.active().settings.public_url,
      });
      registerApi(app, openApi(runtime));
      const consoleBuild = startConsoleBuild(log);
      registerConsole(app, consoleBuild.ports);
      loops.push(consoleBuild);
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
      loops.push(startStreamReaders(streamPorts(runtime)), startFeedback(await feedbackPorts(runtime)));
      loops.push(startDeliveries(deliveries), await startState(runtime), startJobs(runtime));
    }
    loops.push(startWatch(runtime));
    return { url, runtime, stop };
  } catch (error) {
    await stop();
    const { code, port: taken = port, address = host } = error as { code?: string; port?: number; address?: string };
    if (code === 'EADDRINUSE') {
      // The metrics may have a separate port.
      throw new InnboundError('operate.port_taken', `Port ${taken} on ${address} is taken.`, { port: taken });
    }
    throw error;
  }
}
