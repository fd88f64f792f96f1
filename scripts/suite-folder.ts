/** The folder for everything that tests write: TMPDIR of a run. */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

const memory = '/dev/shm';
/** Short: the path of a socket has 107 bytes at most. */
const name = /^inn-(\d+)-\w{6}$/;

/** The suite has 1.8 GB of files at most. The rest is for PostgreSQL, browsers and Node. */
const neededBytes = 4 * 1024 ** 3;

/**
 * In memory if there is enough of it: each test's database has 640 files, and ext4 creates files slowly while many were deleted just
 * before. 25 files of test/intake take 104 instead of 122 s of processor time (2 arm64 cores, busy).
 */
export function makeSuiteFolder(): string {
  const parent = hasRoom() ? memory : os.tmpdir();
  removeAbandoned(parent);
  const folder = mkdtempSync(path.join(parent, `inn-${process.pid}-`));
  // As /tmp: PostgreSQL may run as another account.
  chmodSync(folder, 0o1777);
  return folder;
}

/** A server that a test started may still remove its files at this moment. */
export const removeSuiteFolder = (folder: string): void =>
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    return bavail * bsize >= neededBytes && os.freemem() >= neededBytes && mayExecute();
  } catch {
    return false;
  }
}

/** Containers often mount it without the right to execute, and tests run programs that they copied. */
function mayExecute(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const options = mounts.findLast((line) => line.split(' ')[1] === memory)?.split(' ')[3];
  return options !== undefined && !options.split(',').includes('noexec');
}

/** Folders of runs that were killed. */
function removeAbandoned(parent: string): void {
  for (const found of readdirSync(parent)) {
    const pid = name.exec(found)?.[1];
    if (pid !== undefined && !isRunning(Number(pid))) removeSuiteFolder(path.join(parent, found));
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}
