/** Which test files share a process in the suite, and in which order the processes start. */
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Folders and files that need a process for each file: they measure time or memory, end processes, or take long. All others share one
 * process per group: ten files of test/e2e take 42 s of processor time together and 58 s apart (2 arm64 cores), because each loads the
 * sources and starts a PostgreSQL.
 */
export const alone = [
  'canonical/one-line',
  'connectors/vendors/vendors',
  'deliver/chaos',
  'deliver/people',
  'deliver/people-kill',
  'deliver/warehouse/hostile',
  'e2e/demo',
  'e2e/tutorial',
  'e2e/traces',
  'intake/pull/partner-scripts',
  'intake/pull/resume',
  'intake/stream/hostile',
];

/** Apart from the other files of their folder, since they measure and end processes, but with each other: a process takes two seconds. */
const timed: Readonly<Record<string, readonly string[]>> = {
  deliver: ['busy', 'circuit', 'lease', 'pace', 'promises', 'sigstop'],
  e2e: ['key-rotation', 'kill', 'rolling-restart', 'stop'],
  'intake/push': ['attacks', 'clocks', 'crash', 'deadlock', 'failover', 'group-commit', 'vendors'],
};

/** The files of each process by its name, in the order in which the processes start. */
export type TestPlan = ReadonlyMap<string, readonly string[]>;

/** Packing and installing takes a minute and a half: `npm run release:check` does it, which CI also runs. */
export const beforeRelease = 'test/install/packages/packages.test.ts';

/**
 * What starts last should be short, or one core waits for the other at the end: the longest process first, as `scripts/test --record` saw
 * it. One that is not in the record may be long.
 */
export function planTests(root: string): TestPlan {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const plan = Map.groupBy(
    files.filter((file) => file !== beforeRelease),
    processOf,
  );
  const seconds = new Map(recorded(root).map(({ name, seconds }) => [name, seconds]));
  const ofName = (name: string) => seconds.get(name) ?? Number.MAX_VALUE;
  return new Map([...plan].toSorted(([a], [b]) => ofName(b) - ofName(a)));
}

/** What a process of the suite took, with the programs that it started. */
export interface Cost {
  readonly name: string;
  readonly seconds: number;
  readonly processorSeconds: number;
}

/** A line for each process. */
export const readCosts = (text: string): readonly Cost[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' '))
    .map(([name = '', seconds, processor]) => ({
      name,
      seconds: Number(seconds),
      processorSeconds: Number(processor),
    }));

export const recordOf = (root: string): string => path.join(root, 'scripts', 'test-costs.txt');

export const recorded = (root: string): readonly Cost[] => readCosts(readFileSync(recordOf(root), 'utf8'));

/** Files of the pure rooms and the store that start programs or further servers, or fill large tables. */
const slow = [
  'persons/deliveries',
  'store/db/previous-version',
  'store/db/frozen-server',
  'store/db/hosts',
  'store/db/upgrade',
  'store/new-brand',
  'packages/suggest/command',
].map((file) => `test/${file}.test.ts`);

/** The pure rooms, and the store against one server: `npm run test:fast`. */
export function planFast(root: string): TestPlan {
  const plan = planTests(root);
  return new Map(
    ['pure', 'persons', 'store'].map((name) => [name, (plan.get(name) ?? []).filter((file) => !slow.includes(file))]),
  );
}

/** Rooms without a database or a server: each alone would mostly load the sources. */
const pure = [
  'canonical',
  'connectors',
  'documents',
  'json-path',
  'measures',
  'normalize',
  'pipeline',
  'reconcile',
  'shape',
  'transform',
];

/** Folders that take seconds each. */
const short = ['cli', 'docs', 'kit', 'mcp', 'ops', 'outbound', 'privacy', 'runtime', 'watch'];

/** The file itself, or its folder; small folders are together, and intake and the console have too many files for one process. */
function processOf(file: string): string {
  const isAlone = alone.some((each) => file.startsWith(`test/${each}/`) || file === `test/${each}.test.ts`);
  if (isAlone) return file.slice('test/'.length, -'.test.ts'.length);
  const [folder, within] = file.split('/').slice(1, -1);
  if (folder === undefined || short.includes(folder)) return 'rest';
  if (pure.includes(folder) || within === 'suggest') return 'pure';
  if (folder === 'console') return path.basename(file) < 'house' ? 'console-1' : 'console-2';
  const isTimed = timed[path.dirname(file).slice('test/'.length)]?.includes(path.basename(file, '.test.ts'));
  const group = folder === 'intake' && within !== undefined ? `${folder}-${within}` : folder;
  return isTimed ? `${group}-timed` : group;
}

/**
 * Writes one file into `folder` per process. Returns what to give to `node --test`, which starts files in the order of their names. Each
 * test file becomes a suite (file-suites.ts).
 */
export function writePlan(root: string, plan: TestPlan, folder: string): readonly string[] {
  return [...plan].map(([name, parts], place) => {
    const file = path.join(folder, `${String(place).padStart(2, '0')}-${name.replaceAll('/', '+')}.test.mjs`);
    const url = (part: string) => `'${pathToFileURL(path.join(root, part)).href}'`;
    const imports = ['scripts/process-cost.ts', ...parts].map((part) => `import ${url(part)};\n`);
    const suites = `import { declareSuites } from ${url('scripts/file-suites.ts')};\ndeclareSuites();\n`;
    writeFileSync(file, [...imports, suites].join(''));
    return file;
  });
}
