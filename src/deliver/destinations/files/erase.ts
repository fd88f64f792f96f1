import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Clock } from '../../../kit/clock.ts';
import type { Delivery } from '../../message.ts';
import { replaceFile } from './folder.ts';
import type { Format } from './format.ts';

/**
 * Removes erased guests from the rows written before, in every file of the folder; each file is replaced as a whole. The folder is
 * read at least twice, because another node may have put an older state of its growing file over the first pass.
 */
export async function eraseFromFiles(
  root: string,
  format: Format,
  erased: readonly Delivery[],
  { clock, deadlineAtMs }: { readonly clock: Clock; readonly deadlineAtMs: number },
): Promise<void> {
  for (let pass = 1, clean = false; !clean || pass <= 2; pass++) {
    clean = true;
    for (const file of await filesOf(root, format.extension)) {
      if (clock.now() > deadlineAtMs) throw new RangeError('the folder is too large to erase from in time');
      if (await eraseFromFile(file, format, erased)) clean = false;
    }
    await clock.wait(100);
  }
}

async function filesOf(root: string, extension: string): Promise<string[]> {
  const names = await readdir(root, { recursive: true });
  return names
    .filter((name) => name.endsWith(extension) && !path.basename(name).startsWith('.'))
    .map((name) => path.join(root, name));
}

async function eraseFromFile(file: string, format: Format, erased: readonly Delivery[]): Promise<boolean> {
  const bytes = await readFile(file).catch(() => undefined);
  if (bytes === undefined) return false;
  let changed = false;
  const rows = (await format.read(bytes)).map((row) =>
    erased.reduce((kept, erasure) => {
      const stripped = format.erase(kept, erasure);
      if (stripped !== undefined) changed = true;
      return stripped ?? kept;
    }, row),
  );
  if (changed) await replaceFile(file, format.file(rows));
  return changed;
}
