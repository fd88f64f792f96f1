import { chaos as deliveries } from '../test/deliver/chaos.ts';
import { type ChaosReport, chaos } from './chaos/run.ts';

/**
 * `chaos [SECONDS] [SEED] [NODES]`: webhooks and polls under kills, freezes, a crashing database, a failover to a synchronous standby, a
 * network that cuts and holds, and a full disk where root may mount one. Judged by the history checker.
 * `chaos deliveries [RECORDS]`: 200,000 deliveries by killed workers over a database that restarts.
 */
export async function run(args: readonly string[]): Promise<void> {
  if (args[0] === 'deliveries') return runDeliveries(Number(args[1] ?? 10_000));
  const [seconds = 40, seed = 1, nodes = 3] = args.map(Number);
  console.log(`${seconds} s of load and faults, seed ${seed}`);
  const report = await chaos({ seed, seconds, nodes, say: (line) => console.log(line) });
  for (const line of linesOf(report)) console.log(line);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}

function linesOf({ history, runs, violations, faults, webhooks, quietAfterMs }: ChaosReport): string[] {
  const { statements, fates, versions, settled, writes } = history;
  const events = statements.filter(({ isEvent }) => isEvent);
  const distinct = new Set(writes.map(({ destination, record, version }) => `${destination} ${record} ${version}`));
  return [
    '',
    `faults      ${faults.length}`,
    `webhooks    ${webhooks.sent} sent, ${webhooks.accepted} accepted; longest time without one accepted ${seconds(webhooks.longestGapMs)}`,
    `events      ${events.length}: ${counts(fates)}`,
    `runs        ${runs.length}: ${counts(runs.map((kind) => ({ kind })))}`,
    `versions    ${versions.length}`,
    `deliveries  ${settled.length}: ${counts(settled)}`,
    `writes      ${writes.length}, of them ${writes.length - distinct.size} repeated`,
    `quiet       ${seconds(quietAfterMs)} after the last fault`,
    '',
    violations.length === 0 ? 'No promise broken.' : `${violations.length} violations:`,
    ...violations.slice(0, 30).map(({ rule, message }) => `  ${rule}: ${message}`),
  ];
}

const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

function counts(items: readonly { readonly kind: string }[]): string {
  const byKind = Map.groupBy(items, ({ kind }) => kind);
  return [...byKind].map(([kind, some]) => `${some.length} ${kind}`).join(', ');
}

async function runDeliveries(records: number): Promise<void> {
  const result = await deliveries({ records, versions: 5, kills: 60, restarts: 3, say: (line) => console.log(line) });
  const { accepted, delivered, superseded, dead, pending, requests, kills, restarts, seconds: took } = result;
  console.log(
    `${accepted} accepted = ${delivered} delivered + ${superseded} superseded + ${dead} dead + ${pending} held behind them`,
  );
  console.log(`${requests} requests, ${kills} kills, ${restarts} restarts of the database, ${took.toFixed(0)} s`);
}
