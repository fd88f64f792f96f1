/** Which test files share a process in the suite. */
import { globSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Files that each need a separate process: those that measure time or memory, end processes, or take long. All others share one process
 * per folder: six files of test/api take 13 s of processor time together and 23 s apart (2 arm64 cores, busy), because each loads the
 * sources and starts a PostgreSQL.
 */
const alone = ['console', 'deliver', 'e2e', 'embedded-postgres', 'fuzz', 'install', 'intake', 'simulation'];

export interface TestPlan {
  readonly alone: readonly string[];
  /** By folder. */
  readonly shared: ReadonlyMap<string, readonly string[]>;
}

export function planTests(root: string): TestPlan {
  const files = globSync('test/**/*.test.ts', { cwd: root }).sort();
  const isAlone = (file: string) =>
    alone.some((each) => file.startsWith(`test/${each}/`) || file === `test/${each}.test.ts`);
  const shared = Map.groupBy(
    files.filter((file) => !isAlone(file)),
    (file) => file.split('/').slice(1, -1)[0] ?? 'all',
  );
  return { alone: files.filter(isAlone), shared };
}

/** Writes one file into `folder` per shared process. Returns what to give to `node --test`. */
export function writeShared(root: string, { alone, shared }: TestPlan, folder: string): readonly string[] {
  const files = [...shared].map(([name, parts]) => {
    const file = path.join(folder, `${name}.test.mjs`);
    writeFileSync(file, parts.map((part) => `import '${pathToFileURL(path.join(root, part)).href}';\n`).join(''));
    return file;
  });
  return [...files, ...alone];
}
