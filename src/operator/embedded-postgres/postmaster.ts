import { execFile } from 'node:child_process';
import { link, readdir, readFile, readlink, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';

/**
 * The process named in postmaster.pid. The pid alone proves nothing: after a reboot, or in a copied folder, it may belong to another
 * program. The working directory of a PostgreSQL server is its data folder, so that is checked.
 */
export async function runningPostmaster(data: string): Promise<number | undefined> {
  const pid = pidIn(await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => ''));
  return pid > 0 && (await servesFrom(pid, data)) ? pid : undefined;
}

/** True if the process is a PostgreSQL server on this data folder. */
async function servesFrom(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') {
    const ps = promisify(execFile)('ps', ['-ww', '-o', 'command=', '-p', String(pid)]);
    return (await ps.catch(() => ({ stdout: '' }))).stdout.includes(data);
  }
  try {
    const [folder, program] = await Promise.all([readlink(`/proc/${pid}/cwd`), readlink(`/proc/${pid}/exe`)]);
    return folder === data && path.basename(program).startsWith('postgres');
  } catch (error) {
    // Root in a container may not inspect the processes of other accounts, but it may read their command lines.
    return (error as NodeJS.ErrnoException).code === 'EACCES' && (await commandLine(pid)).split('\0').includes(data);
  }
}

/** Stricter than not serving: an exiting process may have released its folder or program already. */
export async function isGone(pid: number, data: string): Promise<boolean> {
  if (process.platform !== 'linux') return !(await servesFrom(pid, data));
  const state = /\) (\w)/.exec(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))?.[1];
  if (state === undefined || state === 'Z' || state === 'X') return true;
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => data);
  return folder !== data; // another program has this pid now
}

/** Only for PostgreSQL's own lock files, which begin with the pid of their holder. */
export async function removeStaleLock(file: string, data: string): Promise<void> {
  const text = await readFile(file, 'utf8').catch(() => undefined);
  // PostgreSQL itself clears a lock whose process is gone.
  if (text === undefined || !isAlive(pidIn(text)) || (await serversOn(data)).length > 0) return;
  // Renamed first: if a server created a new lock in this moment, it is noticed and put back.
  const aside = `${file}.stale-${process.pid}`;
  if (!(await rename(file, aside).then(isDone, isRefused))) return;
  if ((await readFile(aside, 'utf8')) !== text) await link(aside, file).catch(() => {});
  await rm(aside, { force: true });
}

/**
 * Children of a killed postmaster finish their statements first, and no new server starts while they run. Sends them SIGQUIT, as the
 * postmaster would have done. True if there were any.
 */
export async function quitOrphans(data: string): Promise<boolean> {
  let isRunning = false;
  for (const pid of await serversOn(data)) {
    const parent = await parentOf(pid);
    const isChild = (await commandLine(pid)).startsWith('postgres: ');
    if (!isChild || parent === undefined || (await servesFrom(parent, data))) continue;
    isRunning = true;
    signal(pid, 'SIGQUIT');
  }
  return isRunning;
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

/** False if the process does not exist any more. */
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

/** A single-user server writes its pid as a negative number. */
export const pidIn = (text: string) => Math.abs(Number.parseInt(text, 10));
const isDone = () => true;
const isRefused = () => false;
