import { randomUUID } from 'node:crypto';
import { link, mkdir, open, stat, unlink } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Key, newKey, parseKey } from './crypto.ts';

export type KeyFile =
  | { readonly kind: 'ok'; readonly key: Key; readonly created: boolean }
  /** Others than the owner may read it. */
  | { readonly kind: 'exposed'; readonly mode: string }
  | { readonly kind: 'malformed' };

/** The key in the file; creates one if there is none. Processes that start at the same time get the same key. */
export async function keyFile(path: string): Promise<KeyFile> {
  return (await readKey(path)) ?? (await createKey(path));
}

async function readKey(path: string): Promise<KeyFile | undefined> {
  let mode: number;
  try {
    mode = (await stat(path)).mode;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
  // Windows has no such bits: there the folder's permissions guard the file.
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    return { kind: 'exposed', mode: (mode & 0o777).toString(8) };
  const handle = await open(path, 'r');
  try {
    const key = parseKey(await handle.readFile('utf8'));
    return key === undefined ? { kind: 'malformed' } : { kind: 'ok', key, created: false };
  } finally {
    await handle.close();
  }
}

/**
 * Written under another name and then linked: like O_EXCL, link() refuses an existing name, but it never
 * exposes an empty file to other processes.
 */
async function createKey(path: string): Promise<KeyFile> {
  await mkdir(dirname(path), { recursive: true });
  const key = newKey();
  const draft = `${path}.${randomUUID()}`;
  const handle = await open(draft, 'wx', 0o600);
  try {
    await handle.writeFile(`${key.bytes.toString('base64')}\n`);
    await handle.sync();
  } finally {
    await handle.close();
  }
  try {
    await link(draft, path);
    return { kind: 'ok', key, created: true };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const winner = await readKey(path);
    if (winner === undefined) throw error;
    return winner;
  } finally {
    await unlink(draft);
  }
}
