import { open, readdir, stat } from 'node:fs/promises';
import path from 'node:path';

/** The disk may be on a machine with another clock. */
const skewMs = 3_600_000;

/**
 * Which of these keys the files of a folder hold. Both formats keep keys as plain bytes, so one search serves both. It reads every
 * file written since, so it is only used after an interruption. Keys are found with Node's byte search: a regular expression was 8
 * times slower and exceeded the deadline of a call on a busy machine.
 */
export async function findKeys(
  folder: string,
  extension: string,
  keys: ReadonlySet<string>,
  since: { readonly changedAt: number; readonly late: AbortSignal },
): Promise<Set<string>> {
  const found = new Set<string>();
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    if (found.size === keys.size) break;
    if (name.startsWith('.') || !name.endsWith(extension)) continue;
    const file = path.join(folder, name);
    const { mtimeMs = 0 } = (await stat(file).catch(() => undefined)) ?? {};
    if (mtimeMs >= since.changedAt - skewMs) await searchFile(file, keys, found, since.late);
  }
  return found;
}

const chunkBytes = 4 << 20;

async function searchFile(
  file: string,
  keys: ReadonlySet<string>,
  found: Set<string>,
  late: AbortSignal,
): Promise<void> {
  const lengths = [...new Set(Array.from(keys, (key) => key.length))];
  const longest = Math.max(...lengths);
  const start = commonStart(keys);
  const handle = await open(file, 'r');
  try {
    const bytes = Buffer.allocUnsafe(chunkBytes + longest);
    let kept = 0;
    for (;;) {
      late.throwIfAborted();
      const { bytesRead } = await handle.read(bytes, kept, chunkBytes);
      if (bytesRead === 0) return;
      const text = bytes.subarray(0, kept + bytesRead);
      for (let at = text.indexOf(start); at !== -1 && at < text.length; at = text.indexOf(start, at + 1)) {
        for (const length of lengths) {
          const candidate = text.toString('latin1', at, at + length);
          if (keys.has(candidate)) found.add(candidate);
        }
      }
      // A key may lie across two reads.
      kept = Math.min(longest - 1, text.length);
      text.copy(bytes, 0, text.length - kept);
    }
  } finally {
    await handle.close();
  }
}

/** The common prefix of all keys, such as ib_. */
function commonStart(keys: ReadonlySet<string>): string {
  const [first = '', ...rest] = keys;
  let length = first.length;
  for (const key of rest) while (!key.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
