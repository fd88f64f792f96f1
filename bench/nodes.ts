/**
 * Many nodes on one PostgreSQL, and fair shares between brands:
 *
 *   scripts/bench nodes              both parts, some four minutes
 *   scripts/bench nodes curve        1 to 4 processes: events accepted and delivered per second, processor time per event
 *   scripts/bench nodes fair         a quiet brand, alone and beside the backfill of another one: time to the destination
 *
 * All processes share the machine with PostgreSQL, sender and destination. So the rate stops rising when the processors are used up;
 * processor time per event that stays flat shows that nodes do not slow each other down.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openPrivatePostgres } from '../src/embedded-postgres/open.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openPool, type Pool } from '../src/store/db/pool.ts';
import { signalNodes } from '../src/store/db/signals.ts';
import { queueRun } from '../src/store/runs/runs.ts';
import type { IntegrationName, LocalDate } from '../src/terms.ts';
import { postmasterOf, serverMs } from './pull/cpu.ts';
import { pullingConnectorText, pullingText } from './pull/documents.ts';
import { firstDay, lastDay } from './pull/workspace.ts';
import type { Job, Outcome } from './push/load.ts';
import { ask, end, endAll, start } from './push/processes.ts';
import type { ServiceAddress } from './push/service.ts';
import { brandId, pushingText, sinkText, writeDocuments } from './push/workspace.ts';

const brands = ['one', 'two', 'three', 'four'];
const mostNodes = 4;
const perBrand = 2_000;
const backfilled = 60_000;

export async function run(args: readonly string[]): Promise<void> {
  const parts = args.length > 0 ? args : ['curve', 'fair'];
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const partner = fork(new URL('./pull/partner.ts', import.meta.url), [String(backfilled)]);
  const [partnerPort] = (await once(partner, 'message')) as [number];
  const sink = start('./sink.ts');
  await writeWorkspace(path.join(folder, 'node'), await ask<number>(sink, { ask: 'port' }), partnerPort);
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const { host, user, database } = server.connection as { host: string; user: string; database: string };
  const pool = openPool({ connection: server.connection, applicationName: 'bench' });
  const bench: Bench = {
    pool,
    sink,
    postmaster: postmasterOf(server.dataDir),
    workspaceDir: path.join(folder, 'node'),
    env: {
      DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`,
      INNBOUND_KEY: 'A'.repeat(43),
      INNBOUND_ALLOW_PRIVATE_NETWORK: '1',
    },
    nodes: [],
    endpoints: new Map(),
  };
  try {
    await addNode(bench);
    if (parts.includes('fair')) await fair(bench);
    if (parts.includes('curve')) await curve(bench);
  } finally {
    await endAll();
    partner.kill();
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Bench {
  readonly pool: Pool;
  readonly sink: ChildProcess;
  readonly postmaster: number;
  readonly workspaceDir: string;
  readonly env: Record<string, string>;
  readonly nodes: { readonly child: ChildProcess; readonly port: number }[];
  /** The secret of an endpoint is shown once, when it is issued. */
  readonly endpoints: Map<string, ServiceAddress['endpoints'][number]>;
}

async function addNode(bench: Bench): Promise<void> {
  const child = start('./service.ts', bench.env);
  const integrations = [...brands, 'quiet'];
  const { port, endpoints } = await ask<ServiceAddress>(child, { workspaceDir: bench.workspaceDir, integrations });
  for (const [i, endpoint] of endpoints.entries()) {
    const name = integrations[i] ?? '';
    if (!bench.endpoints.has(name)) bench.endpoints.set(name, endpoint);
  }
  bench.nodes.push({ child, port });
}

function jobFor(bench: Bench, brand: string, node: number, run: string): Job {
  const endpoint = bench.endpoints.get(brand);
  const port = bench.nodes[node]?.port;
  if (endpoint === undefined || port === undefined) throw new Error(`no endpoint of ${brand}`);
  return { target: { ...endpoint, port, brandId }, run, connections: 16, count: perBrand, reservations: perBrand / 2 };
}

/** Every sender waits for its answer; four brands over 1 to 4 nodes. */
async function curve(bench: Bench): Promise<void> {
  console.log(
    `${brands.length * perBrand} events of ${brands.length} brands, half of them updates, delivered one by one`,
  );
  const senders = brands.map(() => start('./load.ts'));
  const round = async (run: string) => {
    const before = await used(bench);
    const startedAt = performance.now();
    const expected = (await arrivals(bench)) + brands.length * perBrand;
    await Promise.all(
      brands.map((brand, i) =>
        ask<Outcome>(senders[i] as ChildProcess, jobFor(bench, brand, i % bench.nodes.length, `${run}-${brand}`)),
      ),
    );
    await until(async () => (await arrivals(bench)) >= expected);
    const seconds = (performance.now() - startedAt) / 1000;
    const after = await used(bench);
    const perEvent = (ms: number) => (ms / (brands.length * perBrand)).toFixed(2);
    return {
      perSecond: Math.round((brands.length * perBrand) / seconds),
      node: perEvent(after.nodes - before.nodes),
      postgres: perEvent(after.postgres - before.postgres),
    };
  };
  await round('warm');
  for (let nodes = 1; nodes <= mostNodes; nodes++) {
    while (bench.nodes.length < nodes) await addNode(bench);
    if (nodes > 1) await round(`warm-${nodes}`);
    const { perSecond, node, postgres } = await round(`nodes-${nodes}`);
    console.log(
      `  ${nodes} ${nodes === 1 ? 'node' : 'nodes'}: ${perSecond}/s, nodes ${node} ms, PostgreSQL ${postgres} ms of processor an event${loadNote()}`,
    );
  }
  await Promise.all(senders.map(end));
}

/** Five events a second of a quiet brand. The backfill of another brand goes to the same destination through the same node. */
async function fair(bench: Bench): Promise<void> {
  const sender = start('./load.ts');
  const measure = async (run: string): Promise<string> => {
    const job = { ...jobFor(bench, 'quiet', 0, run), count: 150, reservations: 1e9, rate: 5, connections: 4 };
    const outcome = await ask<Outcome>(sender, job);
    const times = async () => ask<Record<string, number>>(bench.sink, { ask: 'times' });
    await until(async () => `${run}-R149` in (await times()));
    const arrived = await times();
    const took = outcome.sentAt.map((sent, n) => (arrived[`${run}-R${n}`] ?? Infinity) - sent).sort((a, b) => a - b);
    return `accepted ${quantiles(outcome.latencies)}; at the destination ${quantiles(took)}`;
  };
  await measure('warm');
  console.log(`a quiet brand, 5 events a second, one node${loadNote()}`);
  console.log(`  alone: ${await measure('alone')}`);
  await queueRun(bench.pool, {
    integration: 'busy' as IntegrationName,
    kind: 'backfill',
    from: firstDay as LocalDate,
    to: lastDay(backfilled) as LocalDate,
    requestedBy: 'bench',
  });
  await signalNodes(bench.pool, 'runs');
  await until(async () => (await fetched(bench.pool)) > 1_000);
  const from = await fetched(bench.pool);
  const beside = await measure('beside');
  const to = await fetched(bench.pool);
  const { rows } = await bench.pool.query<{ waiting: number }>(
    `select count(*)::int as waiting from outbox where integration = 'busy' and due_at is not null`,
  );
  console.log(`  beside a backfill: ${beside}`);
  console.log(
    `  the backfill read ${to - from} reservations meanwhile, ${rows[0]?.waiting} of its changes wait${loadNote()}`,
  );
  await until(async () => !(await isRunning(bench.pool)), 600);
  await until(async () => (await waiting(bench.pool)) === 0, 600);
  await end(sender);
}

async function fetched(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ fetched: number }>(`select fetched from runs where integration = 'busy'`);
  return rows[0]?.fetched ?? 0;
}

async function isRunning(pool: Pool): Promise<boolean> {
  const { rows } = await pool.query(`select from runs where integration = 'busy' and state in ('queued', 'running')`);
  return rows.length > 0;
}

async function waiting(pool: Pool): Promise<number> {
  const { rows } = await pool.query('select from outbox where due_at is not null limit 1');
  return rows.length;
}

const arrivals = async ({ sink }: Bench): Promise<number> =>
  (await ask<{ arrivals: number }>(sink, { ask: 'arrivals' })).arrivals;

async function used({ nodes, postmaster }: Bench): Promise<{ nodes: number; postgres: number }> {
  let sum = 0;
  for (const { child } of nodes) {
    const { user, system } = await ask<NodeJS.CpuUsage>(child, { ask: 'cpu' });
    sum += (user + system) / 1000;
  }
  return { nodes: sum, postgres: serverMs(postmaster) };
}

async function until(isDone: () => Promise<boolean>, seconds = 180): Promise<void> {
  const deadline = performance.now() + seconds * 1000;
  while (!(await isDone())) {
    if (performance.now() > deadline) throw new Error(`not done in ${seconds} s`);
    await systemClock.wait(50);
  }
}

const at = (sorted: readonly number[], q: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))];
const quantiles = (sorted: readonly number[]) =>
  `p50 ${at(sorted, 0.5)?.toFixed(1)} ms, p99 ${at(sorted, 0.99)?.toFixed(1)} ms`;
const loadNote = () => ` (load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors)`;

function writeWorkspace(folder: string, sinkPort: number, partnerPort: number): Promise<void> {
  const partnerUrl = `http://127.0.0.1:${partnerPort}`;
  return writeDocuments(folder, {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/bench-pms.yaml': 'connector: bench-pms\n',
    'connectors/bench-pull.yaml': pullingConnectorText('bench-pull'),
    'integrations/busy.yaml': pullingText({
      name: 'busy',
      connector: 'bench-pull',
      brandId,
      partnerUrl,
      destination: 'sink',
    }),
    'destinations/sink.yaml': sinkText('sink', sinkPort, 'concurrency: 16'),
    ...Object.fromEntries([...brands, 'quiet'].map((name) => [`integrations/${name}.yaml`, pushingText(name, 'sink')])),
  });
}
