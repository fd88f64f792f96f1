import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { isAlive } from './postmaster.ts';

/**
 * Each process records its use of the server as advisory locks of one session. The locks end with the process, however it ends.
 *
 *   use       shared, held by every process; the last process can take it exclusively and may stop the server
 *   service   exclusive, held by the one service of the workspace
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

/** The session of a killed service may outlive it briefly; an immediate restart must not be refused because of it. */
const graceMs = 3_000;

const thisHost =
  hostname()
    .replace(/[^\x21-\x7e]/g, '')
    .slice(0, 20) || 'localhost';

/** PostgreSQL truncates it to 63 bytes. */
export function applicationName(purpose: Purpose): string {
  return `innbound ${purpose} ${process.pid}@${thisHost} ${new Date().toISOString().slice(0, 19)}Z`;
}

export async function join(session: pg.Client, purpose: Purpose, describe: string): Promise<Joined> {
  // Waits while the last process is leaving. Then the server stops, this session ends, and the caller starts again.
  await session.query('select pg_advisory_lock_shared($1, $2)', [lockClass, useLock]);
  const deadline = Date.now() + graceMs;
  while (purpose === 'service' && !(await tryLock(session, serviceLock))) {
    const holder = await findHolder(session);
    const isAliveHere = holder?.host === thisHost && isAlive(holder.pid);
    if (holder !== undefined && (isAliveHere || Date.now() > deadline)) return { kind: 'held', holder };
    await delay(50);
  }
  // Other sessions can read our last statement: it carries the text that does not fit into application_name.
  await session.query(`select /*${printable(describe)}*/ 1`);
  return { kind: 'joined' };
}

/** True if no other process uses the server. Then no process can join until this session ends. */
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

function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]|\*\/|\/\*/g, ' ').slice(0, 200);
}
