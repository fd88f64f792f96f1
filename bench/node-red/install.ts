/** Node-RED from npm, installed once into the user's cache folder. This repository does not depend on it. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export const version = '5.0.7';

/** The file to run. Contacts only the npm registry, and only the first time. */
export async function installNodeRed(): Promise<string> {
  const cache = process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache');
  const folder = path.join(cache, 'innbound', `node-red-${version}`);
  const program = path.join(folder, 'node_modules', 'node-red', 'red.js');
  if (existsSync(program)) return program;
  console.log(`installing node-red@${version} into ${folder}`);
  await mkdir(folder, { recursive: true });
  const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--ignore-scripts', '--omit=optional'];
  const npm = spawn('npm', ['install', ...flags, '--prefix', folder, `node-red@${version}`], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await Promise.race([once(npm, 'exit').then(([exit]) => exit as number | null), once(npm, 'error')]);
  if (code !== 0 || !existsSync(program)) {
    throw new Error(
      `node-red@${version} could not be installed into ${folder}. This benchmark needs npm and its registry; the others need neither.`,
    );
  }
  return program;
}
