import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isAlive } from './postmaster.ts';

/**
 * Who uses the server is written down in the server, as advisory locks of one session per process: they go when the
 * process goes, however it goes.
 *
 *   use       shared, by everyone; whoever gets it exclusively is the last one and may stop the server
 *   service   exclusive, by the one service of the workspace
 */
const lockClass = 0x1bb0;
const useLock = 1;
const serviceLock = 2;

export type Purpose = 'service' | 'command';

export interface Holder {
  readonly pid: number;
  readonly host: string;
  readonly since: string;
  readonly describe: string;
}

export type Joined = { readonly kind: 'joined' } | { readonly kind: 'held'; readonly holder: Holder };

/** The session of a killed service ends within moments; someone restarting at once should not be refused for it. */
const graceMs = 3_000;

const thisHost =
  hostname()
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, 20) || 'localhost';

/** PostgreSQL keeps 63 bytes of it. */
export function applicationName(purpose: Purpose): string {
  return `innbound ${purpose} ${process.pid}@${thisHost} ${new Date().toISOString().slice(0, 19)}Z`;
}

export async function join(session: pg.Client, purpose: Purpose, describe: string): Promise<Joined> {
  // Waits while a last one is leaving: its server stops, this session is cut, and the caller starts over.
  await session.query('select pg_advisory_lock_shared($1, $2)', [lockClass, useLock]);
  const deadline = Date.now() + graceMs;
  while (purpose === 'service' && !(await tryLock(session, serviceLock))) {
    const holder = await findHolder(session);
    if (holder !== undefined && (isKnownAlive(holder) || Date.now() > deadline)) return { kind: 'held', holder };
    await delay(50);
  }
  // The last statement of a session can be read by the others: what application_name has no room for.
  await session.query(`select /*${printable(describe)}*/ 1`);
  return { kind: 'joined' };
}

/** True if nobody else uses the server: nobody can come in either until this session ends. */
export async function leave(session: pg.Client): Promise<boolean> {
  await session.query('select pg_advisory_unlock_shared($1, $2)', [lockClass, useLock]);
  return tryLock(session, useLock);
}

async function tryLock(session: pg.Client, lock: number): Promise<boolean> {
  const { rows } = await session.query<{ got: boolean }>('select pg_try_advisory_lock($1, $2) as got', [
    lockClass,
    lock,
  ]);
  return rows[0]?.got === true;
}

export async function findHolder(session: pg.ClientBase | pg.Pool): Promise<Holder | undefined> {
  const { rows } = await session.query<{ application_name: string; query: string }>(
    `select application_name, query
       from pg_locks join pg_stat_activity using (pid)
      where locktype = 'advisory' and classid = $1 and objid = $2 and objsubid = 2
        and mode = 'ExclusiveLock' and granted
        and pg_locks.database = (select oid from pg_database where datname = current_database())`,
    [lockClass, serviceLock],
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const [, pid = '0', host = 'unknown', since = 'unknown'] = /(\d+)@(\S+) (\S+)$/.exec(row.application_name) ?? [];
  return { pid: Number(pid), host, since, describe: /^select \/\*(.*)\*\/ 1$/.exec(row.query)?.[1] ?? 'a service' };
}

function isKnownAlive({ pid, host }: Holder): boolean {
  return host === thisHost && isAlive(pid);
}

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]|\*\/|\/\*/g, ' ').slice(0, 200);
}
