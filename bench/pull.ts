import pg from 'pg';
import { backfill, copyAlone, fetchAlone } from './pull/backfill.ts';
import { cpuMs } from './pull/cpu.ts';
import { daysOf, openWorkspace } from './pull/workspace.ts';

/**
 * Targets: a backfill of 100,000 reservations in pages of 200 into the postgres destination takes at most 2.5 times as long as
 * fetching, parsing and copying alone; a poll without changes processes 20,000 records per second without writing a reservation.
 *
 *   bench pull [--count N] [--offset]      --offset: the list is paged by offset, not by cursor
 */
export async function run(args: readonly string[]): Promise<void> {
  const count = args.includes('--count') ? Number(args[args.indexOf('--count') + 1]) : 100_000;
  await throughput(count, args.includes('--offset') ? 'offset' : 'cursor');
}

export interface Throughput {
  readonly seconds: number;
  readonly cpuSeconds: number;
  /** Fetching, parsing and copying alone. */
  readonly leastSeconds: number;
  readonly leastCpuSeconds: number;
  readonly unchangedPerSecond: number;
}

/** Reservations of other days first, until V8 has compiled the path. */
const warmUp = 20_000;

export async function throughput(count: number, paging: 'cursor' | 'offset' = 'cursor'): Promise<Throughput> {
  const workspace = await openWorkspace(warmUp + count, paging);
  const days = daysOf(warmUp, count);
  /** Measures wall-clock and processor time; the latter is meaningful on a busy machine too. */
  const timed = async <T>(
    name: string,
    work: () => Promise<T>,
  ): Promise<{ value: T; seconds: number; cpu: number }> => {
    const before = cpuMs(workspace.postmaster);
    const startedAt = performance.now();
    const value = await work();
    const seconds = (performance.now() - startedAt) / 1000;
    const after = cpuMs(workspace.postmaster);
    const [node, server] = [(after.node - before.node) / 1000, (after.server - before.server) / 1000];
    const cells = [name.padEnd(22), `${seconds.toFixed(1)} s`, `${Math.round(count / seconds)}/s`.padStart(9)];
    console.log(`${cells.join('  ')}   processor: node ${node.toFixed(1)} s, PostgreSQL ${server.toFixed(1)} s`);
    return { value, seconds, cpu: node + server };
  };
  /** Hashes the location and transaction of every row: if it does not change, nothing was written. */
  const rowsAsWritten = async () =>
    (
      await workspace.runtime.pool.query<{ sum: string }>(
        `select sum(hashtextextended(id || ctid::text || xmin::text, 0))::text as sum from records where type = 'reservation'`,
      )
    ).rows[0]?.sum;
  try {
    await fetchAlone(workspace, daysOf(0, warmUp));
    await backfill(workspace, daysOf(0, warmUp));
    const fetched = await timed('fetch and parse alone', () => fetchAlone(workspace, days));
    const client = new pg.Client(workspace.server.connection as pg.ClientConfig);
    await client.connect();
    const copied = await timed('copy alone', () => copyAlone(client, fetched.value.rows));
    await client.query('drop schema copied cascade');
    await client.end();
    const first = await timed('backfill, delivered', () => backfill(workspace, days));
    const least = fetched.seconds + copied.seconds;
    console.log(
      `  ${(first.seconds / least).toFixed(2)} times the sum in wall-clock time, ${(first.cpu / (fetched.cpu + copied.cpu)).toFixed(2)} in processor time (target 2.5); ${first.value.result.state}, the run alone ${first.value.runSeconds.toFixed(1)} s`,
    );
    const before = await rowsAsWritten();
    const again = await timed('poll, nothing changed', () => backfill(workspace, days));
    const { unchanged, requests } = again.value.result.counters;
    const untouched = (await rowsAsWritten()) === before ? 'no' : 'SOME';
    const unchangedPerSecond = count / again.value.runSeconds;
    console.log(
      `  ${Math.round(unchangedPerSecond)}/s (target 20,000/s), ${unchanged} unchanged, ${untouched} writes to reservations, ${requests} requests`,
    );
    return {
      seconds: first.seconds,
      cpuSeconds: first.cpu,
      leastSeconds: least,
      leastCpuSeconds: fetched.cpu + copied.cpu,
      unchangedPerSecond,
    };
  } finally {
    await workspace.close();
  }
}
