/** Which test files share a process in the suite, and in which order the processes start. */
import { globSync, writeFileSync } from 'node:fs';
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
  'deliver/busy',
  'deliver/chaos',
  'deliver/circuit',
  'deliver/lease',
  'deliver/pace',
  'deliver/people',
  'deliver/people-kill',
  'deliver/promises',
  'deliver/sigstop',
  'e2e/demo',
  'e2e/key-rotation',
  'e2e/kill',
  'e2e/tutorial',
  'e2e/rolling-restart',
  'e2e/stop',
  'e2e/traces',
  'intake/pull/partner-scripts',
  'intake/pull/resume',
  'intake/stream/hostile',
];

/** Apart from the other files of test/intake/push: they measure, and end processes. */
const timed = ['attacks', 'clocks', 'crash', 'deadlock', 'failover', 'group-commit', 'vendors'];

/** The files of each process by its name, in the order in which the processes start. */
export type TestPlan = ReadonlyMap<string, readonly string[]>;

/** Packing and installing takes a minute and a half: `npm run release:check` does it, which CI also runs. */
export const beforeRelease = 'test/install/packages/packages.test.ts';

export function planTests(root: string): TestPlan {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const plan = Map.groupBy(
    files.filter((file) => file !== beforeRelease),
    processOf,
  );
  const started = longest.filter((name) => plan.has(name));
  return new Map([...new Set([...started, ...plan.keys()])].map((name) => [name, plan.get(name) ?? []]));
}

/**
 * Started first and in this order. What starts last should be short, or one core waits for the other at the end; and those that keep a core
 * busy take turns with those that mostly wait for processes and timers.
 */
export const longest = [
  'console-2',
  'operations',
  'deliver/people',
  'onboard',
  'intake-stream',
  'deliver',
  'console-1',
  'deliver/people-kill',
  'pure',
  'deliver/pace',
  'api',
  'e2e/demo',
  'store',
  'packages',
  'connectors/vendors/vendors',
  'intake/pull/resume',
  'rest',
  'deliver/busy',
  'deliver/promises',
  'e2e/kill',
  'intake/pull/partner-scripts',
  'intake-pull',
  'deliver/circuit',
  'deliver/sigstop',
  'persons',
  'e2e/rolling-restart',
  'e2e/tutorial',
  'e2e/key-rotation',
  'intake-push',
  'install',
  'e2e/stop',
  'e2e',
  'deliver/chaos',
  'intake-push-timed',
  'embedded-postgres',
  'history',
  'simulation',
];

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
  if (within === 'push' && timed.includes(path.basename(file, '.test.ts'))) return 'intake-push-timed';
  return folder === 'intake' && within !== undefined ? `${folder}-${within}` : folder;
}

/**
 * Writes one file into `folder` per process. Returns what to give to `node --test`, which starts files in the order of their names. The
 * files of a process are imported together. A suite per file, with `import()` or `require`, would keep hooks apart, but Node's runner
 * then loses tests without a word.
 */
export function writePlan(root: string, plan: TestPlan, folder: string): readonly string[] {
  return [...plan].map(([name, parts], place) => {
    const file = path.join(folder, `${String(place).padStart(2, '0')}-${name.replaceAll('/', '-')}.test.mjs`);
    const imported = ['scripts/process-cost.ts', ...parts];
    writeFileSync(file, imported.map((part) => `import '${pathToFileURL(path.join(root, part)).href}';\n`).join(''));
    return file;
  });
}
