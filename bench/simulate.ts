import { simulate } from '../test/simulation/simulate.ts';

/** `simulate SEED` repeats one seed and prints it; `simulate FROM TO` runs a range and prints the seeds that break a promise. */
export async function run(args: readonly string[]): Promise<void> {
  const [from = 1, to] = args.map(Number);
  if (to === undefined) return repeat(from);
  const startedAt = performance.now();
  let broken = 0;
  for (let seed = from; seed <= to; seed++) {
    const { violations } = await simulate(seed);
    if (violations.length === 0) continue;
    broken += 1;
    console.log(`seed ${seed}: ${violations[0]?.rule}: ${violations[0]?.message}`);
  }
  const seconds = (performance.now() - startedAt) / 1_000;
  console.log(`${to - from + 1} seeds in ${seconds.toFixed(0)} s, ${broken} of them break a promise`);
  process.exitCode = broken === 0 ? 0 : 1;
}

async function repeat(seed: number): Promise<void> {
  const { script, history, violations, lastedMs, steps } = await simulate(seed);
  console.log(script);
  console.log(`${(lastedMs / 1_000).toFixed(1)} virtual seconds, ${steps} steps`);
  const { statements, versions, writes, runs } = history;
  console.log(
    `${statements.length} statements, ${versions.length} versions, ${writes.length} writes, ${runs.length} runs`,
  );
  const records = new Set(violations.flatMap(({ message }) => message.match(/\w+\/R\d+/g) ?? []));
  for (const record of records) {
    console.log(record);
    for (const one of statements.filter((said) => said.record === record)) console.log('  said', one);
    for (const one of versions.filter((version) => version.record === record)) console.log('  version', one);
    for (const { destination, version } of writes.filter((write) => write.record === record)) {
      console.log(`  ${destination} received version ${version}`);
    }
  }
  for (const { rule, message } of violations) console.log(`${rule}: ${message}`);
  if (violations.length === 0) console.log('no promise broken');
  process.exitCode = violations.length === 0 ? 0 : 1;
}
