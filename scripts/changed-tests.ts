/** Which test files a change can reach: those that import it, those that read it, and those that start a program with it. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Types are left out: the compiler checks them, and nothing that runs depends on them. */
const imported = /^\s*(?:import|export)\s+(?!type\b)(?:[\w*{}\s,$]+?\s+from\s+)?['"](\.[^'"]+)['"]/gm;
/** `import('…')`, `new URL('…')`, and every other relative path. */
const named = /['"`](\.{1,2}\/[^'"`\n]+)['"`]/g;
const isCode = (file: string): boolean => /\.(?:ts|tsx|mjs|cjs)$/.test(file);
const isTest = (file: string): boolean => /^test\/.*\.test\.ts$/.test(file);

/** How code names files without a relative path: a path from the root, or its parts. */
const quoted = /['"`]([\w@.{},*/ -]+)['"`](?=(?:,\s*['"`]([\w.-]+)['"`])?)/g;

/** Folders whose files are loaded by name, and those that the console is made from. */
const loaders: Readonly<Record<string, readonly string[]>> = {
  'console/build.ts': ['console'],
  'src/operator/cli/run.ts': ['src/operator/cli'],
  'src/core/deliver/destinations.ts': ['src/core/deliver/destinations'],
  'src/core/documents/destination.ts': ['src/core/deliver/destinations'],
  'test/connectors/vendors/vendors.test.ts': ['test/connectors/vendors/systems', 'connectors'],
};

/** What a file with this text depends on, of these files. */
export function reachedBy(file: string, text: string, files: ReadonlySet<string>): Set<string> {
  const found = new Set<string>();
  const add = (at: string) => files.has(at) && found.add(at);
  const importsOnly = text.replaceAll(/^\s*(?:import|export)\s+type\b[^;]*;/gm, '');
  for (const pattern of [imported, named])
    for (const [, at = ''] of importsOnly.matchAll(pattern)) add(path.normalize(path.join(path.dirname(file), at)));
  for (const folder of loaders[file] ?? []) addFolder(folder, files, found);
  // What the service and the scripts read, the tests that are about it name too.
  if (!file.startsWith('test/')) return found;
  const readsFolders = /\b(?:globSync|readdir|readdirSync|cp|cpSync)\(/.test(text);
  for (const [, first = '', second] of importsOnly.matchAll(quoted)) {
    add(first);
    if (second !== undefined) add(`${first}/${second}`);
    if (`${first}/${second}` === 'bin/innbound') add('src/main.ts');
    // A folder that is read: connectors, presets, docs, or all sources.
    const folder = first.replace(/\/?\*.*$/, '');
    if (readsFolders && isTest(file) && folder.length > 2 && !folder.startsWith('.')) addFolder(folder, files, found);
  }
  return found;
}

function addFolder(folder: string, files: ReadonlySet<string>, found: Set<string>): void {
  for (const each of files) if (each.startsWith(`${folder}/`)) found.add(each);
}

/** The changed files and everything that depends on them. */
export function reaching(
  changed: readonly string[],
  dependencies: ReadonlyMap<string, ReadonlySet<string>>,
): Set<string> {
  const users = new Map<string, string[]>();
  for (const [file, targets] of dependencies)
    for (const target of targets) users.set(target, [...(users.get(target) ?? []), file]);
  const found = new Set(changed);
  for (const file of found) for (const user of users.get(file) ?? []) found.add(user);
  return found;
}

/** Since the branch left `since`, committed or not. All tests if the packages or the suite itself changed. */
export function changedTests(root: string, since: string): readonly string[] {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: root, encoding: 'utf8' })
      .split('\n')
      .filter((line) => line !== '');
  const files = new Set([...git('ls-files'), ...git('ls-files', '--others', '--exclude-standard')]);
  const [base = 'HEAD'] = git('merge-base', since, 'HEAD');
  const changed = [...git('diff', '--name-only', base), ...git('ls-files', '--others', '--exclude-standard')];
  const dependencies = new Map(
    [...files]
      .filter((file) => isCode(file) && existsSync(path.join(root, file)))
      .map((file) => [file, reachedBy(file, readFileSync(path.join(root, file), 'utf8'), files)]),
  );
  const isWhole = changed.some((file) =>
    /^(?:package-lock\.json|scripts\/(?:test|untraced|process-cost).*)$/.test(file),
  );
  const reached = isWhole ? files : reaching(changed, dependencies);
  return [...reached].filter((file) => isTest(file) && existsSync(path.join(root, file))).sort();
}
