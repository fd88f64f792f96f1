/**
 * The curves of docs/explain/scaling.md: each is measured into docs/images/curves/NAME.json and drawn beside it as SVG.
 *
 *   scripts/bench curves [latency] [backlog] [brands]   measures these, or all; some fifteen minutes
 *   scripts/bench curves draw                                       draws all pictures again from their JSON
 */
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { measureBrands } from './curves/brands.ts';
import { type Curve, draw } from './curves/draw.ts';
import { measureLatency } from './curves/latency.ts';
import { measureClaims } from './deliver.ts';
import { endAll } from './push/processes.ts';

export const folder = fileURLToPath(new URL('../docs/images/curves/', import.meta.url));

type Measured = Omit<Curve, 'measured'>;

const parts: { readonly [name: string]: (scratch: string) => Promise<Measured> } = {
  latency: async (scratch) => {
    const points = await measureLatency(scratch, [10, 25, 50, 100, 200, 400, 800]);
    return {
      title: 'Time from webhook to destination against rate',
      x: 'events a second, one process',
      y: 'ms from sending to arrival at the destination',
      series: [
        { name: 'p50', points: points.map(({ rate, p50 }) => [rate, p50]) },
        { name: 'p99', points: points.map(({ rate, p99 }) => [rate, p99]) },
      ],
    };
  },
  backlog: async () => ({
    title: 'Deliveries claimed and acknowledged against backlog',
    x: 'records that wait for one destination',
    y: 'claims with acknowledgement a second, durable',
    series: [{ name: 'claims', points: await measureClaims([1_000, 10_000, 100_000, 1_000_000]) }],
  }),
  brands: async (scratch) => {
    const points = await measureBrands(scratch, [100, 1_000, 10_000]);
    return {
      title: 'Cost of an event against brands',
      x: 'brands in force, events of 50 of them',
      y: 'ms of processor time an event, accepted and delivered',
      note: 'npm run bench -- brands 100000 measures the start and the memory of 100,000 brands.',
      series: [
        { name: 'Node', points: points.map(({ brands, nodeMs }) => [brands, nodeMs]) },
        { name: 'PostgreSQL', points: points.map(({ brands, postgresMs }) => [brands, postgresMs]) },
      ],
    };
  },
};

export async function run(args: readonly string[]): Promise<void> {
  const chosen = args.length > 0 ? args : Object.keys(parts);
  for (const name of chosen.filter((one) => one !== 'draw')) {
    const measure = parts[name];
    if (measure === undefined)
      throw new Error(`There is no curve ${name}. Available: ${Object.keys(parts).join(', ')}.`);
    const scratch = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
    const load = os.loadavg()[0]?.toFixed(1);
    try {
      const exact = await measure(scratch);
      const series = exact.series.map(({ name: of, points }) => ({
        name: of,
        points: points.map(([x, y]) => [x, Number(y.toPrecision(3))]),
      }));
      const curve = { ...exact, series };
      const machine = `${os.cpus().length} cores ${os.arch()} (${os.cpus()[0]?.model ?? 'unknown'})`;
      const measured = `${new Date().toISOString().slice(0, 16).replace('T', ' ')} UTC, ${machine}, load ${load} before, ${os.loadavg()[0]?.toFixed(1)} after`;
      await writeFile(path.join(folder, `${name}.json`), `${JSON.stringify({ ...curve, measured }, null, 2)}\n`);
    } finally {
      await endAll();
      await rm(scratch, { recursive: true, force: true });
    }
  }
  for (const file of (await readdir(folder)).filter((one) => one.endsWith('.json'))) {
    const curve = JSON.parse(await readFile(path.join(folder, file), 'utf8')) as Curve;
    await writeFile(path.join(folder, file.replace(/json$/, 'svg')), draw(curve));
    for (const { name, points } of curve.series) console.log(file, name, JSON.stringify(points));
  }
}
