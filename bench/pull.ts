import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { backfill, copyAlone, fetchAlone } from './pull/backfill.ts';
import { schedules } from './pull/schedules.ts';
import { openWorkspace } from './pull/workspace.ts';

/**
 * Aims: a backfill of 100,000 reservations in pages of 200 into the postgres destination within 2.5 times of what fetching and
 * parsing alone and copying alone take together; the same memory at 1,000,000 within 20 %; a poll in which nothing changed at
 * 20,000 records per second without a write to a reservation; 10,000 brands scheduled under 5 % of a core.
 *
 *   bench pull [--count N] [--memory [N]] [--schedules]
 */
export async function run(args: readonly string[]): Promise<void> {
  const numberAfter = (name: string, otherwise: number) =>
    Number(args[args.indexOf(name) + 1] || otherwise) || otherwise;
  const only = ['--memory', '--schedules'].filter((name) => args.includes(name));
  const count = args.includes('--count') ? numberAfter('--count', 100_000) : 100_000;
  if (only.length === 0) await throughput(count);
  if (only.includes('--memory')) {
    await memory(count);
    await memory(numberAfter('--memory', 1_000_000));
  }
  if (only.length === 0 || only.includes('--schedules')) {
    const workspace = await openWorkspace(0);
    console.log('10,000 brands, three syncs each:');
    await schedules(workspace, 10_000, 30).finally(() => workspace.close());
  }
}

async function throughput(count: number): Promise<void> {
  const workspace = await openWorkspace(count);
  try {
    await fetchAlone(workspace, Math.min(count, 5_000));
    const fetched = await fetchAlone(workspace, count);
    const copied = await copyAlone(workspace, fetched.rows);
    const least = fetched.seconds + copied;
    const rate = (seconds: number) => `${Math.round(count / seconds)}/s`;
    console.log(`fetch and parse alone   ${fetched.seconds.toFixed(2)} s  ${rate(fetched.seconds)}`);
    console.log(`copy alone              ${copied.toFixed(2)} s  ${rate(copied)}`);
    const first = await backfill(workspace, count);
    console.log(
      `backfill, run           ${first.runSeconds.toFixed(2)} s  ${rate(first.runSeconds)}  ${first.result.state}, ${first.result.counters.changed} changed`,
    );
    console.log(
      `backfill, delivered     ${first.seconds.toFixed(2)} s  ${rate(first.seconds)}  ${(first.seconds / least).toFixed(2)} times the sum (aim 2.5)`,
    );
    const writes = async () =>
      (
        await workspace.ground.pool.query(
          `select n_tup_upd + n_tup_ins + n_tup_del as n from pg_stat_user_tables where relname = 'records'`,
        )
      ).rows[0].n;
    await workspace.ground.pool.query('select pg_stat_force_next_flush()');
    await new Promise((resolve) => setTimeout(resolve, 1500));
    const before = await writes();
    const again = await backfill(workspace, count);
    await new Promise((resolve) => setTimeout(resolve, 1500));
    console.log(
      `poll, nothing changed   ${again.runSeconds.toFixed(2)} s  ${rate(again.runSeconds)} (aim 20,000/s)  ${again.result.counters.unchanged} unchanged, ${(await writes()) - before} writes to reservations`,
    );
  } finally {
    await workspace.close();
  }
}

/** In a process of its own, so that nothing else is measured. */
async function memory(count: number): Promise<void> {
  const child = fork(fileURLToPath(import.meta.url), ['memory', String(count)], { stdio: 'inherit' });
  await once(child, 'exit');
}

if (process.argv[2] === 'memory' && process.argv[1] === fileURLToPath(import.meta.url)) {
  const count = Number(process.argv[3]);
  const workspace = await openWorkspace(count);
  const { peakRss, seconds, result } = await backfill(workspace, count).finally(() => workspace.close());
  console.log(
    `memory at ${count}: ${Math.round(peakRss / 1e6)} MB at the most, ${Math.round(count / seconds)}/s, ${result.state}`,
  );
}
