import { parseArgs } from 'node:util';
import { seconds as inSeconds, linesOf } from './live/verdict.ts';
import { count, upgrade } from './upgrade/run.ts';

/**
 * `upgrade --from REF [--to REF] [--seconds N] [--workers N] [--seed N]`: processes of an earlier commit and of this tree (or of `--to`) on one
 * database, under webhooks and polls. The new ones migrate, both work, the old ones are stopped. The history checker judges the result.
 */
export async function run(args: readonly string[]): Promise<void> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      seconds: { type: 'string', default: '40' },
      workers: { type: 'string', default: '2' },
      seed: { type: 'string', default: '1' },
    },
  });
  if (values.from === undefined) {
    console.error('Name the commit to upgrade from: npm run bench -- upgrade --from REF');
    process.exitCode = 2;
    return;
  }
  const report = await upgrade({
    from: values.from,
    to: values.to,
    seconds: Number(values.seconds),
    workers: Number(values.workers),
    seed: Number(values.seed),
    say: (line) => console.log(line),
  });
  const { migrations, webhooks, beside, ended, back } = report;
  const { sent, accepted, longestGapMs } = webhooks;
  const share = ({ accepted, runs }: typeof beside.old) =>
    `${count(accepted, 'event')} accepted, ${count(runs, 'run')}`;
  console.log(`
migrations  ${migrations.map(({ file, additive }) => `${file}${additive ? ' (additive)' : ''}`).join(', ')}
beside      ${beside.seconds.toFixed(1)} s: old ${share(beside.old)};
            new ${share(beside.new)}
ended       ${ended.length === 0 ? 'no old worker by itself' : ended.join('; ')}
back        an old worker started after the migrations: ${back}
webhooks    ${sent} sent, ${accepted} accepted; longest time without one accepted ${inSeconds(longestGapMs)}`);
  for (const line of linesOf(report)) console.log(line);
  process.exitCode = report.violations.length === 0 ? 0 : 1;
}
