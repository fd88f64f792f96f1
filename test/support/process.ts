/** Commands and services. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { Readable } from 'node:stream';
import { type Io, withIo } from '../../src/operator/cli/io.ts';
import { run } from '../../src/operator/cli/run.ts';
import { copyCluster } from './database.ts';

export const bin = path.join(import.meta.dirname, '..', '..', 'bin', 'innbound');

export interface Ran {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** One parsed object per line of standard output. */
  readonly json: () => Record<string, unknown>[];
}

export interface RunOptions {
  readonly env?: Record<string, string>;
  readonly input?: string;
  readonly cwd?: string;
}

/** Commands that run until a signal ends them, or that use the process itself. */
const separate = ['demo', 'listen', 'mcp', 'partner', 'serve'];

/**
 * Runs a command in this process, where the sources are loaded already: a process of its own takes a second of processor time more.
 * `inOwnProcess` starts one as a person does.
 */
export async function innbound(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  if (options.cwd !== undefined || separate.includes(args[0] ?? '')) return inOwnProcess(args, options);
  let stdout = '';
  let stderr = '';
  const io: Io = {
    stdin: Readable.from([options.input ?? '']),
    stdout: { write: (text) => (stdout += text) },
    stderr: { write: (text) => (stderr += text) },
    env: cleanEnv(options.env),
  };
  await withIo(io, () => run(args));
  return ran(Number(io.exitCode ?? 0), stdout, stderr);
}

export async function inOwnProcess(args: readonly string[], options: RunOptions = {}): Promise<Ran> {
  const child = spawn(bin, args, {
    env: cleanEnv(options.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()));
  child.stdin.end(options.input ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return ran(code, stdout, stderr);
}

function ran(code: number | null, stdout: string, stderr: string): Ran {
  const json = () =>
    stdout
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  return { code, stdout, stderr, json };
}

export interface ServiceProcess {
  readonly child: ChildProcess;
  readonly url: string;
  readonly stderr: () => string;
  /** SIGTERM, then the exit code. */
  stop(): Promise<number | null>;
  /** SIGKILL, without any cleanup. */
  kill(): Promise<void>;
}

/** A service on a port of the system's choice, ready. Its private server has a data folder already: that saves the first start. */
export async function serve(
  workspace: string,
  options: { readonly env?: Record<string, string>; readonly args?: readonly string[] } = {},
): Promise<ServiceProcess> {
  const data = path.join(workspace, '.innbound', 'pg');
  if (options.env?.DATABASE_URL === undefined && !existsSync(data)) {
    await mkdir(path.join(workspace, '.innbound', 'run'), { recursive: true, mode: 0o700 });
    await copyCluster(data);
  }
  const child = spawn(bin, ['serve', '--workspace', workspace, '--port', '0', ...(options.args ?? [])], {
    env: cleanEnv(options.env),
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let stderr = '';
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
      const ready = /innbound is ready on (http:\/\/\S+)/.exec(stderr);
      if (ready?.[1]) resolve(ready[1]);
    });
    child.once('exit', (code) => reject(new Error(`serve ended with ${code}:\n${stderr}`)));
  });
  const exit = once(child, 'exit') as Promise<[number | null]>;
  exit.catch(() => {});
  return {
    child,
    url,
    stderr: () => stderr,
    stop: async () => {
      child.kill('SIGTERM');
      return (await exit)[0];
    },
    kill: async () => {
      child.kill('SIGKILL');
      await exit;
    },
  };
}

function cleanEnv(more: Record<string, string> = {}): NodeJS.ProcessEnv {
  const { DATABASE_URL: _database, NODE_TEST_CONTEXT: _context, INNBOUND_WORKSPACE: _workspace, ...env } = process.env;
  return { ...env, INNBOUND_ALLOW_PRIVATE_NETWORK: '1', INNBOUND_LOG_LEVEL: 'warn', ...more };
}

/** Waits for a condition; fails with what it last saw. Pauses at least as long as looking took, which leaves the processor to the others. */
export async function until<T>(
  what: string,
  look: () => Promise<T | undefined | false>,
  withinMs = 180_000,
): Promise<T> {
  const deadline = Date.now() + withinMs;
  for (;;) {
    const startedAt = performance.now();
    const seen = await look();
    if (seen) return seen;
    if (Date.now() > deadline) throw new Error(`not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, Math.max(50, performance.now() - startedAt)));
  }
}
