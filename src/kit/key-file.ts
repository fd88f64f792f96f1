import { randomUUID } from 'node:crypto';
import { link, mkdir, readFile, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { type Keyring, newKey, parseKeys } from './crypto.ts';
import { syncFolder } from './sync-folder.ts';

export type KeyFile =
  | { readonly kind: 'ok'; readonly keys: Keyring }
  /** Others than the owner may read it. */
  | { readonly kind: 'exposed'; readonly mode: string }
  | { readonly kind: 'malformed' };

/** The keys in the file, one per line; creates one if there is no file. Processes that start at the same time get the same key. */
export async function keyFile(path: string): Promise<KeyFile> {
  return (await readKeyFile(path)) ?? (await createKey(path));
}

/** The keys in a file that must exist already; undefined if it does not. */
export async function readKeyFile(path: string): Promise<KeyFile | undefined> {
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
  const keys = parseKeys(await readFile(path, 'utf8'));
  return keys === undefined ? { kind: 'malformed' } : { kind: 'ok', keys };
}

/** Replaces the file. A reader sees the old keys or the new ones, also after a crash. */
export async function writeKeyFile(path: string, keys: Keyring): Promise<void> {
  await rename(await writeDraft(path, keys), path);
  await syncFolder(dirname(path));
}

async function writeDraft(path: string, keys: Keyring): Promise<string> {
  await mkdir(dirname(path), { recursive: true });
  const draft = `${path}.${randomUUID()}`;
  const lines = keys.map(({ bytes }) => `${bytes.toString('base64')}\n`).join('');
  await writeFile(draft, lines, { flag: 'wx', mode: 0o600, flush: true });
  return draft;
}

/** Links the draft: like O_EXCL, link() refuses an existing name, but it never exposes an empty file to other processes. */
async function createKey(path: string): Promise<KeyFile> {
  const keys: Keyring = [newKey()];
  const draft = await writeDraft(path, keys);
  try {
    await link(draft, path);
    return { kind: 'ok', keys };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    const winner = await readKeyFile(path);
    if (winner === undefined) throw error;
    return winner;
  } finally {
    await unlink(draft);
  }
}
