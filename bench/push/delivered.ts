/**
 * The complete service and, in turn, a relay that keeps nothing: a signed webhook in, one POST per event out. Rounds alternate, so
 * that other work on the machine hits both.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { systemClock } from '../../src/kit/clock.ts';
import { openPrivatePostgres } from '../../src/operator/embedded-postgres/open.ts';
import { postmasterUnder, serverMs } from '../pull/cpu.ts';
import type { Job, Outcome } from './load.ts';
import { ask, end, endAll, start } from './processes.ts';
import type { ServiceAddress } from './service.ts';
import { brandId, integration, writeBenchWorkspace } from './workspace.ts';

export interface Delivered {
  /** Events accepted and delivered per second, each sender waiting for its answer. */
  readonly perSecond: number;
  readonly relayPerSecond: number;
  /** Processor time per event. */
  readonly nodeMs: number;
  readonly postgresMs: number;
  readonly relayMs: number;
  /** From sending to arrival at the destination, at 50 events per second. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** The same of a relay that first keeps the event as one row. */
  readonly leastP50Ms: number;
  readonly leastP99Ms: number;
}

/** So many events until V8 has compiled the whole path: 1.4 ms each at first, 1.0 ms from here on (2 cores arm64). */
const warmUp = 30_000;

export async function measureDelivered(rounds: number, count = 6_000): Promise<Delivered> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    const sink = start('./sink.ts');
    const sinkPort = await ask<number>(sink, { ask: 'port' });
    await writeBenchWorkspace(folder, sinkPort);
    const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
    const relay = start('./server.ts');
    const sender = start('./load.ts');
    const { port, endpoints } = await ask<ServiceAddress>(service, {
      workspaceDir: folder,
      integrations: [integration],
    });
    const relayPort = await ask<number>(relay, { kind: 'relay', sinkPort, connection: {}, brandId });
    const [endpoint] = endpoints;
    if (endpoint === undefined) throw new Error('no endpoint');
    const postmaster = postmasterUnder(folder);
    const nodeMs = async (child: typeof service) => {
      const { user, system } = await ask<NodeJS.CpuUsage>(child, { ask: 'cpu' });
      return (user + system) / 1000;
    };
    let expected = 0;
    const ports = new Map([
      [service, port],
      [relay, relayPort],
    ]);
    const send = async (child: typeof service, run: string, more: Partial<Job>) => {
      const target = { ...endpoint, brandId, port: ports.get(child) ?? 0 };
      const job: Job = { target, run, connections: 64, count, reservations: count / 2, ...more };
      const before = { node: await nodeMs(child), server: serverMs(postmaster), at: performance.now() };
      const outcome = await ask<Outcome>(sender, job);
      expected += job.count;
      await arrived(sink, expected);
      const seconds = (performance.now() - before.at) / 1000;
      const [node, server] = [(await nodeMs(child)) - before.node, serverMs(postmaster) - before.server];
      return { outcome, perSecond: job.count / seconds, nodeMs: node / job.count, postgresMs: server / job.count };
    };
    for (const child of [service, relay]) await send(child, `warm-${child === relay}`, { count: warmUp });
    const own: Awaited<ReturnType<typeof send>>[] = [];
    const relayed: typeof own = [];
    for (let round = 0; round < rounds; round++) {
      own.push(await send(service, `own-${round}`, {}));
      relayed.push(await send(relay, `relay-${round}`, {}));
    }
    const slowly = async (child: typeof service, run: string) => {
      const { outcome } = await send(child, run, { count: 500, reservations: 1e9, rate: 50 });
      const times = await ask<Record<string, number>>(sink, { ask: 'times' });
      const took = outcome.sentAt.map((sent, n) => (times[`${run}-R${n}`] ?? Infinity) - sent).sort((a, b) => a - b);
      return { p50: took[Math.floor(took.length * 0.5)] ?? NaN, p99: took[Math.floor(took.length * 0.99)] ?? NaN };
    };
    const slow = await slowly(service, 'slow');
    const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
    const keeper = start('./server.ts');
    ports.set(keeper, await ask<number>(keeper, { kind: 'least', sinkPort, connection: server.connection, brandId }));
    await send(keeper, 'warm-least', {});
    const least = await slowly(keeper, 'slow-least');
    await end(keeper);
    await server.release();
    return {
      perSecond: median(own.map((one) => one.perSecond)),
      relayPerSecond: median(relayed.map((one) => one.perSecond)),
      nodeMs: median(own.map((one) => one.nodeMs)),
      postgresMs: median(own.map((one) => one.postgresMs)),
      relayMs: median(relayed.map((one) => one.nodeMs)),
      p50Ms: slow.p50,
      p99Ms: slow.p99,
      leastP50Ms: least.p50,
      leastP99Ms: least.p99,
    };
  } finally {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

export const median = (values: readonly number[]): number =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? NaN;

export async function arrived(sink: ReturnType<typeof start>, count: number): Promise<void> {
  const deadline = performance.now() + 120_000;
  while ((await ask<{ arrivals: number }>(sink, { ask: 'arrivals' })).arrivals < count) {
    if (performance.now() > deadline) throw new Error('changes did not arrive in 120 s');
    await systemClock.wait(10);
  }
}
