import { readdirSync, readFileSync } from 'node:fs';

/**
 * Processor time of this process and of a PostgreSQL with all its backends, in milliseconds. On a busy machine
 * it is more meaningful than wall-clock time. Available on Linux only; elsewhere the server's part is 0.
 */
export interface CpuMs {
  readonly node: number;
  readonly server: number;
}

export function cpuMs(postmaster: number): CpuMs {
  const { user, system } = process.cpuUsage();
  return { node: (user + system) / 1000, server: serverMs(postmaster) };
}

const tickMs = 10;

/** The postmaster and its children. */
export const familyOf = (postmaster: number): number[] =>
  processes().filter((pid) => pid === postmaster || statOf(pid)?.parent === postmaster);

export function serverMs(postmaster: number): number {
  let sum = 0;
  for (const pid of familyOf(postmaster)) {
    const stat = statOf(pid);
    if (stat === undefined) continue;
    // The parent accounts for backends that have ended.
    sum += stat.own + (pid === postmaster ? stat.ended : 0);
  }
  return sum * tickMs;
}

/** Processor time of one process. */
export function processMs(pid: number): number {
  return (statOf(pid)?.own ?? 0) * tickMs;
}

function commandOf(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

function processes(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number);
  } catch {
    return [];
  }
}

function statOf(pid: number): { parent: number; own: number; ended: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const cells = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [parent = 0] = cells.slice(1);
    const [user = 0, system = 0, childUser = 0, childSystem = 0] = cells.slice(11);
    return { parent, own: user + system, ended: childUser + childSystem };
  } catch {
    return undefined;
  }
}

/** The postmaster of the private server whose files are under the folder. */
export function postmasterUnder(folder: string): number {
  return postmaster((words) => words.some((word) => word.startsWith(folder)));
}

/** The postmaster: the first process with the folder on its command line. */
export function postmasterOf(dataFolder: string): number {
  return postmaster((words) => words.includes(dataFolder));
}

function postmaster(isIts: (words: readonly string[]) => boolean): number {
  const found = processes().find((pid) => {
    const [program = '', ...words] = commandOf(pid);
    return program.endsWith('postgres') && isIts(words);
  });
  return found ?? 0;
}
