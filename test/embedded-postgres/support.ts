import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, chown, mkdir, mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import type { TestContext } from 'node:test';
import pg from 'pg';
import type { Connection } from '../../src/operator/embedded-postgres/server.ts';
import { copyCluster } from '../support/database.ts';

export const isRoot = process.getuid?.() === 0;

const ends = new WeakMap<TestContext, (() => unknown)[]>();

/** Like t.after, but in reverse order: a server is released before its folder is removed. */
export function atEnd(t: TestContext, end: () => unknown): void {
  const stack = ends.get(t) ?? [];
  stack.push(end);
  if (ends.has(t)) return;
  ends.set(t, stack);
  t.after(async () => {
    for (const each of stack.reverse()) await each();
  });
}

/**
 * A workspace that is removed after the test, `below` a folder of the given mode. It already has its data folder, as after an
 * earlier start, unless `empty` is set.
 */
export async function workspace(
  t: TestContext,
  {
    below = 'workspace',
    mode = 0o700,
    uid,
    empty = false,
  }: { below?: string; mode?: number; uid?: number; empty?: boolean } = {},
): Promise<string> {
  const root = await mkdtemp(path.join(os.tmpdir(), 'innbound-pg-'));
  atEnd(t, () => rm(root, { recursive: true, force: true }));
  const folder = path.join(root, below);
  await mkdir(folder, { recursive: true });
  await chmod(root, mode);
  if (uid !== undefined)
    for (let each = folder; each.startsWith(root); each = path.dirname(each)) await chown(each, uid, uid);
  if (empty) return folder;
  await mkdir(path.join(folder, '.innbound', 'run'), { recursive: true });
  await copyCluster(path.join(folder, '.innbound', 'pg'));
  return folder;
}

export async function query<Row extends pg.QueryResultRow>(connection: Connection, sql: string): Promise<Row[]> {
  const client = new pg.Client(connection);
  client.on('error', () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql)).rows;
  } finally {
    await client.end();
  }
}

/** Every process whose working directory is the data folder: the server and its children. */
export function serversOf(dataDir: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readlinkSync(`/proc/${name}/cwd`) === dataDir;
      } catch {
        return false;
      }
    })
    .map(Number);
}

export function postmasterOf(dataDir: string): number {
  return Number.parseInt(readFileSync(path.join(dataDir, 'postmaster.pid'), 'utf8'), 10);
}

export interface Said {
  readonly event: 'open' | 'released' | 'error' | 'lost' | 'back' | 'failed' | 'held';
  readonly connection: Connection;
  readonly dataDir: string;
  readonly code: string;
  readonly message: string;
  readonly detail: Record<string, unknown>;
}

export interface HolderProcess {
  readonly child: ChildProcessByStdio<Writable, Readable, null>;
  /** Its next line. */
  next(): Promise<Said>;
  release(): Promise<void>;
  kill(): Promise<void>;
}

export function holder(
  t: TestContext,
  folder: string,
  { purpose = 'service', uid, asRoot }: { purpose?: 'service' | 'command'; uid?: number; asRoot?: 'nobody' } = {},
): HolderProcess {
  const program = path.join(import.meta.dirname, 'holder.ts');
  const child = spawn(process.execPath, [program, folder, purpose, ...(asRoot ? [asRoot] : [])], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH, TMPDIR: process.env.TMPDIR },
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ended = once(child, 'close');
  const next = async () => {
    const line = await lines.next();
    if (line.done) throw new Error('the process ended without saying anything more');
    return JSON.parse(line.value) as Said;
  };
  atEnd(t, async () => {
    child.stdin.destroy();
    await ended;
  });
  return {
    child,
    next,
    release: async () => {
      child.stdin.end();
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
