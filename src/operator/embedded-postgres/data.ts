import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, stat, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InnboundError } from '../../errors.ts';
import { type Account, canReach } from './account.ts';
import { type Binaries, findBinaries, publicCopy } from './binaries.ts';
import { createCluster } from './cluster.ts';
import { ignoreExisting, own, type ServerFiles } from './place.ts';
import { isAlive } from './postmaster.ts';

/** The programs, in a place that the server's account can read. */
export async function programs(place: ServerFiles): Promise<Binaries> {
  const binaries = await findBinaries(path.join(place.home, 'lib'));
  if (place.account.kind !== 'user') return binaries;
  const linked = Object.keys(binaries.loaderEnv).length > 0;
  if (!linked && (await canReach(place.account, binaries.home))) return binaries;
  return publicCopy(binaries, await outside(place.account));
}

/** The real path of the data folder, created on first use. If two processes create it at once, one wins and the other discards its copy. */
export async function dataFolder(place: ServerFiles, binaries: Binaries): Promise<string> {
  const there = await realpath(place.dataLink).catch(() => undefined);
  if (there !== undefined) return there;
  if ((await lstat(place.dataLink).catch(() => undefined)) !== undefined) {
    throw new InnboundError('store.postgres_failed', `${place.dataLink} is a link to a folder that no longer exists.`);
  }
  await (place.open ? makeHere(place, binaries) : makeOutside(place, binaries));
  return realpath(place.dataLink);
}

async function makeHere(place: ServerFiles, binaries: Binaries): Promise<void> {
  await discardUnfinished(place.home);
  const aside = await mkdtemp(path.join(place.home, `pg.new-${process.pid}-`));
  try {
    await own(place.account, aside);
    await createCluster(binaries, place.account, aside, { durable: true });
    await rename(aside, place.dataLink).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function makeOutside(place: ServerFiles, binaries: Binaries): Promise<void> {
  const folder = await mkdtemp(path.join(await outside(place.account), 'data-'));
  try {
    await own(place.account, folder);
    await createCluster(binaries, place.account, folder, { durable: true });
    await symlink(folder, place.dataLink).catch(ignoreExisting);
  } finally {
    const used = await realpath(place.dataLink).catch(() => undefined);
    if (used !== (await realpath(folder))) await rm(folder, { recursive: true, force: true });
  }
}

/** Removes the unfinished folder of a process that was killed during initdb. */
async function discardUnfinished(home: string): Promise<void> {
  for (const name of await readdir(home)) {
    const pid = /^pg\.new-(\d+)-/.exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) await rm(path.join(home, name), { recursive: true, force: true });
  }
}

/** A folder owned by root that the account can enter, preferably one that survives a restart. Called as root only. */
async function outside(account: Account): Promise<string> {
  for (const folder of ['/var/lib/innbound', path.join(os.tmpdir(), 'innbound-postgres'), '/tmp/innbound-postgres']) {
    await mkdir(folder, { mode: 0o755 }).catch(() => {});
    const stats = await stat(folder).catch(() => undefined);
    const safe = stats?.isDirectory() === true && stats.uid === 0 && (stats.mode & 0o022) === 0;
    if (safe && (await canReach(account, folder))) return folder;
  }
  throw new InnboundError(
    'store.postgres_failed',
    'PostgreSQL does not run as root, user namespaces are forbidden here, and no folder outside the workspace can be used: ' +
      'create /var/lib/innbound, run as an ordinary user, or set DATABASE_URL.',
  );
}
