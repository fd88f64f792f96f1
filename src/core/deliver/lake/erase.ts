import type { Clock } from '../../../kit/clock.ts';
import type { Delivery } from '../message.ts';
import type { FileStore } from './file-store.ts';
import type { Format } from './format.ts';
import { ndjson } from './ndjson.ts';
import { parquet } from './parquet.ts';

/** Of both formats: the destination may have had the other one before. */
export const formatOf = (name: string): Format | undefined =>
  [ndjson, parquet].find(({ extension }) => name.endsWith(extension)) as Format | undefined;

interface EraseLimits {
  readonly clock: Clock;
  readonly deadlineAtMs: number;
  /** Whether a file can hold rows of these erasures, by its name. */
  readonly mayHold: (name: string) => boolean;
  /** For each erasure, the files in which an earlier try found nothing of it; this try adds to them. */
  readonly clean: readonly Set<string>[];
}

/**
 * Removes erased guests from the rows written before; each file that holds them is replaced as a whole. Where nodes can overwrite each
 * other's files, the folder is listed at least twice: another node may have overwritten the result of the first pass with an older state.
 * False if the time was over before all files were read; each try reads at least one.
 */
export async function eraseFromFiles(
  store: FileStore,
  erased: readonly Delivery[],
  { clock, deadlineAtMs, mayHold, clean }: EraseLimits,
): Promise<boolean> {
  const late = new AbortController().signal;
  const passes = (await store.isGuarded(late)) ? 1 : 2;
  await store.removeAbandoned();
  for (let pass = 1, isErased = true; isErased || pass <= passes; pass++) {
    isErased = false;
    for (const { name, size, modifiedAtMs } of await store.list('')) {
      const state = `${name} ${size} ${modifiedAtMs}`;
      const format = formatOf(name);
      if (format === undefined || !mayHold(name) || clean.every((files) => files.has(state))) continue;
      if (await eraseFromFile(store, name, format, erased)) isErased = true;
      else for (const files of clean) files.add(state);
      if (clock.now() > deadlineAtMs) return false;
    }
    if (passes > 1) await clock.wait(100);
  }
  return true;
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
