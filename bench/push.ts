/**
 * Push: how many events per second are accepted durably (fsync on) compared with a bare server of the same framework, and the
 * highest rate at which they reach an http destination without a growing backlog.
 *
 *   scripts/bench push            both
 *   scripts/bench push accept     only the comparison; also: sustained
 */
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { mintEndpointId, mintSecret } from '../src/core/intake/push/mint.ts';
import { migrate } from '../src/core/store/db/migrate.ts';
import { openPool, serviceSchema, transaction } from '../src/core/store/db/pool.ts';
import { issueEndpoint } from '../src/core/store/events/endpoints.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';
import type { Job, Outcome } from './push/load.ts';
import { ask, end, endAll, start } from './push/processes.ts';
import type { Target } from './push/requests.ts';
import { plainSealer, type ServerJob } from './push/server.ts';
import type { ServiceAddress } from './push/service.ts';
import type { SinkQuestion } from './push/sink.ts';
import { brandId, integration, pushingText, sinkText, writeBenchWorkspace, writeDocuments } from './push/workspace.ts';

/** The same, with a destination that accepts several changes per request. */
const inBatches = 'bench-plaza';

export async function run(args: readonly string[]): Promise<void> {
  const parts = args.length > 0 ? args : ['accept', 'sustained'];
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    if (parts.includes('accept')) await accepting(path.join(folder, 'accept'));
    if (parts.includes('sustained')) await delivering(path.join(folder, 'deliver'));
  } finally {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Requests per second of a bare server and of durable acceptance, for the table of all figures. */
export async function measureAccept(): Promise<Accepted> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    return await accepting(folder);
  } finally {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

/** V8 compiles the path in several steps: after 3,000 requests one takes 260 µs, after 20,000 it takes 180 µs (2 cores arm64). */
const warmUp = 25_000;

interface Accepted {
  readonly bare: number;
  /** A server that does the least to keep an event. */
  readonly least: number;
  readonly group: number;
}

async function accepting(folder: string): Promise<Accepted> {
  await mkdir(folder, { recursive: true });
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = openPool({ connection: server.connection, applicationName: 'bench' });
  try {
    await migrate(pool);
    const mint = { endpointId: mintEndpointId, secret: mintSecret };
    const issued = await transaction(pool, (tx) => issueEndpoint(tx, integration, plainSealer, mint));
    const fsync = (await pool.query('show fsync')).rows[0].fsync;
    const sender = start('./load.ts');
    const opened = async (kind: ServerJob['kind'], warmUp: number) => {
      const child = start('./server.ts');
      const port = await ask<number>(child, { kind, connection: server.connection, brandId });
      const target: Target = { port, endpointId: issued.endpointId, secret: issued.secret ?? '', brandId };
      const measure = async (run: string, load: Partial<Job>): Promise<Outcome & { cpuMicros: number }> => {
        const job: Job = { target, connections: 64, count: 2_000, reservations: 1e9, run: `${kind}-${run}`, ...load };
        const before = await ask<NodeJS.CpuUsage>(child, { ask: 'cpu' });
        const outcome = await ask<Outcome>(sender, job);
        const after = await ask<NodeJS.CpuUsage>(child, { ask: 'cpu' });
        const cpuMicros = (after.user + after.system - before.user - before.system) / job.count;
        return { ...outcome, cpuMicros };
      };
      await measure('warm', { count: warmUp });
      return { measure, close: () => end(child) };
    };
    console.log(`accepted per second, 64 connections, fsync ${fsync}; three alternating rounds, median`);
    const kinds = ['bare', 'least', 'group', 'naive'] as const;
    const rates: Record<(typeof kinds)[number], number[]> = { bare: [], least: [], group: [], naive: [] };
    const cpu: Record<(typeof kinds)[number], number[]> = { bare: [], least: [], group: [], naive: [] };
    const servers = [];
    for (const kind of kinds) servers.push({ kind, ...(await opened(kind, kind === 'naive' ? 3_000 : warmUp)) });
    for (let round = 0; round < 3; round++) {
      for (const { kind, measure } of servers) {
        const count = kind === 'naive' ? 2_000 : 15_000;
        const { seconds, cpuMicros } = await measure(String(round), { count });
        cpu[kind].push(cpuMicros);
        rates[kind].push(count / seconds);
      }
    }
    for (const { close } of servers) await close();
    const median = (values: readonly number[]) => [...values].sort((a, b) => a - b)[1] ?? 0;
    const middle = (kind: (typeof kinds)[number]) => median(rates[kind]);
    // On a busy machine, processor time is more meaningful than the rates.
    const load = os.loadavg()[0]?.toFixed(1);
    console.log(`  machine load ${load} on ${os.cpus().length} processors; processor time of the server per request:`);
    console.log(`  ${kinds.map((kind) => `${kind} ${median(cpu[kind]).toFixed(0)} µs`).join(', ')}`);
    const share = (kind: (typeof kinds)[number]) => `${((100 * middle(kind)) / middle('bare')).toFixed(0)} % of bare`;
    row('bare server (parses JSON, answers 202)', middle('bare'), '');
    row('least (signature, JSON, one row, groups)', middle('least'), share('least'));
    row('innbound, group commit', middle('group'), share('group'));
    row('one insert per request', middle('naive'), share('naive'));
    return { bare: middle('bare'), least: middle('least'), group: middle('group') };
  } finally {
    await pool.end();
    await server.release();
  }
}

function row(name: string, rate: number, note: string): void {
  console.log(`  ${name.padEnd(40)} ${Math.round(rate).toString().padStart(7)}/s  ${note}`);
}

const at = (sorted: readonly number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
const quantiles = (sorted: readonly number[]) =>
  `p50 ${at(sorted, 0.5).toFixed(1)} ms, p99 ${at(sorted, 0.99).toFixed(1)} ms, most ${at(sorted, 1).toFixed(1)} ms`;

async function delivering(folder: string): Promise<void> {
  const sink = start('./sink.ts');
  const sinkPort = await askSink<number>(sink, { ask: 'port' });
  await writeWorkspace(folder, sinkPort);
  const service = start('./service.ts', { INNBOUND_ALLOW_PRIVATE_NETWORK: '1' });
  const sender = start('./load.ts');
  const { port, endpoints } = await ask<ServiceAddress>(service, {
    workspaceDir: folder,
    integrations: [integration, inBatches],
  });
  const [single, batched] = endpoints.map((endpoint): Job => {
    const target: Target = { port, ...endpoint, brandId };
    return { target, run: 'warm', connections: 64, count: 1_500, reservations: 1e9, rate: 300 };
  });
  if (single === undefined || batched === undefined) throw new Error('no endpoint');
  await ask<Outcome>(sender, single);
  await arrived(sink, 1_500, 60);
  console.log('one request per change:');
  await sustained(folder, sender, sink, single);
  console.log('batches of up to 50 changes, gathered for 20 ms:');
  await sustained(folder, sender, sink, batched);
  await end(service);
}

/** Raises the rate until a backlog builds up. */
async function sustained(
  folder: string,
  sender: ReturnType<typeof start>,
  sink: ReturnType<typeof start>,
  job: Job,
): Promise<void> {
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = new pg.Pool({ ...server.connection, options: `-c search_path=${serviceSchema}`, max: 1 });
  let best = 0;
  try {
    for (const rate of [600, 900, 1_200, 1_500, 1_800, 2_200]) {
      const count = rate * 10;
      const { arrivals: before } = await askSink<{ arrivals: number }>(sink, { ask: 'arrivals' });
      const outcome = await ask<Outcome>(sender, {
        ...job,
        run: `${job.target.endpointId}-${rate}`,
        rate,
        count,
        reservations: 5_000,
        connections: 128,
      });
      const { arrivals: after } = await askSink<{ arrivals: number }>(sink, { ask: 'arrivals' });
      const { rows } = await pool.query<{ events: number; outbox: number }>(
        `select (select count(*)::int from events where state = 'pending') as events,
                (select count(*)::int from outbox where due_at is not null) as outbox`,
      );
      const accepted = count / outcome.seconds;
      const behind = before + count - after;
      console.log(
        `  offered ${rate}/s for 10 s: accepted ${accepted.toFixed(0)}/s, backlog at the end ${behind} (events ${rows[0]?.events}, outbox ${rows[0]?.outbox}); ack ${quantiles(outcome.latencies)}`,
      );
      await arrived(sink, before + count, 120);
      // Half a second's worth may be in flight; more is a backlog.
      if (behind > rate / 2 || accepted < rate * 0.97) break;
      best = rate;
    }
    console.log(`accept to delivered without a growing backlog: ${best} per second`);
  } finally {
    await pool.end();
    await server.release();
  }
}

async function arrived(sink: ReturnType<typeof start>, count: number, atMostS: number): Promise<void> {
  const deadline = Date.now() + atMostS * 1000;
  for (;;) {
    const { arrivals } = await askSink<{ arrivals: number }>(sink, { ask: 'arrivals' });
    if (arrivals >= count) return;
    if (Date.now() > deadline) throw new Error(`only ${arrivals} of ${count} changes arrived in ${atMostS} s`);
    await systemClock.wait(50);
  }
}

const askSink = <Answer>(sink: ReturnType<typeof start>, question: SinkQuestion) => ask<Answer>(sink, question);

async function writeWorkspace(folder: string, sinkPort: number): Promise<void> {
  await writeBenchWorkspace(folder, sinkPort);
  await writeDocuments(folder, {
    [`integrations/${inBatches}.yaml`]: pushingText(inBatches, 'sink-of-batches'),
    'destinations/sink-of-batches.yaml': sinkText('sink-of-batches', sinkPort, 'batch: { size: 50, wait: 20ms }'),
  });
}
