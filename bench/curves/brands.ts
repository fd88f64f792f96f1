import path from 'node:path';
import { median } from '../push/delivered.ts';
import { endAll } from '../push/processes.ts';
import { startPushBench } from './service.ts';

const events = 2_000;
const active = 50;

/** Processor time of an event, for several numbers of brands in force. */
export async function measureBrands(folder: string, counts: readonly number[]) {
  const points: { brands: number; nodeMs: number; postgresMs: number }[] = [];
  for (const brands of counts) {
    const bench = await startPushBench(path.join(folder, `of-${brands}`), brands, active);
    const node: number[] = [];
    const postgres: number[] = [];
    for (let round = 0; round <= 3; round++) {
      const before = bench.cpuMs();
      await bench.send({ run: `round-${round}`, connections: 16, count: events, reservations: events / 2 });
      const after = bench.cpuMs();
      // The first round warms up.
      if (round === 0) continue;
      node.push((after.node - before.node) / events);
      postgres.push((after.postgres - before.postgres) / events);
    }
    points.push({ brands, nodeMs: median(node), postgresMs: median(postgres) });
    await endAll();
  }
  return points;
}
