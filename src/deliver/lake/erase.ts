import type { Clock } from '../../kit/clock.ts';
import type { Delivery } from '../message.ts';
import type { FileStore } from './file-store.ts';
import type { Format } from './format.ts';
import { ndjson } from './ndjson.ts';
import { parquet } from './parquet.ts';

/** Of both formats: the destination may have had the other one before. */
const formatOf = (name: string): Format | undefined =>
  [ndjson, parquet].find(({ extension }) => name.endsWith(extension)) as Format | undefined;

export interface EraseLimits {
  readonly clock: Clock;
  readonly deadlineAtMs: number;
  /** Whether a file can hold rows of these erasures, by its name. */
  readonly mayHold: (name: string) => boolean;
  /** Files in which an earlier try found nothing to erase; this try adds to them. */
  readonly clean: Set<string>;
}

/**
 * Removes erased guests from the rows written before; each file that holds them is replaced as a whole. Where nodes can overwrite each
 * other's files, the folder is read at least twice: another node may have overwritten the result of the first pass with an older state.
 */
export async function eraseFromFiles(
  store: FileStore,
  erased: readonly Delivery[],
  { clock, deadlineAtMs, mayHold, clean }: EraseLimits,
): Promise<void> {
  const late = new AbortController().signal;
  const passes = (await store.isGuarded(late)) ? 1 : 2;
  await store.removeAbandoned();
  for (let pass = 1, found = true; found || pass <= passes; pass++) {
    found = false;
    for (const { name, size, modifiedAtMs } of await store.list('')) {
      const state = `${name} ${size} ${modifiedAtMs}`;
      const format = formatOf(name);
      if (format === undefined || !mayHold(name) || (passes === 1 && clean.has(state))) continue;
      if (clock.now() > deadlineAtMs) throw new RangeError('too many files to erase from within the deadline');
      if (await eraseFromFile(store, name, format, erased)) found = true;
      else clean.add(state);
    }
    if (passes > 1) await clock.wait(100);
  }
}

async function eraseFromFile(
  store: FileStore,
  name: string,
  format: Format,
  erased: readonly Delivery[],
): Promise<boolean> {
  const file = await store.read(name);
  if (file === undefined) return false;
  let changed = false;
  const rows = (await format.read(file.bytes)).map((row) =>
    erased.reduce((kept, erasure) => {
      const stripped = format.erase(kept, erasure);
      if (stripped !== undefined) changed = true;
      return stripped ?? kept;
    }, row),
  );
  // If it changed meanwhile, the next pass reads it again.
  if (changed) await store.replace(name, format.file(rows), file.tag);
  return changed;
}
