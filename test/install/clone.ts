import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';

/**
 * bin/innbound in a separate clone, in which npm is a script that counts its calls and "installs" the current Node, and
 * src/main.ts prints how it was started.
 */
const repository = path.join(import.meta.dirname, '..', '..');

const main = `
  const [command, value] = process.argv.slice(2);
  if (command === 'exit') process.exit(Number(value));
  if (command === 'wait') process.on('SIGTERM', () => process.exit(7)).on('SIGUSR2', () => process.exit(8));
  if (command === 'wait') setInterval(() => {}, 1000);
  console.log(JSON.stringify({ pid: process.pid, args: process.argv.slice(2), node: process.argv0, flags: process.execArgv }));
`;

const npm = `#!/bin/sh
echo "$*" >>calls
echo 'npm speaks'
while [ -e ../hold ]; do sleep 0.02; done
[ -e ../broken ] && { echo 'npm error the network is down' >&2; exit 3; }
[ -e ../unsynced ] && [ "$1" = ci ] && { echo 'npm error code EUSAGE' >&2; exit 1; }
mkdir -p node_modules/.bin
ln -sf '${process.execPath}' node_modules/.bin/node
`;

export interface Clone {
  readonly root: string;
  readonly launcher: string;
  readonly env: NodeJS.ProcessEnv;
  /** How often npm ci ran. */
  installs(): number;
}

export async function clone(t: TestContext, name = 'clone'): Promise<Clone> {
  const above = await mkdtemp(path.join(os.tmpdir(), 'innbound-launch-'));
  t.after(() => rm(above, { recursive: true, force: true }));
  const root = path.join(above, name);
  await cp(path.join(repository, 'bin'), path.join(root, 'bin'), { recursive: true });
  for (const script of ['prepare', 'prepare.cjs']) {
    await cp(path.join(repository, 'scripts', script), path.join(root, 'scripts', script));
  }
  await mkdir(path.join(root, 'src'));
  await mkdir(path.join(above, 'path'));
  await writeFile(path.join(root, 'src', 'main.ts'), main);
  await writeFile(path.join(root, 'package.json'), '{ "type": "module" }');
  await writeFile(path.join(root, 'package-lock.json'), '{ "version": 1 }');
  await writeFile(path.join(above, 'path', 'npm'), npm);
  await chmod(path.join(above, 'path', 'npm'), 0o755);
  await symlink(process.execPath, path.join(above, 'path', 'node'));
  return {
    root,
    launcher: path.join(root, 'bin', 'innbound'),
    env: { PATH: `${path.join(above, 'path')}:/usr/bin:/bin` },
    installs: () =>
      read(path.join(root, 'calls'))
        .split('\n')
        .filter((line) => line.startsWith('ci ')).length,
  };
}

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly out: string;
  readonly err: string;
}

export function start(file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd = '/') {
  const child = spawn(file, args, { env, cwd, stdio: ['ignore', 'pipe', 'pipe'] });
  const ended = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], out, err]): Ended => ({ code, signal, out, err }),
  );
  return { child, ended };
}

export const run = (file: string, args: readonly string[], env: NodeJS.ProcessEnv, cwd?: string) =>
  start(file, args, env, cwd).ended;

export interface Told {
  readonly pid: number;
  readonly args: string[];
  readonly flags: string[];
}

/** Resolves once the process has printed it. */
export function says(child: ChildProcess, what: string, where: 'stdout' | 'stderr' = 'stderr'): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let heard = '';
  child[where]?.on('data', (chunk: Buffer) => {
    heard += chunk.toString();
    if (heard.includes(what)) resolve();
  });
  child.on('close', () => reject(new Error(`ended without saying ${what}: ${heard}`)));
  return promise;
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
