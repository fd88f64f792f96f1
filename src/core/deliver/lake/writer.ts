import type { Clock } from '../../../kit/clock.ts';
import { timedId } from '../../../kit/ids.ts';
import type { Delivery } from '../message.ts';
import type { FileStore, StoredFile, Tag } from './file-store.ts';
import type { Format } from './format.ts';

/** A growing file: its rows, and the tag under which we read or wrote it. */
interface Part {
  readonly name: string;
  readonly rows: readonly unknown[];
  readonly size: number;
  readonly tag: Tag | 'absent';
}

interface WriterSettings {
  readonly store: FileStore;
  readonly format: Format;
  /** A file of this size is full. */
  readonly fullAt: number;
  readonly clock: Clock;
}

/** Rows of growing files are kept in memory up to about this size. */
const mostKept = 64 * 1024 * 1024;
/** How often another writer may be faster before we give up. */
const mostRaces = 20;

/**
 * Writes rows into files that grow up to their size: each batch replaces the file as a whole. Appending would be cheaper and was
 * rejected: a reader can see half a line, and a crash leaves one. A file for each batch, merged later, was rejected too: while files
 * are merged, a reader sees rows twice or not at all.
 *
 * A version that may have been written before a crash is searched for first, so that it is written once.
 *
 * Guarded stores have one growing file per folder, with numbered names, for all nodes. A write states which content it continues. If a
 * node that lost its lease writes late but first, the other node's write is refused and its next search finds the rows; otherwise the
 * late write is refused. The two can never both succeed.
 */
export class LakeWriter {
  readonly #at: WriterSettings;
  readonly #growing = new Map<string, Part>();

  constructor(settings: WriterSettings) {
    this.#at = settings;
  }

  async write(folder: string, deliveries: readonly Delivery[], late: AbortSignal): Promise<void> {
    if (await this.#at.store.isGuarded(late)) await this.#writeShared(folder, deliveries, late);
    else await this.#writeOwn(folder, deliveries, late);
  }

  /** Files of this node: only an erasure replaces them. */
  async #writeOwn(folder: string, deliveries: readonly Delivery[], late: AbortSignal): Promise<void> {
    const { store, format, clock } = this.#at;
    const known = this.#growing.get(folder);
    if (known === undefined) await store.prepare(folder);
    const doubtful = deliveries.filter(({ mayHaveArrived }) => mayHaveArrived);
    const files = doubtful.length === 0 ? [] : await store.list(folder, late);
    const delivered = await this.#found(files, doubtful, late);
    const begin = (): Part => {
      const name = `${folder}/${timedId('changes', clock.now())}${format.extension}`;
      return { name, rows: [], size: 0, tag: 'absent' };
    };
    const part = known === undefined || this.#isFull(known) ? begin() : known;
    const fresh = without(deliveries, delivered);
    if (await this.#append(folder, part, fresh, late)) return;
    // An erasure replaced the file: start a new one.
    if (!(await this.#append(folder, begin(), fresh, late))) throw new Error('a file with a new name exists already');
  }

  /** One file per folder for all nodes. */
  async #writeShared(folder: string, deliveries: readonly Delivery[], late: AbortSignal): Promise<void> {
    let doubtful = deliveries.filter(({ mayHaveArrived }) => mayHaveArrived);
    for (let race = 0; race < mostRaces; race++) {
      late.throwIfAborted();
      const known = doubtful.length === 0 ? this.#growing.get(folder) : undefined;
      const delivered = new Set<string>();
      const part =
        known === undefined || this.#isFull(known) ? await this.#head(folder, doubtful, delivered, late) : known;
      if (await this.#append(folder, part, without(deliveries, delivered), late)) return;
      this.#growing.delete(folder);
      // Our own write may have arrived although its answer did not.
      doubtful = [...deliveries];
    }
    throw new Error('other writers came first each time');
  }

  /** The file to continue, as it is now; adds the keys that it and the other files of the folder hold. */
  async #head(folder: string, doubtful: readonly Delivery[], delivered: Set<string>, late: AbortSignal): Promise<Part> {
    const { store, format, fullAt } = this.#at;
    const files = await store.list(folder, late);
    const newest = files
      .filter(({ name }) => numberOf(name) > 0)
      .sort((a, b) => numberOf(b.name) - numberOf(a.name))[0];
    const keys = keysOf(doubtful);
    const older = files.filter((file) => file !== newest);
    for (const key of await this.#found(older, doubtful, late)) delivered.add(key);
    const next = `${folder}/changes_${String(numberOf(newest?.name ?? '') + 1).padStart(8, '0')}${format.extension}`;
    if (newest === undefined) return { name: next, rows: [], size: 0, tag: 'absent' };
    const isFull = newest.size >= fullAt;
    if (isFull && doubtful.length === 0) return { name: next, rows: [], size: 0, tag: 'absent' };
    const file = await store.read(newest.name, late);
    if (file === undefined) throw new Error('a file was removed');
    if (keys.size > 0) await searchPieces([file.bytes], keys, delivered);
    // A file that filled up after the listing still gets these rows.
    if (isFull) return { name: next, rows: [], size: 0, tag: 'absent' };
    return { name: newest.name, rows: await format.read(file.bytes), size: newest.size, tag: file.tag };
  }

  #found(files: readonly StoredFile[], doubtful: readonly Delivery[], late: AbortSignal): Promise<Set<string>> {
    const { store, format } = this.#at;
    const changedAt = Math.min(...doubtful.map((delivery) => delivery.changedAt));
    return findKeys(store, files, format.extension, keysOf(doubtful), { changedAt, late });
  }

  /** False if the file is no longer what we know. */
  async #append(folder: string, part: Part, deliveries: readonly Delivery[], late: AbortSignal): Promise<boolean> {
    const { store, format } = this.#at;
    const rows = deliveries.map((delivery) => format.encode(delivery));
    if (rows.length === 0) return true;
    const grown = [...part.rows, ...rows.map(({ row }) => row)];
    const replaced = await store.replace(part.name, format.file(grown), part.tag, late);
    this.#growing.delete(folder);
    if (replaced.kind === 'changed') return false;
    const size = rows.reduce((sum, one) => sum + one.size, part.size);
    this.#growing.set(folder, { name: part.name, rows: grown, size, tag: replaced.tag });
    this.#forgetOldest();
    return true;
  }

  #forgetOldest(): void {
    let kept = this.#growing.values().reduce((sum, { size }) => sum + size, 0);
    for (const [folder, { size }] of this.#growing) {
      if (this.#growing.size === 1 || kept <= mostKept) return;
      this.#growing.delete(folder);
      kept -= size;
    }
  }

  #isFull = ({ size }: Part): boolean => size >= this.#at.fullAt;
}

const keysOf = (deliveries: readonly Delivery[]): Set<string> =>
  new Set(deliveries.map(({ message }) => message.idempotency_key));

const without = (deliveries: readonly Delivery[], delivered: ReadonlySet<string>): readonly Delivery[] =>
  delivered.size === 0 ? deliveries : deliveries.filter(({ message }) => !delivered.has(message.idempotency_key));

/** The number of a shared file; 0 for any other. */
const numberOf = (name: string): number => Number(/\/changes_(\d{8})\.\w+$/.exec(name)?.[1] ?? 0);

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
  const present = new Set<string>();
  for (const { name, modifiedAtMs } of files) {
    if (present.size === keys.size) break;
    if (!name.endsWith(extension) || modifiedAtMs < changedAt - skewMs) continue;
    await searchPieces(store.pieces(name, late), keys, present);
  }
  return present;
}

/**
 * Adds the keys that the bytes hold. Keys are found with Node's byte search: a regular expression was 8 times slower and exceeded the
 * deadline of a call on a busy machine.
 */
async function searchPieces(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  keys: ReadonlySet<string>,
  present: Set<string>,
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
        if (keys.has(candidate)) present.add(candidate);
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
