import { chmod, chown, lstat, mkdir, mkdtemp, readlink, realpath, rm, rmdir, stat, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { InnboundError } from '../../errors.ts';
import { type Account, canReach, chooseAccount, self } from './account.ts';

/**
 * Where a workspace's server lives, all under `.innbound/`:
 *
 *   pg             the data; a link to it if the server's account cannot enter the workspace
 *   run            the socket's folder, mode 0700; a link to a folder under the system's temporary folder if the account cannot
 *                  enter the workspace, or if the path is too long for a socket address
 *   postgres.log   the server's log
 *
 * Creating a link is atomic, so all processes agree without a lock.
 */
export interface ServerFiles {
  readonly home: string;
  /** `.innbound/pg`, which may be a link. */
  readonly dataLink: string;
  readonly log: string;
  readonly account: Account;
  /** True if the account can enter the workspace. */
  readonly open: boolean;
}

export const port = 5432;

/** A socket's address holds 108 bytes on Linux and 104 on macOS. */
const longestSocketPath = 100;

export async function findPlace(workspaceDir: string, force?: 'namespace' | 'nobody'): Promise<ServerFiles> {
  const folder = await realpath(workspaceDir).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
    throw new InnboundError('documents.no_workspace', `There is no folder ${workspaceDir}.`, { dir: workspaceDir });
  });
  const home = path.join(folder, '.innbound');
  await mkdir(home, { recursive: true, mode: 0o700 });
  const dataLink = path.join(home, 'pg');
  const account = await accountOf(dataLink, force);
  if (account.kind === 'user') {
    // The account may traverse the folder to reach its data, but not list it.
    await chmod(home, ((await stat(home)).mode & 0o777) | 0o011);
  }
  return { home, dataLink, log: path.join(home, 'postgres.log'), account, open: await canReach(account, home) };
}

/** If data exists, its owner runs the server. */
async function accountOf(dataLink: string, force?: 'namespace' | 'nobody'): Promise<Account> {
  const owner = await stat(dataLink).catch(() => undefined);
  const me = process.getuid?.();
  if (owner === undefined || me === undefined) return chooseAccount(force);
  if (me !== 0) {
    if (owner.uid === me) return self;
    throw new InnboundError(
      'store.postgres_failed',
      `The data in ${dataLink} belongs to the user with id ${owner.uid}: run as that user, or change the owner to ${me} with chown -R.`,
      { owner: owner.uid, user: me },
    );
  }
  if (owner.uid !== 0) return { kind: 'user', uid: owner.uid, gid: owner.gid };
  const account = await chooseAccount(force);
  if (account.kind !== 'user') return account;
  throw new InnboundError(
    'store.postgres_failed',
    `The data in ${dataLink} belongs to root, for which PostgreSQL runs only in a user namespace, and those are forbidden ` +
      `here now. Stop every process that uses it and run: chown -R ${account.uid}:${account.gid} ${dataLink}`,
    { owner: 0 },
  );
}

/** The socket's folder, created if missing. Checked at every attempt, because a temporary folder may be cleaned up at any time. */
export async function socketFolder(place: ServerFiles): Promise<string> {
  const link = path.join(place.home, 'run');
  const here = place.open && fitsSocket(link);
  for (;;) {
    const stats = await lstat(link).catch(() => undefined);
    if (stats?.isDirectory() && here) {
      if (await isOurs(place.account, link)) return link;
      await own(place.account, link);
      await chmod(link, 0o700);
      return link;
    }
    if (stats?.isSymbolicLink()) {
      const target = await readlink(link);
      // If it was cleaned up, it is created again under the same name, because a service's pool keeps connecting to it.
      await mkdir(target, { mode: 0o700 }).then(
        () => own(place.account, target),
        () => {},
      );
      if (await isOurs(place.account, target)) return target;
    }
    if (stats !== undefined) await rm(link, { recursive: true, force: true });
    if (here) {
      await mkdir(link, { mode: 0o700 }).catch(ignoreExisting);
    } else {
      const folder = await temporaryFolder(place.account);
      await symlink(folder, link).catch(async (error: unknown) => {
        await rm(folder, { recursive: true, force: true });
        ignoreExisting(error);
      });
    }
  }
}

/** True if the socket's folder came to a path that is too long for a socket: the workspace was renamed. */
export async function isSocketTooDeep({ home }: ServerFiles): Promise<boolean> {
  const folder = path.join(home, 'run');
  return !fitsSocket(folder) && (await lstat(folder).catch(() => undefined))?.isDirectory() === true;
}

export function socketPath(folder: string): string {
  return path.join(folder, `.s.PGSQL.${port}`);
}

const fitsSocket = (folder: string): boolean => Buffer.byteLength(socketPath(folder)) <= longestSocketPath;

/** Removes the temporary folder after the server has stopped. A folder in use again is not empty, so rmdir leaves it. */
export async function sweepSocketFolder(place: ServerFiles): Promise<void> {
  const link = path.join(place.home, 'run');
  const target = await readlink(link).catch(() => undefined);
  if (target !== undefined) await rmdir(target).catch(() => {});
}

/** Removes a link that was copied with another workspace and points to that workspace's server. */
export async function forgetSocketFolder(place: ServerFiles): Promise<void> {
  await rm(path.join(place.home, 'run'), { recursive: true, force: true });
}

async function isOurs(account: Account, folder: string): Promise<boolean> {
  const stats = await lstat(folder).catch(() => undefined);
  const owner = account.kind === 'user' ? account.uid : process.getuid?.();
  return stats?.isDirectory() === true && stats.uid === owner && (stats.mode & 0o077) === 0;
}

async function temporaryFolder(account: Account): Promise<string> {
  for (const parent of new Set([os.tmpdir(), '/tmp'])) {
    const folder = await mkdtemp(path.join(parent, 'innbound-')).catch(() => undefined);
    if (folder === undefined) continue;
    await own(account, folder);
    if (fitsSocket(folder) && (await canReach(account, folder))) return folder;
    await rmdir(folder);
  }
  throw new InnboundError(
    'store.postgres_failed',
    'No temporary folder can hold the socket: set TMPDIR to a short path.',
  );
}

export async function own(account: Account, folder: string): Promise<void> {
  if (account.kind === 'user') await chown(folder, account.uid, account.gid);
}

export function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
