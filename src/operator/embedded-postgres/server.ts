import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { open, readFile, rename, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { InnboundError } from '../../errors.ts';
import { invocation, programEnv } from './account.ts';
import type { Binaries } from './binaries.ts';
import { databaseName, superuser } from './cluster.ts';
import {
  forgetSocketFolder,
  isSocketTooDeep,
  port,
  type ServerFiles,
  socketFolder,
  socketPath,
  sweepSocketFolder,
} from './place.ts';
import { isGone, pidIn, quitOrphans, removeStaleLock, runningPostmaster, signal } from './postmaster.ts';
import { serviceRole } from './role.ts';
import { serverSettings } from './settings.ts';

export interface Server {
  readonly place: ServerFiles;
  readonly binaries: Binaries;
  /** The real path of the data folder. */
  readonly data: string;
}

export type Connection = ReturnType<typeof connectionOf>;

/** After this many starts that fail at once, the start is given up; the log says why. */
const startsAtMost = 3;
/** Recovery after a crash reads up to 2 GB of WAL. */
const timeoutMs = 5 * 60_000;
const pollMs = 20;
const rotatedAtBytes = 4 * 1024 * 1024;

export function connectionOf(socketDir: string, user: string = serviceRole) {
  // Without ssl: false, PGSSLMODE in the environment would enable it on the socket.
  return { host: socketDir, port, user, database: databaseName, ssl: false } as const;
}

/**
 * A session of the superuser on the workspace's server, which is started if it is not running. Starting needs no further lock: PostgreSQL allows one
 * server per data folder, and a process that loses the race connects to the winner's socket at its next attempt.
 */
export async function connect(server: Server, applicationName: string, isWanted: () => boolean): Promise<pg.Client> {
  const deadline = Date.now() + timeoutMs;
  await refuseUnreachable(server);
  const logFrom = await logSize(server.place);
  let starts = 0;
  let child: Spawned | undefined;
  for (;;) {
    const host = await socketFolder(server.place);
    const attempt = await tryConnect(server, { ...connectionOf(host, superuser), application_name: applicationName });
    if (attempt.kind === 'connected') return attempt.client;
    if (attempt.kind === 'elsewhere') {
      await forgetSocketFolder(server.place);
      continue;
    }
    const isDown = !isStarting(child) && (await runningPostmaster(server.data)) === undefined;
    const isHopeless = attempt.kind === 'refused' || (isDown && starts === startsAtMost) || Date.now() > deadline;
    if (isHopeless || !isWanted()) {
      if (isStarting(child)) await ended(child.pid, 'SIGINT', server.data, 10_000);
      throw await startFailed(server, logFrom, attempt.error);
    }
    if (isDown && !(await quitOrphans(server.data))) {
      starts += 1;
      child = await start(server, host);
    }
    await delay(pollMs);
  }
}

/** Its socket stays where it is, for the processes that know it under the workspace's earlier name. */
async function refuseUnreachable({ place, data }: Server): Promise<void> {
  const pid = (await isSocketTooDeep(place)) ? await runningPostmaster(data) : undefined;
  if (pid === undefined) return;
  throw new InnboundError(
    'store.postgres_failed',
    `The workspace was renamed while its PostgreSQL was running, and ${place.home} is too long for a socket. ` +
      `Rename it back, or stop the server (process ${pid}), and try again.`,
    { data, pid },
  );
}

/** True if the server accepts new sessions. A stopping server refuses them before it ends existing ones. */
export async function isAccepting(server: Server): Promise<boolean> {
  const attempt = await tryConnect(server, connectionOf(await socketFolder(server.place), superuser));
  if (attempt.kind === 'connected') await attempt.client.end();
  return attempt.kind === 'connected';
}

type Attempt =
  | { readonly kind: 'connected'; readonly client: pg.Client }
  /** No server is listening: not yet, or no longer. */
  | { readonly kind: 'absent'; readonly error: Error }
  /** The server refuses us; a retry will not help. */
  | { readonly kind: 'refused'; readonly error: Error }
  /** The server of another workspace: its address was copied with the folder. */
  | { readonly kind: 'elsewhere' };

async function tryConnect(server: Server, config: pg.ClientConfig): Promise<Attempt> {
  const client = new pg.Client(config);
  client.on('error', () => {});
  try {
    await client.connect();
    if (await isServing(client, server.data)) return { kind: 'connected', client };
    await client.end();
    return { kind: 'elsewhere' };
  } catch (caught) {
    await client.end().catch(() => {});
    const error = caught as Error & { code?: string };
    // 53: too many sessions; 57: starting up, shutting down, crashed; 58: its folder is going away.
    const passing =
      error.code === undefined || /^5[378]/.test(error.code) || /^E(?!ACCES|PERM)[A-Z]+$/.test(error.code);
    return { kind: passing ? 'absent' : 'refused', error };
  }
}

/** True if the server uses our data folder, also if the workspace was renamed since the server started. */
async function isServing(client: pg.Client, data: string): Promise<boolean> {
  const { rows } = await client.query<{ folder: string; pid_file: string }>(
    `select current_setting('data_directory') as folder, pg_read_file('postmaster.pid') as pid_file`,
  );
  const [row] = rows;
  if (row === undefined || row.folder === data) return row !== undefined;
  return pidIn(row.pid_file) === pidIn(await readFile(path.join(data, 'postmaster.pid'), 'utf8').catch(() => ''));
}

type Spawned = ChildProcess & { readonly pid: number };

function isStarting(child: Spawned | undefined): child is Spawned {
  return child !== undefined && child.exitCode === null && child.signalCode === null;
}

async function start({ place, binaries, data }: Server, socketDir: string): Promise<Spawned> {
  await removeStaleLock(path.join(data, 'postmaster.pid'), data);
  await removeStaleLock(`${socketPath(socketDir)}.lock`, data);
  if ((await logSize(place)) > rotatedAtBytes) await rename(place.log, `${place.log}.1`).catch(() => {});
  const log = await open(place.log, 'a', 0o600);
  try {
    const call = invocation(place.account, binaries.postgres, ['-D', data, ...serverSettings(socketDir)]);
    // Its own process group: Ctrl-C in a terminal goes to the service only, which then stops the server properly.
    const child = spawn(call.file, call.args, {
      ...call.options,
      env: programEnv(binaries.loaderEnv),
      detached: true,
      stdio: ['ignore', log.fd, log.fd],
    });
    await once(child, 'spawn');
    child.on('error', () => {});
    child.unref();
    return child as Spawned;
  } finally {
    await log.close();
  }
}

async function logSize(place: ServerFiles): Promise<number> {
  return (await stat(place.log).catch(() => ({ size: 0 }))).size;
}

/** Log lines of a normal start, which explain no failure. */
const inPassing = /starting up|shutting down|administrator command|LOG: |HINT: |DETAIL: /;

async function startFailed({ place, data }: Server, logFrom: number, cause: Error): Promise<InnboundError> {
  const log = await readFile(place.log).catch(() => Buffer.alloc(0));
  const lines = log
    .subarray(log.length < logFrom ? 0 : logFrom)
    .toString()
    .split('\n');
  const reason = lines.filter((line) => line !== '' && !inPassing.test(line)).at(-1) ?? cause.message;
  const message = `The private PostgreSQL did not start: ${reason} (log: ${place.log})`;
  return new InnboundError('store.postgres_failed', message, { log: place.log, data }, cause);
}

/** Stops the server and returns when the process is gone. Ends running sessions; committed work is kept. */
export async function stop({ place, data }: Server): Promise<void> {
  const pid = await runningPostmaster(data);
  if (pid !== undefined) {
    (await ended(pid, 'SIGINT', data, 10_000)) || (await ended(pid, 'SIGQUIT', data, 3_000));
  }
  await sweepSocketFolder(place);
}

/** Cleans up after a server that was lost and is no longer needed. */
export async function sweep({ place, data }: Server): Promise<void> {
  const deadline = Date.now() + 3_000;
  while ((await quitOrphans(data)) && Date.now() < deadline) await delay(pollMs);
  await sweepSocketFolder(place);
}

async function ended(pid: number, by: NodeJS.Signals, data: string, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  signal(pid, by);
  while (!(await isGone(pid, data))) {
    if (Date.now() > deadline) return false;
    await delay(pollMs);
  }
  return true;
}
