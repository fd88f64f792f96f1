import { execFile } from 'node:child_process';
import { link, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * The process that PostgreSQL names in postmaster.pid. The name alone proves nothing: after a reboot, or in a copied
 * folder, the number may be another program's. A server stands in its data folder, and that is what we look at.
 */
export async function runningPostmaster(data: string): Promise<number | undefined> {
  const pid = pidIn(await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => ''));
  return pid > 0 && (await servesFrom(pid, data)) ? pid : undefined;
}

/** Whether the process is a PostgreSQL on this data folder. */
async function servesFrom(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return (await ps.catch(() => ({ stdout: '' }))).stdout.includes(data);
  }
  try {
    const [folder, program] = await Promise.all([readlink(`/proc/${pid}/cwd`), readlink(`/proc/${pid}/exe`)]);
    return folder === data && path.basename(program).startsWith('postgres');
  } catch (error) {
    // A container's root may not look into the processes of other accounts; their command lines it may read.
    return (error as NodeJS.ErrnoException).code === 'EACCES' && (await commandLine(pid)).split('\0').includes(data);
  }
}

/** Stricter than not serving: a process on its way out has already let go of its folder or program. */
export async function isGone(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') return !(await servesFrom(pid, data));
  const state = /\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.[1];
  if (state === undefined || state === 'Z' || state === 'X') return true;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => data);
  return folder !== data; // the number has passed on to another program
}

/** Only PostgreSQL's own files are passed here: each begins with the pid of the one who holds it. */
export async function removeStaleLock(file: string, data: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  // A lock whose process is gone PostgreSQL clears by itself.
  if (text === undefined || !isAlive(pidIn(text)) || (await serversOn(data)).length > 0) return;
  // Taken aside first, so that the lock of a server started this very moment is noticed and put back.
  const aside = `${file}.stale-${process.pid}`;
  if (!(await rename(file, aside).then(isDone, isRefused))) return;
  if ((await readFile(aside, 'utf8')) !== text) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
}

/**
 * A postmaster that was killed leaves children that finish their statement first, and no new server starts beside them.
 * They are told to quit as the postmaster would have told them. True if there were any.
 */
export async function quitOrphans(data: string): Promise<boolean> {
  let found = false;
  for (const pid of await serversOn(data)) {
    const parent = await parentOf(pid);
    const isChild = (await commandLine(pid)).startsWith('postgres: ');
    if (!isChild || parent === undefined || (await servesFrom(parent, data))) continue;
    found = true;
    signal(pid, 'SIGQUIT');
  }
  return found;
}

export function isAlive(pid: number): boolean {
  if (!(pid > 0)) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

/** False if there is no such process any more. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch {
    return false;
  }
}

async function serversOn(data: string): Promise<number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.filter((name) => /^\d+$/.test(name)).map(Number);
  const serving = await Promise.all(pids.map((pid) => servesFrom(pid, data)));
  return pids.filter((_, at) => serving[at]);
}

async function parentOf(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const parent = /^PPid:\s*(\d+)$/m.exec(status)?.[1];
  return parent === undefined ? undefined : Number(parent);
}

function commandLine(pid: number): Promise<string> {
  return readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
}

/** A server for one user only writes it negative. */
const pidIn = (text: string) => Math.abs(Number.parseInt(text, 10));
const isDone = () => true;
const isRefused = () => false;
