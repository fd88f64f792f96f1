import { chaos } from '../test/deliver/chaos.ts';

/** 200,000 deliveries by default: 20,000 records of two brands, 5 versions, two destinations, plus 10 % late states. Throws on the first loss. */
export async function run(args: readonly string[]): Promise<void> {
  const records = Number(args[0] ?? 10_000);
  const result = await chaos({ records, versions: 5, kills: 60, restarts: 3, say: (line) => console.log(line) });
  const { accepted, delivered, superseded, dead, pending, requests, kills, restarts, seconds } = result;
  console.log(
    `${accepted} accepted = ${delivered} delivered + ${superseded} superseded + ${dead} dead + ${pending} held behind them`,
  );
  console.log(`${requests} requests, ${kills} kills, ${restarts} restarts of the database, ${seconds.toFixed(0)} s`);
}
