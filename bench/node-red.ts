/**
 * The same job by Innbound, by Node-RED and by a bare relay: a signed webhook in, verified and cleaned, one POST per event out; and a
 * list of 20,000 pulled and delivered, one record or 100 in a POST. Rounds alternate; medians. Some five minutes.
 *
 *   scripts/bench node-red [--json FILE] [--rounds N] [--records N]
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type Contestant, startInnbound, startNodeRed, startRelay } from './node-red/contestants.ts';
import { installNodeRed, version } from './node-red/install.ts';
import { arrived, median } from './push/delivered.ts';
import type { Job, Outcome } from './push/load.ts';
import { ask, endAll, start } from './push/processes.ts';

const events = 6_000;
/** Of each, until V8 has compiled the path. */
const warmUp = 30_000;

/** What the figures do not show. */
const kept = [
  [
    'an accepted event survives a crash',
    { Innbound: 'yes, on disk before the 202', 'Node-RED': 'no, memory only', 'bare relay': 'no' },
  ],
  [
    'a delivery that fails is retried',
    { Innbound: 'yes, by policy, then a dead letter', 'Node-RED': 'no', 'bare relay': 'no' },
  ],
  [
    'order of a reservation’s changes',
    { Innbound: 'kept', 'Node-RED': 'not kept', 'bare relay': 'if the sender waits for answers' },
  ],
  [
    'the same event twice',
    { Innbound: 'delivered once', 'Node-RED': 'delivered twice', 'bare relay': 'delivered twice' },
  ],
  [
    'the same list pulled again',
    { Innbound: 'nothing is sent', 'Node-RED': 'everything is sent', 'bare relay': 'everything is sent' },
  ],
] as const;

export async function run(args: readonly string[]): Promise<void> {
  const after = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const rounds = Number(after('--rounds') ?? 3);
  const records = Number(after('--records') ?? 20_000);
  const program = await installNodeRed();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const partner = fork(new URL('./pull/partner.ts', import.meta.url), [String(records)]);
  try {
    const [partnerPort] = (await once(partner, 'message')) as [number];
    const sink = start('./sink.ts');
    const sender = start('./load.ts');
    const sinkPort = await ask<number>(sink, { ask: 'port' });
    const where = { folder, sinkPort, partnerPort, records };
    const innbound = await startInnbound(where, rounds + 1);
    const relay = await startRelay(where, innbound.target);
    const all = [innbound, await startNodeRed(program, where, innbound.target), relay];
    const figures = new Map(all.map(({ name }) => [name, new Map<string, number[]>()]));
    const note = (name: string, figure: string, value: number) => {
      const own = figures.get(name);
      own?.set(figure, [...(own.get(figure) ?? []), value]);
    };
    /** Measures until everything has arrived at the sink. */
    const measured = async (contestant: Contestant, count: number, work: () => Promise<unknown>) => {
      const { arrivals } = await ask<{ arrivals: number }>(sink, { ask: 'arrivals' });
      const [cpu, at] = [await contestant.cpuMs(), performance.now()];
      await work();
      await arrived(sink, arrivals + count);
      return {
        perSecond: (1000 * count) / (performance.now() - at),
        cpuMs: ((await contestant.cpuMs()) - cpu) / count,
      };
    };
    const send = (contestant: Contestant, run: string, more: Partial<Job> = {}) =>
      ask<Outcome>(sender, {
        target: contestant.target,
        run: `${contestant.name}-${run}`,
        connections: 64,
        count: events,
        reservations: events / 2,
        ...more,
      });
    const loads = [os.loadavg()[0] ?? 0];
    for (let round = 0; round <= rounds; round++) {
      for (const contestant of all) {
        const isWarm = round > 0;
        const record = (figure: string, value: number) => isWarm && note(contestant.name, figure, value);
        const count = isWarm ? events : warmUp;
        const push = await measured(contestant, count, () => send(contestant, `push-${round}`, { count }));
        record('events accepted and delivered a second', push.perSecond);
        record('processor time an event, ms', push.cpuMs);
        const slow = { count: 250, reservations: 1e9, rate: 50 };
        let outcome: Outcome | undefined;
        await measured(contestant, slow.count, async () => {
          outcome = await send(contestant, `slow-${round}`, slow);
        });
        const times = await ask<Record<string, number>>(sink, { ask: 'times' });
        const took = (outcome?.sentAt ?? [])
          .map((sent, n) => (times[`${contestant.name}-slow-${round}-R${n}`] ?? Infinity) - sent)
          .sort((a, b) => a - b);
        record('delivered at 50/s, p50 ms', took[Math.floor(took.length * 0.5)] ?? NaN);
        record('delivered at 50/s, p99 ms', took[Math.floor(took.length * 0.99)] ?? NaN);
        for (const size of [1, 100] as const) {
          const pull = await measured(contestant, records, () => contestant.pull(size, round));
          const what = size === 1 ? 'one record a POST' : '100 a POST';
          record(`pull, ${what}, records a second`, pull.perSecond);
          record(`pull, ${what}, processor time a record, ms`, pull.cpuMs);
        }
        console.log(
          `${isWarm ? `round ${round}` : 'warm-up'}: ${contestant.name}, load ${os.loadavg()[0]?.toFixed(1)}`,
        );
      }
      loads.push(os.loadavg()[0] ?? 0);
    }
    const machine = `${os.cpus().length} cores ${os.arch()}, Node ${process.versions.node}, Node-RED ${version}, load ${loads[0]?.toFixed(1)} at the start, ${Math.max(...loads).toFixed(1)} at most (this benchmark included)`;
    const at = new Date().toISOString();
    const names = all.map(({ name }) => name);
    const rows = [...(figures.get(relay.name)?.keys() ?? [])].map((figure) => ({
      figure,
      medians: Object.fromEntries(names.map((name) => [name, median(figures.get(name)?.get(figure) ?? [])])),
    }));
    console.log(`\n${at}, ${machine}; medians of ${rounds} rounds\n`);
    console.log(`| figure | ${names.join(' | ')} |\n|---|${names.map(() => '---|').join('')}`);
    for (const { figure, medians } of rows)
      console.log(`| ${figure} | ${names.map((name) => show(medians[name] ?? NaN)).join(' | ')} |`);
    for (const [property, by] of kept)
      console.log(`| ${property} | ${names.map((name) => by[name as keyof typeof by]).join(' | ')} |`);
    const file = after('--json');
    if (file !== undefined) await writeFile(file, `${JSON.stringify({ at, machine, rounds, rows }, null, 2)}\n`);
  } finally {
    partner.kill();
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

const show = (value: number) => (value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(2));
