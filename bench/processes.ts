/**
 * `serve --processes N` on one machine: events accepted and delivered per second, and processor time per event, for 1, 2 and 4
 * processes. The services run side by side and take turns, so that other work on the machine hits all of them; medians.
 *
 *   scripts/bench processes [--json FILE] [--rounds N] [N...]
 *
 * PostgreSQL, senders and destination share the machine, so the rate stops rising when the processors are used up.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { familyMs, postmasterUnder, serverMs } from './pull/cpu.ts';
import { arrived, median } from './push/delivered.ts';
import type { Outcome } from './push/load.ts';
import { ask, endAll, endedWithAll, start } from './push/processes.ts';
import { brandId, writeBenchWorkspace } from './push/workspace.ts';

const brands = ['one', 'two', 'three', 'four'];
const perBrand = 1_000;
const program = [fileURLToPath(new URL('../src/main.ts', import.meta.url))];
const env = { ...process.env, INNBOUND_ALLOW_PRIVATE_NETWORK: '1', INNBOUND_LOG_LEVEL: 'error' };

export async function run(args: readonly string[]): Promise<void> {
  const after = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const rounds = Number(after('--rounds') ?? 5);
  const given = args.filter((arg, i) => /^\d+$/.test(arg) && args[i - 1] !== '--rounds').map(Number);
  const counts = given.length > 0 ? given : [1, 2, 4];
  const { points, loads } = await measureProcesses(counts, rounds);
  const machine = `${os.cpus().length} cores ${os.arch()}, Node ${process.versions.node}, load ${loads[0]?.toFixed(1)} at the start, ${Math.max(...loads).toFixed(1)} at most (this benchmark included)`;
  const at = new Date().toISOString();
  console.log(`${at}, ${machine}; medians of ${rounds} rounds of ${brands.length * perBrand} events\n`);
  console.log('| processes | events a second | Node, ms an event | PostgreSQL, ms an event |\n|---|---|---|---|');
  for (const { processes, perSecond, nodeMs, postgresMs } of points)
    console.log(`| ${processes} | ${Math.round(perSecond)} | ${nodeMs.toFixed(2)} | ${postgresMs.toFixed(2)} |`);
  const file = after('--json');
  if (file !== undefined) await writeFile(file, `${JSON.stringify({ at, machine, rounds, points }, null, 2)}\n`);
}

export async function measureProcesses(counts: readonly number[], rounds: number) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  try {
    const sink = start('./sink.ts');
    const sinkPort = await ask<number>(sink, { ask: 'port' });
    const senders = brands.map(() => start('./load.ts'));
    const services: Service[] = [];
    for (const count of counts) services.push(await startService(path.join(folder, `of-${count}`), sinkPort, count));
    const loads = [os.loadavg()[0] ?? 0];
    let expected = 0;
    for (let round = 0; round <= rounds; round++) {
      for (const service of services) {
        const before = { at: performance.now(), ...service.cpuMs() };
        await Promise.all(
          brands.map((brand, i) => {
            const endpoint = service.endpoints[i];
            const job = { run: `${service.count}-${round}-${brand}`, connections: 16, count: perBrand };
            const target = { ...endpoint, port: service.port, brandId };
            return ask<Outcome>(senders[i] as ChildProcess, { ...job, target, reservations: perBrand / 2 });
          }),
        );
        expected += brands.length * perBrand;
        await arrived(sink, expected);
        const seconds = (performance.now() - before.at) / 1000;
        const used = service.cpuMs();
        // The first round warms up.
        if (round === 0) continue;
        const events = brands.length * perBrand;
        service.perSecond.push(events / seconds);
        service.nodeMs.push((used.node - before.node) / events);
        service.postgresMs.push((used.postgres - before.postgres) / events);
      }
      loads.push(os.loadavg()[0] ?? 0);
    }
    const points = services.map((service) => ({
      processes: service.count,
      perSecond: median(service.perSecond),
      nodeMs: median(service.nodeMs),
      postgresMs: median(service.postgresMs),
    }));
    return { points, loads };
  } finally {
    await endAll();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Service {
  readonly count: number;
  readonly port: number;
  readonly endpoints: readonly { readonly endpointId: string; readonly secret: string }[];
  readonly cpuMs: () => { readonly node: number; readonly postgres: number };
  readonly perSecond: number[];
  readonly nodeMs: number[];
  readonly postgresMs: number[];
}

async function startService(folder: string, sinkPort: number, count: number): Promise<Service> {
  await writeBenchWorkspace(folder, sinkPort, { brands });
  const args = ['serve', '-w', folder, '--port', '0', '--processes', String(count)];
  const child = spawn(process.execPath, [...program, ...args], { env, stdio: ['ignore', 'ignore', 'pipe'] });
  endedWithAll(child);
  const port = await new Promise<number>((resolve, reject) => {
    let said = '';
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      const ready = /innbound is ready on http:\/\/[^\s]+:(\d+)/.exec(said);
      if (ready) resolve(Number(ready[1]));
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}: ${said}`)));
  });
  const endpoints: Service['endpoints'][number][] = [];
  for (const brand of brands) {
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [...program, 'endpoint', brand, '-w', folder, '--json'],
      { env },
    );
    const { endpoint_id: endpointId, secret } = JSON.parse(stdout) as { endpoint_id: string; secret: string };
    endpoints.push({ endpointId, secret });
  }
  const postmaster = postmasterUnder(folder);
  const cpuMs = () => ({ node: familyMs(child.pid ?? 0), postgres: serverMs(postmaster) });
  return { count, port, endpoints, cpuMs, perSecond: [], nodeMs: [], postgresMs: [] };
}
