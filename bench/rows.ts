/**
 * What an event costs as the tables grow, and while a reader holds a snapshot, so that no dead row can be removed:
 * `npm run bench -- rows [--keep FOLDER] [SIZE...]`, by default 100,000 and 1,000,000 stored reservations with five receipts each.
 * 10,000,000 take 22 GB of disk, and more than half an hour. With `--keep` the database stays in the folder, and the next run measures it again without filling.
 * Only processor time is measured, of PostgreSQL and of the node, so that other work on the machine matters little.
 */
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import pg from 'pg';
import { openPool, type Pool } from '../src/core/store/db/pool.ts';
import { superuser } from '../src/operator/embedded-postgres/cluster.ts';
import { openPrivatePostgres } from '../src/operator/embedded-postgres/open.ts';
import { ask, endAll, start } from './push/processes.ts';
import { writeBenchWorkspace } from './push/workspace.ts';
import { fill, gigabytes, keepFirstRows } from './rows/fill.ts';
import { brands, type Node, type Progress, withNode } from './rows/node.ts';

const perMeasurement = 2_000;
/** Fewer reservations would get several updates at the same time, of which one may supersede another. */
const leastSize = 2_000;

export async function run(args: readonly string[]): Promise<void> {
  const { values, positionals } = parseArgs({
    args: [...args],
    options: { keep: { type: 'string' } },
    allowPositionals: true,
  });
  const sizes = positionals.length > 0 ? positionals.map(Number) : [100_000, 1_000_000];
  const wrong = sizes.find((size) => !Number.isInteger(size) || size < leastSize);
  if (wrong !== undefined) throw new Error(`SIZE must be a whole number of at least ${leastSize} reservations`);
  const folder = values.keep ?? (await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-')));
  await mkdir(folder, { recursive: true });
  const progressFile = path.join(folder, 'progress.json');
  const progress: Progress = existsSync(progressFile)
    ? (JSON.parse(await readFile(progressFile, 'utf8')) as Progress)
    : { endpoints: [], stored: 0, next: 0 };
  try {
    const sink = start('./sink.ts');
    await writeBenchWorkspace(folder, await ask<number>(sink, { ask: 'port' }), { brands, concurrency: 16 });
    const server = await openPrivatePostgres(folder, { purpose: 'command', describe: 'bench' });
    const pool = openPool({
      connection: { ...server.connection, user: superuser },
      applicationName: 'bench',
      statementMs: 3_600_000,
    });
    try {
      if (progress.stored === 0) {
        await withNode(folder, sink, progress, (node) => node.send(brands.length));
        await keepFirstRows(pool);
      }
      for (const size of sizes) {
        if (progress.stored !== size) {
          const seconds = await fill(pool, size, brands.length);
          console.log(`${size} reservations, ${await gigabytes(pool)} GB, filled in ${seconds} s`);
          Object.assign(progress, { stored: size, next: Math.max(progress.next, size) });
        }
        await withNode(folder, sink, progress, async (node) => {
          await node.send(500);
          await measure(pool, '  alone', node);
          // Not from the pool, whose connections may not be idle in a transaction for long.
          const reader = new pg.Client(server.connection);
          await reader.connect();
          await reader.query('begin isolation level repeatable read');
          await reader.query('select count(*) from pg_class');
          await measure(pool, '  a reader holds a snapshot', node);
          await node.send(5 * perMeasurement);
          await measure(pool, `  the same, after ${6 * perMeasurement} more events`, node);
          await reader.end();
        });
      }
    } finally {
      await writeFile(progressFile, JSON.stringify(progress));
      await pool.end();
      await server.release();
    }
  } finally {
    await endAll();
    if (values.keep === undefined) await rm(folder, { recursive: true, force: true });
  }
}

async function measure(pool: Pool, what: string, node: Node): Promise<void> {
  const before = await pageUse(pool);
  const used = await node.send(perMeasurement);
  const after = await pageUse(pool);
  const ms = (value: number) => (value / perMeasurement).toFixed(2);
  const pages = (of: Exclude<keyof PageUse, 'relations'>) => ((after[of] - before[of]) / perMeasurement).toFixed(1);
  const load = os.loadavg()[0]?.toFixed(1);
  console.log(
    `${what}: PostgreSQL ${ms(used.postgres)} ms, node ${ms(used.node)} ms an event (load ${load}); pages used ${pages('hit')} (${mostUsed(before, after)}), read ${pages('read')}, logged whole ${pages('whole')}; log ${pages('logKb')} kB`,
  );
}

/** Grows with the work: pages found in PostgreSQL's memory, pages read into it, pages logged whole after a checkpoint. */
interface PageUse {
  readonly hit: number;
  readonly read: number;
  readonly whole: number;
  readonly logKb: number;
  /** Pages used of each table and each index. */
  readonly relations: Readonly<Record<string, number>>;
}

function mostUsed(before: PageUse, after: PageUse): string {
  const used = Object.entries(after.relations).map(([name, pages]) => ({
    name,
    pages: (pages - (before.relations[name] ?? 0)) / perMeasurement,
  }));
  const most = used.sort((one, other) => other.pages - one.pages).slice(0, 6);
  return most.map(({ name, pages }) => `${name} ${pages.toFixed(1)}`).join(', ');
}

/** The server's counters are up to a second behind, which matters little over some thousand events. */
async function pageUse(pool: Pool): Promise<PageUse> {
  const { rows } = await pool.query<PageUse>(
    `select blks_hit as hit, blks_read as read, wal_fpi as whole, (wal_bytes / 1024)::float8 as "logKb",
            (select json_object_agg(relation, used) from (
               select relname as relation, heap_blks_hit + heap_blks_read as used from pg_statio_user_tables
               union all
               select indexrelname, idx_blks_hit + idx_blks_read from pg_statio_user_indexes) u) as relations
       from pg_stat_database, pg_stat_wal where datname = current_database()`,
  );
  return rows[0] as PageUse;
}
