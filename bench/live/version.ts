import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

const root = path.join(import.meta.dirname, '..', '..');
const exec = promisify(execFile);

/** A version of the program in its own folder. */
export interface Version {
  /** As a person names it: a commit with its subject. */
  readonly name: string;
  /** Its `src/main.ts`. */
  readonly program: string;
  readonly migrations: readonly string[];
  /** It knows `serve --grace`. */
  readonly hasGrace: boolean;
  /** Its packages are those of this tree. */
  readonly isLockfileDifferent: boolean;
}

/** The console is not used here, and building it takes longer than the run. */
const noConsole = `import path from 'node:path';
export const consoleDist = path.join(import.meta.dirname, 'dist');
export const isConsoleBuilt = () => true;
export const buildConsole = async () => 'up to date';
`;

const parts = [
  'src',
  'packages',
  'schemas',
  'connectors',
  'presets',
  'console/build.ts',
  'package.json',
  'package-lock.json',
];

/** Unpacks a commit, with the installed packages of this tree. */
export async function versionOf(ref: string, folder: string): Promise<Version> {
  const { stdout } = await exec('git', ['log', '-1', '--format=%h %s', `${ref}^{commit}`], { cwd: root }).catch(() => {
    throw new Error(`There is no commit ${ref} here. A clone without history has none: run git fetch --unshallow.`);
  });
  await mkdir(folder, { recursive: true });
  const unpack = spawn('tar', ['-x', '-C', folder], { stdio: ['pipe', 'ignore', 'inherit'] });
  const archive = spawn('git', ['archive', ref, ...parts], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  archive.stdout.pipe(unpack.stdin);
  const code = await new Promise((resolve) => unpack.once('close', resolve));
  if (code !== 0) throw new Error(`tar ended with ${code}`);
  return prepared(folder, stdout.trim());
}

/** This tree, with one more migration if `migration` is given. */
export async function thisVersion(
  folder: string,
  migration?: { readonly file: string; readonly sql: string },
): Promise<Version> {
  for (const part of parts) {
    await cp(path.join(root, part), path.join(folder, part), { recursive: true });
  }
  if (migration) {
    const migrations = path.join(await storeOf(folder), 'migrations');
    await mkdir(migrations, { recursive: true });
    await writeFile(path.join(migrations, migration.file), migration.sql);
  }
  return prepared(folder, 'this tree');
}

/** Older commits have their store and their commands in other folders. */
async function oneOf(folder: string, places: readonly string[]): Promise<string> {
  for (const place of places)
    if ((await stat(path.join(folder, place)).catch(() => undefined)) !== undefined) return path.join(folder, place);
  throw new Error(`${folder} has none of ${places.join(', ')}`);
}
const storeOf = (folder: string) => oneOf(folder, ['src/core/store', 'src/store']);

async function prepared(folder: string, name: string): Promise<Version> {
  await writeFile(path.join(folder, 'console', 'build.ts'), noConsole);
  await symlink(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const [own, current] = await Promise.all(
    [folder, root].map((where) => readFile(path.join(where, 'package-lock.json'), 'utf8')),
  );
  const serve = await oneOf(folder, ['src/operator/cli/serve.ts', 'src/cli/serve.ts']);
  const migrations = await readdir(path.join(await storeOf(folder), 'migrations')).catch((): string[] => []);
  return {
    name,
    program: path.join(folder, 'src', 'main.ts'),
    hasGrace: (await readFile(serve, 'utf8')).includes('--grace'),
    migrations: migrations.filter((file) => file.endsWith('.sql')).sort(),
    isLockfileDifferent: own !== current,
  };
}
