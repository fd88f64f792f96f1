import type { FileStore, StoredFile } from './file-store.ts';

/** The disk or the bucket may be on a machine with another clock. */
const skewMs = 3_600_000;

/**
 * Which of these keys the files hold. Both formats keep keys as plain bytes, so one search serves both.
 * It reads every file written since the given time, so it is only used after an interruption.
 */
export async function findKeys(
  store: Pick<FileStore, 'pieces'>,
  files: readonly StoredFile[],
  extension: string,
  keys: ReadonlySet<string>,
  { changedAt, late }: { readonly changedAt: number; readonly late: AbortSignal },
): Promise<Set<string>> {
  const found = new Set<string>();
  for (const { name, modifiedAtMs } of files) {
    if (found.size === keys.size) break;
    if (!name.endsWith(extension) || modifiedAtMs < changedAt - skewMs) continue;
    await searchPieces(store.pieces(name, late), keys, found);
  }
  return found;
}

/**
 * Adds the keys that the bytes hold. Keys are found with Node's byte search: a regular expression was 8 times slower and exceeded the
 * deadline of a call on a busy machine.
 */
export async function searchPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  keys: ReadonlySet<string>,
  found: Set<string>,
): Promise<void> {
  const lengths = [...new Set(Array.from(keys, (key) => key.length))];
  const longest = Math.max(...lengths);
  const start = commonStart(keys);
  let kept: Uint8Array = new Uint8Array();
  for await (const piece of pieces) {
    const text = Buffer.concat([kept, piece]);
    for (let at = text.indexOf(start); at !== -1 && at < text.length; at = text.indexOf(start, at + 1)) {
      for (const length of lengths) {
        const candidate = text.toString('latin1', at, at + length);
        if (keys.has(candidate)) found.add(candidate);
      }
    }
    // A key may span two pieces.
    kept = text.subarray(Math.max(0, text.length - longest + 1));
  }
}

/** The common prefix of all keys, such as ib_. */
function commonStart(keys: ReadonlySet<string>): string {
  const [first = '', ...rest] = keys;
  let length = first.length;
  for (const key of rest) while (!key.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
