import { open } from 'node:fs/promises';

/** Makes the names in a folder durable: a file that was renamed or linked into it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
