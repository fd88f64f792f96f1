/** `scripts/bench NAME [ARG...]` runs bench/NAME.ts, which exports `run(args)`; without a name, the table of all figures. */
import { readdirSync } from 'node:fs';

interface Benchmark {
  run(args: readonly string[]): Promise<void>;
}

const first = process.argv[2];
const [name, ...args] =
  first === undefined || first.startsWith('--') ? ['table', ...process.argv.slice(2)] : process.argv.slice(2);
const names = readdirSync(import.meta.dirname)
  .filter((file) => file.endsWith('.ts') && file !== 'main.ts')
  .map((file) => file.slice(0, -'.ts'.length))
  .sort();

if (name !== undefined && names.includes(name)) {
  const benchmark = (await import(`./${name}.ts`)) as Benchmark;
  await benchmark.run(args);
} else {
  const list = names.length === 0 ? 'There are none.' : `Available: ${names.join(', ')}.`;
  console.error(`There is no benchmark ${name}. ${list}`);
  process.exitCode = 2;
}
