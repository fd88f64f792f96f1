/** Runs the checks and the tests, one line per step with its time. Node's summary and the slowest files come last. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { changedTests } from './changed-tests.ts';
import { prepareBrowser } from './prepare-browser.ts';
import { prepareServers } from './prepare-servers.ts';
import { makeSuiteFolder, removeSuiteFolder } from './suite-folder.ts';
import { planFast, planTests, readCosts, recordOf, writePlan } from './test-files.ts';

const root = path.dirname(import.meta.dirname);
const tool = (name: string) => path.join(root, 'node_modules', '.bin', name);

/** One checker: four do half of the work twice, 29 instead of 16 s of processor time. */
const types = [tool('tsc'), '--checkers', '1', '-p'] as const;

const staticChecks: readonly [step: string, program: string, ...args: string[]][] = [
  ['types', ...types, '.'],
  ['types of the console', ...types, 'console'],
  ['format and lint', tool('biome'), 'check', '--error-on-warnings', '.'],
  ['unused code', tool('knip')],
];

/** Tests also wait: two cores are 95 % busy with three at a time. Four or five take as long, and single tests then miss their deadlines. */
const atOnce = Math.min(5, os.availableParallelism() + 1);

const own = (script: string): string => pathToFileURL(path.join(root, 'scripts', script)).href;

const runner = [
  '--test',
  `--import=${own('untraced.ts')}`,
  `--import=${own('file-suites.ts')}`,
  `--test-concurrency=${atOnce}`,
  '--test-timeout=900000',
  '--disable-warning=ExperimentalWarning',
  '--test-reporter=spec',
  '--test-reporter-destination=stdout',
  `--test-reporter=${own('slowest-files.ts')}`,
  '--test-reporter-destination=stdout',
];

const env: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: `${path.join(root, 'node_modules', '.bin')}:${process.env.PATH}`,
};
// Test files share compiled code, which saves half a second of processor time for each of 287 (two arm64 cores).
const packages = path.join(root, 'node_modules');
if (statSync(packages).uid === process.geteuid?.()) {
  env.NODE_COMPILE_CACHE ??= path.join(packages, '.cache', 'innbound', 'compile');
}
// Set if a test starts this script: Node would treat the suite as part of that test and skip it.
delete env.NODE_TEST_CONTEXT;

interface Plan {
  readonly checks: boolean;
  readonly tests: 'all' | 'fast' | readonly string[];
  readonly record?: boolean;
  /** Every n-th process, as i/n. The first also makes the static checks. */
  readonly shard?: string;
}

function plan(args: readonly string[]): Plan | undefined {
  const [first] = args;
  if (first === undefined || (first === '--all' && args.length === 1)) return { checks: true, tests: 'all' };
  if (first === '--no-suite' && args.length === 1) return { checks: true, tests: [] };
  if (first === '--fast' && args.length === 1) return { checks: true, tests: 'fast' };
  if (first === '--suite' && args.length === 1) return { checks: false, tests: 'all' };
  if (first === '--record' && args.length === 1) return { checks: false, tests: 'all', record: true };
  if (first === '--changed' && args.length <= 2) return { checks: true, tests: changedTests(root, args[1] ?? 'main') };
  const [, shard, turn] = /^--shard=((\d+)\/\d+)$/.exec(first) ?? [];
  if (shard !== undefined && args.length === 1) return { checks: turn === '1', tests: 'all', shard };
  if (args.some((arg) => arg.startsWith('-'))) return undefined;
  return { checks: false, tests: args.map(pattern) };
}

function pattern(argument: string): string {
  const file = path.resolve(argument);
  return statSync(file, { throwIfNoEntry: false })?.isDirectory() ? path.join(file, '**', '*.test.ts') : file;
}

async function run(
  program: string,
  args: readonly string[],
  stdio: 'inherit' | 'pipe',
): Promise<{ ok: boolean; output: string }> {
  const child = spawn(program, args, { cwd: root, env, stdio: ['ignore', stdio, stdio] });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.once('SIGTERM', forward);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = await once(child, 'close');
  process.off('SIGTERM', forward);
  return { ok: code === 0, output };
}

async function check([step, program, ...args]: (typeof staticChecks)[number]): Promise<boolean> {
  const startedAt = performance.now();
  const { ok, output } = await run(program, args, 'pipe');
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  const line = `${ok ? '✔' : '✖'} ${step} (${seconds} s)`;
  console.log(ok ? line : `${line}\n${output.trimEnd()}`);
  return ok;
}

async function checkAll(): Promise<boolean> {
  return (await Promise.all(staticChecks.map(check))).every((ok) => ok);
}

/** One after another in the pauses of the tests: all at once would delay single tests beyond their deadlines. */
async function checkBesideTests(): Promise<boolean> {
  let ok = true;
  for (const each of staticChecks) ok = (await check(each)) && ok;
  return ok;
}

async function main(): Promise<number> {
  const planned = plan(process.argv.slice(2));
  if (planned === undefined) {
    console.error(
      'Usage: scripts/test [--all | --fast | --changed [SINCE] | --no-suite | --suite | --record | --shard=I/N | PATH...]',
    );
    return 2;
  }
  if (planned.tests.length === 0) return (await checkAll()) ? 0 : 1;
  const checking = planned.checks ? checkBesideTests() : true;
  if (planned.tests !== 'fast') {
    prepareBrowser();
    prepareServers();
    // Once, before the tests that start services: each of them would find it missing and wait for the same build.
    await run(process.execPath, [path.join(root, 'console', 'build.ts')], 'inherit');
  }
  const passed = await runTests(planned);
  const ok = await checking;
  if (!ok) console.log('✖ a check failed beside the tests: its line above has the reason');
  return passed && ok ? 0 : 1;
}

async function runTests({ tests, shard, record = false }: Plan): Promise<boolean> {
  const folder = makeSuiteFolder();
  env.TMPDIR = folder;
  try {
    const plans = { all: planTests, fast: planFast };
    const patterns = typeof tests === 'string' ? writePlan(root, plans[tests](root), folder) : tests;
    const part = shard === undefined ? [] : [`--test-shard=${shard}`];
    const { ok } = await run(process.execPath, [...runner, ...part, ...patterns], 'inherit');
    showCosts(folder, record);
    return ok;
  } finally {
    removeSuiteFolder(folder);
  }
}

/** Where the time went. With --record, the next runs start the processes in this order. */
function showCosts(folder: string, record: boolean): void {
  const file = path.join(folder, 'costs');
  if (!existsSync(file)) return;
  const costs = readCosts(readFileSync(file, 'utf8')).toSorted((a, b) => b.processorSeconds - a.processorSeconds);
  const lines = costs.map(({ name, seconds, processorSeconds }) => `${name} ${seconds} ${processorSeconds}`);
  console.log(`\nProcesses of the suite: seconds, and seconds of processor time\n${lines.join('\n')}`);
  const sum = costs.reduce((all, { processorSeconds }) => all + processorSeconds, 0);
  console.log(`${sum.toFixed(0)} s of processor time`);
  if (record) writeFileSync(recordOf(root), `${lines.toSorted().join('\n')}\n`);
}

process.exitCode = await main();
