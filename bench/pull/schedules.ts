import { pino } from 'pino';
import { startRunner } from '../../src/intake/pull/runner.ts';
import { startScheduler } from '../../src/intake/pull/schedule.ts';
import { pullPorts } from '../../src/ports/pull.ts';
import { alignSchedules, msToNextStart, type Schedule, startDue } from '../../src/store/runs/schedules.ts';
import { type IntegrationName, syncTypes } from '../../src/terms.ts';
import { cpuMs } from './cpu.ts';
import type { BenchWorkspace } from './workspace.ts';

/** The cost of ten thousand brands with three syncs each, for an idle node and for one that only queues due runs. */
export async function schedules(
  { runtime, postmaster }: BenchWorkspace,
  integrations: number,
  seconds: number,
): Promise<void> {
  const list: Schedule[] = Array.from({ length: integrations }, (_, i) =>
    syncTypes.map((sync) => ({ integration: `brand${i}` as IntegrationName, sync, everyMs: 1_800_000 })),
  ).flat();
  const alignedAt = performance.now();
  await alignSchedules(runtime.pool, list);
  console.log(`  ${list.length} schedules aligned in ${Math.round(performance.now() - alignedAt)} ms`);
  for (const [name, nextAt] of [
    ['nothing due', `now() + interval '1 hour'`],
    ['starts spread over half an hour, queued and not run', `now() + random() * interval '30 minutes'`],
  ] as const) {
    await runtime.pool.query(`update syncs set next_at = ${nextAt}`);
    await runtime.pool.query('vacuum analyze syncs');
    const ports = pullPorts(runtime);
    const wait = (maxMs: number, signal: AbortSignal) => ports.clock.wait(maxMs, signal);
    let started = 0;
    const loops = [
      startScheduler({
        log: pino({ level: 'silent' }),
        wait,
        documents: () => list,
        align: async () => {},
        startDue: async (most) => {
          const due = await startDue(runtime.pool, most);
          started += due.started;
          return due;
        },
        msToNextStart: () => msToNextStart(runtime.pool),
        queued: () => {},
      }),
      startRunner({ ...ports, runs: { ...ports.runs, claimDue: async () => [] } }),
    ];
    const before = cpuMs(postmaster);
    await new Promise((resolve) => setTimeout(resolve, seconds * 1000));
    const after = cpuMs(postmaster);
    await Promise.all(loops.map((loop) => loop.stop()));
    const share = (ms: number) => `${(ms / (seconds * 10)).toFixed(2)} % of a core`;
    console.log(
      `  ${name}: node ${share(after.node - before.node)}, PostgreSQL ${share(after.server - before.server)}, ${started} starts in ${seconds} s`,
    );
  }
}
