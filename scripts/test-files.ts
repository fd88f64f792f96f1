/** Which test files share a process in the suite. */
import { globSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Folders and files that need a process for each file: they measure time or memory, end processes, or take long. All others share one
 * process per group: six files of test/api take 13 s of processor time together and 23 s apart (2 arm64 cores, busy), because each loads
 * the sources and starts a PostgreSQL.
 */
export const alone = [
  'canonical/one-line',
  'deliver/busy',
  'deliver/chaos',
  'deliver/circuit',
  'deliver/lease',
  'deliver/pace',
  'deliver/people-kill',
  'deliver/promises',
  'deliver/sigstop',
  'e2e',
  'embedded-postgres',
  'fuzz',
  'install',
  'intake/pull/partner-scripts',
  'intake/pull/resume',
  'intake/push/attacks',
  'intake/push/clocks',
  'intake/push/crash',
  'intake/push/deadlock',
  'intake/push/failover',
  'intake/push/group-commit',
  'intake/push/vendors',
  'simulation',
];

export interface TestPlan {
  readonly alone: readonly string[];
  /** By the name of the group. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
}

export function planTests(root: string): TestPlan {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const isAlone = (file: string) =>
    alone.some((each) => file.startsWith(`test/${each}/`) || file === `test/${each}.test.ts`);
  const shared = Map.groupBy(
    files.filter((file) => !isAlone(file)),
    groupOf,
  );
  return { alone: files.filter(isAlone), shared };
}

/** Files of the pure rooms and the store that start programs or further servers, or fill large tables. */
const slow = [
  'persons/deliveries',
  'store/db/previous-version',
  'store/db/frozen-server',
  'store/db/hosts',
  'store/db/upgrade',
  'store/distribution',
  'store/new-brand',
  'suggest/command',
].map((file) => `test/${file}.test.ts`);

/** The pure rooms, and the store against one server: `npm run test:fast`. */
export function planFast(root: string): TestPlan {
  const { shared } = planTests(root);
  const quick = (['pure', 'persons', 'store'] as const).map(
    (group) => [group, (shared.get(group) ?? []).filter((file) => !slow.includes(file))] as const,
  );
  return { alone: [], shared: new Map(quick) };
}

/** Rooms without a database or a server: each alone would mostly load the sources. */
const pure = [
  'outbound',
  'canonical',
  'connectors',
  'documents',
  'json-path',
  'normalize',
  'pipeline',
  'reconcile',
  'shape',
  'suggest',
  'transform',
];

/** The folder; the pure rooms are one group, and intake and the console have too many files for one. */
function groupOf(file: string): string {
  const [folder = 'all', within] = file.split('/').slice(1, -1);
  if (pure.includes(folder)) return 'pure';
  if (folder === 'console') return path.basename(file) < 'house' ? 'console-1' : 'console-2';
  return folder === 'intake' && within !== undefined ? `${folder}-${within}` : folder;
}

/**
 * Writes one file into `folder` per shared process. Returns what to give to `node --test`. The files are imported together. A suite per
 * file, with `import()` or `require`, would keep hooks apart, but Node's runner then loses tests without a word.
 */
export function writeShared(root: string, { alone, shared }: TestPlan, folder: string): readonly string[] {
  const files = [...shared].map(([name, parts]) => {
    const file = path.join(folder, `${name}.test.mjs`);
    writeFileSync(file, parts.map((part) => `import '${pathToFileURL(path.join(root, part)).href}';\n`).join(''));
    return file;
  });
  return [...files, ...alone];
}
