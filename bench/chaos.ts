import { chaos as deliveries } from '../test/deliver/chaos.ts';
import { chaos } from './chaos/run.ts';
import { seconds as inSeconds, linesOf } from './live/verdict.ts';

/**
 * `chaos [SECONDS] [SEED] [NODES]`: webhooks and polls under kills, freezes, a crashing database, a failover to a synchronous standby, a
 * network that cuts and holds, and a full disk if root may mount one. The history checker checks the result.
 * `chaos deliveries [RECORDS]`: 200,000 deliveries by killed workers over a database that restarts.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (args[0] === 'deliveries') return runDeliveries(Number(args[1] ?? 10_000));
  const [seconds = 40, seed = 1, nodes = 3] = args.map(Number);
  console.log(`${seconds} s of load and faults, seed ${seed}`);
  const report = await chaos({ seed, seconds, nodes, say: (line) => console.log(line) });
  const { sent, accepted, longestGapMs } = report.webhooks;
  console.log(`
faults      ${report.faults.length}
webhooks    ${sent} sent, ${accepted} accepted; longest time without one accepted ${inSeconds(longestGapMs)}`);
  for (const line of linesOf(report)) console.log(line);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

async function runDeliveries(records: number): Promise<void> {
  const result = await deliveries({ records, versions: 5, kills: 60, restarts: 3, say: (line) => console.log(line) });
  const { accepted, delivered, superseded, dead, pending, requests, kills, restarts, seconds: took } = result;
  console.log(
    `${accepted} accepted = ${delivered} delivered + ${superseded} superseded + ${dead} dead + ${pending} held behind them`,
  );
  console.log(`${requests} requests, ${kills} kills, ${restarts} restarts of the database, ${took.toFixed(0)} s`);
}
