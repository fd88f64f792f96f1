import { startPushBench } from './service.ts';

/** Time from sending to arrival at the destination, for several rates of new reservations. */
export async function measureLatency(folder: string, rates: readonly number[]) {
  const bench = await startPushBench(folder, 1, 1);
  await bench.send({ run: 'warm', connections: 64, count: 2_000, reservations: 1e9, rate: 200 });
  const points: { rate: number; p50: number; p99: number }[] = [];
  for (const rate of rates) {
    const run = `at-${rate}`;
    // Eight seconds, but enough events for a 99th percentile.
    const count = Math.max(200, rate * 8);
    // The service closes a connection that stays silent for ten seconds.
    const connections = Math.min(128, Math.max(8, rate));
    const { outcome, times } = await bench.send({ run, connections, count, reservations: 1e9, rate });
    const took = outcome.sentAt
      .map((sent, n) => (times[`${run}-R${n}`] ?? Number.POSITIVE_INFINITY) - sent)
      .sort((a, b) => a - b);
    points.push({
      rate,
      p50: took[Math.floor(took.length * 0.5)] ?? NaN,
      p99: took[Math.floor(took.length * 0.99)] ?? NaN,
    });
  }
  return points;
}
