import { writeFile } from 'node:fs/promises';
import os from 'node:os';
import { measureMemory } from './memory.ts';
import { throughput } from './pull.ts';
import { measureDelivered } from './push/delivered.ts';
import { measureAccept } from './push.ts';
import { measureShape } from './shape.ts';

/**
 * `npm run bench`: every figure with its ceiling from the same run, its ratio and its aim. Rounds of both alternate; medians. Takes some
 * nine minutes. `--json FILE` writes the figures; `--only shape,accept,delivered,pull,memory` measures some of them.
 */
interface Figure {
  readonly name: string;
  readonly unit: string;
  readonly value: number;
  /** The same machine in the same run, without Innbound. */
  readonly ceiling?: number;
  readonly aim: number;
  /** Whether the aim is a ratio to the ceiling. */
  readonly isRatio?: boolean;
  /** Whether less is better. */
  readonly isCost?: boolean;
}

const parts: { readonly [name: string]: () => Promise<Figure[]> } = {
  shape: async () => {
    const { parseMicros, pathMicros } = measureShape();
    const [value, ceiling] = [1e6 / pathMicros, 1e6 / parseMicros];
    return [{ name: 'shape path, against JSON.parse', unit: '/s', value, ceiling, aim: 0.31, isRatio: true }];
  },
  accept: async () => {
    const { bare, group } = await measureAccept();
    return [
      {
        name: 'durable accept, against a bare server',
        unit: '/s',
        value: group,
        ceiling: bare,
        aim: 0.65,
        isRatio: true,
      },
    ];
  },
  delivered: async () => {
    const measured = await measureDelivered(3);
    const { perSecond, relayPerSecond, nodeMs, postgresMs, relayMs } = measured;
    return [
      {
        name: 'accepted and delivered, against a relay',
        unit: '/s',
        value: perSecond,
        ceiling: relayPerSecond,
        aim: 3_500,
      },
      {
        name: 'processor time per event',
        unit: 'ms',
        value: nodeMs + postgresMs,
        ceiling: relayMs,
        aim: 0.4,
        isCost: true,
      },
      { name: '  of it Node', unit: 'ms', value: nodeMs, aim: 0.25, isCost: true },
      {
        name: 'delivered at 50/s, p50, against one insert',
        unit: 'ms',
        value: measured.p50Ms,
        ceiling: measured.leastP50Ms,
        aim: 3,
        isCost: true,
      },
      {
        name: '  p99',
        unit: 'ms',
        value: measured.p99Ms,
        ceiling: measured.leastP99Ms,
        aim: 15,
        isCost: true,
      },
    ];
  },
  pull: async () => {
    const { seconds, leastSeconds, cpuSeconds, leastCpuSeconds, unchangedPerSecond } = await throughput(20_000);
    return [
      {
        name: 'backfill of 20,000 into a warehouse',
        unit: 's',
        value: seconds,
        ceiling: leastSeconds,
        aim: 1.7,
        isRatio: true,
        isCost: true,
      },
      {
        name: '  in processor time',
        unit: 's',
        value: cpuSeconds,
        ceiling: leastCpuSeconds,
        aim: 2.2,
        isRatio: true,
        isCost: true,
      },
      { name: 'poll without news', unit: '/s', value: unchangedPerSecond, aim: 20_000 },
    ];
  },
  memory: async () => {
    const { node, postgres, bareNode } = await measureMemory();
    const name = 'memory at rest, against a bare Node';
    return [{ name, unit: 'MB', value: node + postgres, ceiling: bareNode, aim: 180, isCost: true }];
  },
};

export async function run(args: readonly string[]): Promise<void> {
  const after = (name: string) => (args.includes(name) ? args[args.indexOf(name) + 1] : undefined);
  const chosen = after('--only')?.split(',') ?? Object.keys(parts);
  const machine = `${os.cpus().length} cores ${os.arch()}, Node ${process.versions.node}, load ${os.loadavg()[0]?.toFixed(1)}`;
  const figures: Figure[] = [];
  for (const name of chosen) {
    const measure = parts[name];
    if (measure === undefined)
      throw new Error(`There is no part ${name}. Available: ${Object.keys(parts).join(', ')}.`);
    figures.push(...(await measure()));
  }
  const at = new Date().toISOString();
  console.log(`\n${at}, ${machine}\n`);
  console.log(line(['figure', 'measured', 'ceiling', 'ratio', 'aim', '']));
  for (const figure of figures) console.log(line(cells(figure)));
  const file = after('--json');
  if (file !== undefined) {
    const json = figures.map((figure) => ({ ...figure, ratio: ratioOf(figure), reached: isReached(figure) }));
    await writeFile(file, `${JSON.stringify({ at, machine, figures: json }, null, 2)}\n`);
  }
}

const ratioOf = ({ value, ceiling }: Figure): number | undefined =>
  ceiling === undefined ? undefined : value / ceiling;

function isReached(figure: Figure): boolean {
  const measured = figure.isRatio ? (ratioOf(figure) ?? NaN) : figure.value;
  return figure.isCost ? measured <= figure.aim : measured >= figure.aim;
}

function cells(figure: Figure): string[] {
  const { name, unit, value, ceiling, aim, isRatio } = figure;
  const show = (number: number) =>
    number >= 100 ? Math.round(number).toLocaleString('en') : number.toFixed(number < 10 ? 2 : 1);
  const ratio = ratioOf(figure);
  return [
    name,
    `${show(value)} ${unit}`,
    ceiling === undefined ? '' : `${show(ceiling)} ${unit}`,
    ratio === undefined ? '' : ratio.toFixed(2),
    isRatio ? `ratio ${aim}` : `${show(aim)} ${unit}`,
    isReached(figure) ? 'reached' : 'missed',
  ];
}

const widths = [44, 14, 14, 8, 14, 8];
const line = (texts: readonly string[]): string =>
  texts.map((text, i) => (i === 0 ? text.padEnd(widths[0] ?? 0) : text.padStart(widths[i] ?? 0))).join('');
