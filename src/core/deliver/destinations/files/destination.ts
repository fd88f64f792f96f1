import { createReadStream } from 'node:fs';
import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../../../kit/clock.ts';
import { randomId } from '../../../../kit/ids.ts';
import { syncFolder } from '../../../../kit/sync-folder.ts';
import type { DestinationType, Outcome } from '../../destination.ts';
import { openLake } from '../../lake/destination.ts';
import type { FileStore, StoredFile, Tag } from '../../lake/file-store.ts';
import { lakeHoldings } from '../../lake/holdings.ts';
import { type Settings, settingsSchema } from './settings.ts';

/** Files in a folder. */
export const destinationType: DestinationType<Settings> = {
  type: 'files',
  settings: settingsSchema,
  batch: () => ({ standard: 1_000, most: 20_000 }),
  timeoutMs: () => 60_000,
  holdings: (settings, { workspaceDir, clock }, held) => {
    const store = folderStore(path.resolve(workspaceDir, settings.path), clock);
    return lakeHoldings(store, held, (error) => failure(error, settings.path));
  },
  open(settings, { workspaceDir, clock, brandOf }) {
    const store = folderStore(path.resolve(workspaceDir, settings.path), clock);
    return openLake({ store, settings, brandOf, clock, failure: (error) => failure(error, settings.path) });
  },
};

function failure(error: unknown, folder: string): Outcome {
  const { code, name } = error as NodeJS.ErrnoException;
  const why = code === undefined ? name : `${reasons.get(code) ?? 'the system refuses it'} (${code})`;
  return { kind: 'retry', code: 'deliver.write_failed', message: `Writing to the folder ${folder} failed: ${why}.` };
}

const reasons: ReadonlyMap<string, string> = new Map([
  ['ENOTDIR', 'it is not a folder'],
  ['ENOENT', 'it does not exist'],
  ['EACCES', 'the service may not write there'],
  ['EROFS', 'the file system is read-only'],
  ['ENOSPC', 'the disk is full'],
]);

/** Larger pieces make the search for keys cheaper. */
const pieceBytes = 4 << 20;

/**
 * A folder as a place for files. The tag of a file is its inode, time and size. The inode alone is not enough: file systems reuse it,
 * so two erasures could bring back the tag, and a writer would continue the rows from before them.
 */
export function folderStore(root: string, clock: Clock): FileStore {
  return {
    // Between the look and the rename another node may replace the file.
    isGuarded: async () => false,
    prepare: async (folder) => {
      const at = path.join(root, folder);
      const first = await mkdir(at, { recursive: true });
      if (first !== undefined) await syncFolder(path.dirname(path.resolve(root, first)));
      await removeAbandoned(at, await readdir(at), clock.now());
    },
    removeAbandoned: async () => removeAbandoned(root, await namesIn(root), clock.now()),
    list: (folder) => list(root, folder),
    read: async (name) => {
      const file = path.join(root, name);
      const tag = await tagOf(file);
      const bytes = await readFile(file).catch(absent);
      return bytes === undefined ? undefined : { bytes, tag };
    },
    async *pieces(name, late) {
      for await (const piece of createReadStream(path.join(root, name), { highWaterMark: pieceBytes })) {
        late.throwIfAborted();
        yield piece as Uint8Array;
      }
    },
    replace: async (name, content, expected, late) => {
      const file = path.join(root, name);
      if ((await tagOf(file)) !== expected) return { kind: 'changed' };
      const tag = await replaceFile(file, content, expected, late);
      return tag === undefined ? { kind: 'changed' } : { kind: 'written', tag };
    },
  };
}

async function list(root: string, folder: string): Promise<StoredFile[]> {
  const names = await namesIn(path.join(root, folder));
  const wanted = names.filter((name) => !path.basename(name).startsWith('.')).map((name) => path.join(folder, name));
  const files = await Promise.all(
    wanted.map(async (name) => {
      const stats = await stat(path.join(root, name)).catch(absent);
      return stats?.isFile() ? [{ name, size: stats.size, modifiedAtMs: stats.mtimeMs }] : [];
    }),
  );
  return files.flat();
}

/** The paths of everything in a folder and below it. */
const namesIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder, { recursive: true }).catch(absent)) ?? [];

/** Only a missing file is absent. Any other error is a failure: an erasure that passed over a file would look complete. */
function absent(error: unknown): undefined {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
  throw error;
}

async function tagOf(file: string): Promise<string> {
  const stats = await stat(file, { bigint: true }).catch(absent);
  return stats === undefined ? 'absent' : `${stats.ino} ${stats.mtimeNs} ${stats.size}`;
}

/**
 * A reader sees the old content or the new one, never a part, and one of the two survives a power cut. The rename is made durable by
 * syncing the folder. Returns the tag, or undefined if another node replaced the file while this one wrote, which takes a while on a
 * slow disk. If `late` is aborted meanwhile, the file stays as it was.
 */
async function replaceFile(
  file: string,
  content: Uint8Array | string,
  expected: Tag | 'absent',
  late?: AbortSignal,
): Promise<Tag | undefined> {
  // Each writer has its own: an erasure on another node may replace the same file at this moment.
  const aside = path.join(path.dirname(file), `.${path.basename(file)}.${randomId('part')}.tmp`);
  try {
    await writeFile(aside, content, { flag: 'wx', mode: 0o640, flush: true });
    late?.throwIfAborted();
    const tag = await tagOf(aside);
    if ((await tagOf(file)) !== expected) return undefined;
    await rename(aside, file);
    await syncFolder(path.dirname(file));
    return tag;
  } finally {
    await rm(aside, { force: true });
  }
}

const abandonedAfterMs = 600_000;

/** Removes the temporary files of killed writers; a living one has touched its file recently. */
async function removeAbandoned(folder: string, names: readonly string[], nowMs: number): Promise<void> {
  for (const name of names) {
    if (!path.basename(name).startsWith('.') || !name.endsWith('.tmp')) continue;
    const file = path.join(folder, name);
    const stats = await stat(file).catch(absent);
    if (stats && nowMs - stats.mtimeMs > abandonedAfterMs) await rm(file, { force: true });
  }
}
