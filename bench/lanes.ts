/**
 * What looking for due work and claiming it cost as brands grow: `npm run bench -- lanes [BRANDS...]`, by default 1,000, 10,000 and 100,000, each
 * with one stored record for one destination.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../src/core/store/db/migrate.ts';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { outboxStore } from '../src/core/store/outbox/settle.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';
import { postmasterOf, serverMs } from './pull/cpu.ts';

const rounds = 30;

export async function run(args: readonly string[]): Promise<void> {
  const sizes = args.length > 0 ? args.map(Number) : [1_000, 10_000, 100_000];
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
  const pool = openPool({ connection: server.connection, applicationName: 'bench', statementMs: 600_000 });
  const postmaster = postmasterOf(server.dataDir);
  try {
    await migrate(pool);
    for (const size of sizes) {
      await pool.query('truncate outbox');
      await pool.query(
        `insert into outbox (integration, destination, type, id, next_version, last_version, delivered_version, fence)
         select 'b' || n, 'crm', 'reservation', 'r1', 1, 1, 0, 1 from generate_series(1, $1) n`,
        [size],
      );
      for (const [what, due] of [
        ['ten brands with due work, the others idle', `case when n <= 10 then now() end`],
        [
          'ten brands with due work, the others with a later retry',
          `now() + case when n <= 10 then interval '0' else interval '1 hour' end`,
        ],
        ['every brand with due work', 'now()'],
      ] as const) {
        await pool.query(
          `update outbox set due_at = w.due from (select n, ${due} as due from generate_series(1, $1) n) w where integration = 'b' || w.n`,
          [size],
        );
        await pool.query('vacuum analyze outbox');
        console.log(`${size} brands, ${what}: ${await measure(pool, postmaster)}`);
      }
    }
    console.log(`machine load ${os.loadavg()[0]?.toFixed(1)} on ${os.cpus().length} processors`);
  } finally {
    await pool.end();
    await server.release();
    await rm(folder, { recursive: true, force: true });
  }
}

async function measure(pool: Pool, postmaster: number): Promise<string> {
  const store = outboxStore(pool);
  const looks = await timed(postmaster, async () => void (await store.nextDueOfAll({ withinMs: 1_000 })));
  const claims = await timed(postmaster, async (i) => {
    const lane = { integration: `b${1 + (i % 10)}`, destination: 'crm' };
    await store.putBack(lane, await store.claim(lane.destination, [lane.integration], 5, 60_000));
  });
  return `look ${looks}; claim and put back ${claims}`;
}

/** Median, 99th percentile and processor time of PostgreSQL and of this process. */
async function timed(postmaster: number, work: (round: number) => Promise<void>): Promise<string> {
  for (let i = 0; i < 5; i++) await work(i);
  const before = { server: serverMs(postmaster), own: process.cpuUsage() };
  const took: number[] = [];
  for (let i = 0; i < rounds; i++) {
    const startedAt = performance.now();
    await work(i);
    took.push(performance.now() - startedAt);
  }
  const { user, system } = process.cpuUsage(before.own);
  const [server, own] = [serverMs(postmaster) - before.server, (user + system) / 1000].map((ms) => ms / rounds);
  const at = (share: number) => took.toSorted((a, b) => a - b)[Math.ceil(share * rounds) - 1]?.toFixed(1);
  return `p50 ${at(0.5)} p99 ${at(0.99)} ms (processor: PostgreSQL ${server?.toFixed(2)}, node ${own?.toFixed(2)} ms)`;
}
