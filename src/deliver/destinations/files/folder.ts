import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Replaces a file as a whole: a reader sees the old content or the new one, never a part, and one of the two survives a power cut.
 * The rename is made durable by syncing the folder. Returns the inode. If `late` is aborted meanwhile, the file stays as it was:
 * another node may be writing the same rows by now.
 */
export async function replaceFile(file: string, content: Uint8Array | string, late?: AbortSignal): Promise<number> {
  const folder = path.dirname(file);
  const aside = path.join(folder, `.${path.basename(file)}.tmp`);
  const handle = await open(aside, 'w', 0o640);
  let inode: number;
  try {
    await handle.writeFile(content);
    await handle.sync();
    inode = (await handle.stat()).ino;
  } finally {
    await handle.close();
  }
  if (late?.aborted) await rm(aside, { force: true });
  late?.throwIfAborted();
  await rename(aside, file);
  await syncFolder(folder);
  return inode;
}

/** Whether the file is still the same one; an erasure may have replaced it. */
export async function isStill(file: string, inode: number): Promise<boolean> {
  return (await stat(file).catch(() => undefined))?.ino === inode;
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

const abandonedAfterMs = 600_000;

/** Removes the temporary files of killed writers; a living one has touched its file recently. */
export async function removeAbandoned(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.') || !name.endsWith('.tmp')) continue;
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found && nowMs - found.mtimeMs > abandonedAfterMs) await rm(file, { force: true });
  }
}
