/** Memory of an idle node and its private PostgreSQL: `npm run bench -- memory`. */
import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { familyOf, postmasterUnder } from './pull/cpu.ts';
import { end } from './push/processes.ts';
import { writeBenchWorkspace } from './push/workspace.ts';

/** Proportional shares in MB: a page that several processes use is divided among them. Linux only. */
export interface Memory {
  readonly node: number;
  readonly postgres: number;
  readonly connections: number;
  /** A Node that only listens. */
  readonly bareNode: number;
}

/** Connections close after 30 idle seconds. V8 returns the unused part of its young generation, 60 MB, after two to three minutes. */
const settledMs = 200_000;

export async function run(): Promise<void> {
  const { node, postgres, connections, bareNode } = await measureMemory();
  console.log(
    `idle: node ${node.toFixed(0)} MB, PostgreSQL ${postgres.toFixed(0)} MB with ${connections} connections, together ${(node + postgres).toFixed(0)} MB; a bare Node ${bareNode.toFixed(0)} MB`,
  );
}

export async function measureMemory(): Promise<Memory> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'innbound-bench-'));
  const children: ChildProcess[] = [];
  try {
    await writeBenchWorkspace(folder, 9);
    const program = fileURLToPath(new URL('../bin/innbound', import.meta.url));
    const serve = [program, 'serve', '--workspace', folder, '--port', '0'];
    // The second start counts: the first one compiles.
    await end(await ready('/bin/sh', serve, 'innbound is ready', children));
    const node = await ready('/bin/sh', serve, 'innbound is ready', children);
    const listen = `require('node:http').createServer().listen(0, '127.0.0.1', () => console.error('ready'))`;
    const bare = await ready(process.execPath, ['-e', listen], 'ready', children);
    await delay(settledMs);
    const server = familyOf(postmasterUnder(folder)).flatMap(running);
    return {
      node: shareMb(node.pid ?? 0),
      postgres: server.reduce((sum, { mb }) => sum + mb, 0),
      connections: server.filter(({ command }) => command.includes('[local]')).length,
      bareNode: shareMb(bare.pid ?? 0),
    };
  } finally {
    await Promise.all(children.map(end));
    await rm(folder, { recursive: true, force: true });
  }
}

function ready(command: string, args: string[], line: string, children: ChildProcess[]): Promise<ChildProcess> {
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  children.push(child);
  return new Promise((resolve, reject) => {
    let said = '';
    child.once('exit', (code) => reject(new Error(`${args[0]} exited with ${code}: ${said}`)));
    child.stderr.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes(line)) resolve(child);
    });
  });
}

function shareMb(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))?.[1];
  return (Number(kibibytes) * 1024) / 1e6;
}

/** Nothing if the process has ended meanwhile, as workers of autovacuum do. */
function running(pid: number): { mb: number; command: string }[] {
  try {
    return [{ mb: shareMb(pid), command: readFileSync(`/proc/${pid}/cmdline`, 'utf8') }];
  } catch {
    return [];
  }
}
