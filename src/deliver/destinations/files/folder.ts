import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

/**
 * Puts a file in place whole: a reader sees the old content or the new one, never a part, and after a power cut one of the
 * two is there. The rename itself is made durable through the folder. Gives back the number of the file on its disk. Whoever
 * was told meanwhile that it is too late leaves the file as it was: somebody else may be writing the same by now.
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

/** Whether the file is still the one that was put there; an erasure may have put another in its place. */
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

/** What a killed writer left behind; one that is still at work has touched its file recently. */
export async function removeAbandoned(folder: string, nowMs: number): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith('.') || !name.endsWith('.tmp')) continue;
    const file = path.join(folder, name);
    const found = await stat(file).catch(() => undefined);
    if (found && nowMs - found.mtimeMs > abandonedAfterMs) await rm(file, { force: true });
  }
}
