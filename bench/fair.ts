/** Fair shares between brands: a quiet brand, alone and beside the backfill of another one: time to the destination. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { signalNodes } from '../src/core/store/db/signals.ts';
import { queueRun } from '../src/core/store/runs/runs.ts';
import { systemClock } from '../src/kit/clock.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';
import type { IntegrationName, LocalDate } from '../src/terms.ts';
import { pullingConnectorText, pullingText } from './pull/documents.ts';
import { firstDay, lastDay } from './pull/workspace.ts';
import type { Job, Outcome } from './push/load.ts';
import { ask, end, endAll, start } from './push/processes.ts';
import type { ServiceAddress } from './push/service.ts';
import { brandId, pushingText, sinkText, writeDocuments } from './push/workspace.ts';

const backfilled = 60_000;

export async function run(): Promise<void> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const partner = fork(new URL('./pull/partner.ts', import.meta.url), [String(backfilled)]);
  const [partnerPort] = (await once(partner, 'message')) as [number];
  const sink = start('./sink.ts');
  await writeWorkspace(path.join(folder, 'node'), await ask<number>(sink, { ask: 'port' }), partnerPort);
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const { host, user, database } = server.connection as { host: string; user: string; database: string };
  const pool = openPool({ connection: server.connection, applicationName: 'bench' });
  const env = {
    DATABASE_URL: `postgres://${user}@/${database}?host=${encodeURIComponent(host)}`,
    INNBOUND_KEY: 'A'.repeat(43),
    INNBOUND_ALLOW_PRIVATE_NETWORK: '1',
  };
  try {
    const { port, endpoints } = await ask<ServiceAddress>(start('./service.ts', env), {
      workspaceDir: path.join(folder, 'node'),
      integrations: ['quiet'],
    });
    const [endpoint] = endpoints;
    if (endpoint === undefined) throw new Error('no endpoint');
    await fair(pool, sink, { ...endpoint, port, brandId });
  } finally {
    await endAll();
    partner.kill();
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Five events a second of a quiet brand. The backfill of another brand goes to the same destination through the same node. */
async function fair(pool: Pool, sink: ChildProcess, target: Job['target']): Promise<void> {
  const sender = start('./load.ts');
  const measure = async (run: string): Promise<string> => {
    const job: Job = { target, run, count: 150, reservations: 1e9, rate: 5, connections: 4 };
    const outcome = await ask<Outcome>(sender, job);
    const times = async () => ask<Record<string, number>>(sink, { ask: 'times' });
    await until(async () => `${run}-R149` in (await times()));
    const arrived = await times();
    const took = outcome.sentAt.map((sent, n) => (arrived[`${run}-R${n}`] ?? Infinity) - sent).sort((a, b) => a - b);
    return `accepted ${quantiles(outcome.latencies)}; at the destination ${quantiles(took)}`;
  };
  await measure('warm');
  console.log(`a quiet brand, 5 events a second, one node${loadNote()}`);
  console.log(`  alone: ${await measure('alone')}`);
  await queueRun(pool, {
    integration: 'busy' as IntegrationName,
    kind: 'backfill',
    from: firstDay as LocalDate,
    to: lastDay(backfilled) as LocalDate,
    requestedBy: 'bench',
  });
  await signalNodes(pool, 'runs');
  await until(async () => (await fetched(pool)) > 1_000);
  const from = await fetched(pool);
  const beside = await measure('beside');
  const to = await fetched(pool);
  const { rows } = await pool.query<{ waiting: number }>(
    `select count(*)::int as waiting from outbox where integration = 'busy' and due_at is not null`,
  );
  console.log(`  beside a backfill: ${beside}`);
  console.log(
    `  the backfill read ${to - from} reservations meanwhile, ${rows[0]?.waiting} of its changes wait${loadNote()}`,
  );
  await until(async () => !(await isRunning(pool)), 600);
  await until(async () => (await waiting(pool)) === 0, 600);
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
    'integrations/quiet.yaml': pushingText('quiet', 'sink'),
  });
}
