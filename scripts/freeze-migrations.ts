/**
 * Records the hash of each new migration. A released migration is frozen: databases remember the hash that they were migrated with, and a
 * changed one is refused at start. Run this once when a migration is complete: node_modules/.bin/node scripts/freeze-migrations.ts
 */
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { hashOf, readVersion } from '../src/core/store/db/migrate.ts';

export const frozenFile = fileURLToPath(new URL('../test/store/db/frozen-migrations.json', import.meta.url));

export type Frozen = { readonly [fileName: string]: string };

export async function readFrozen(): Promise<Frozen> {
  return JSON.parse(await readFile(frozenFile, 'utf8')) as Frozen;
}

if (import.meta.main) {
  const frozen = await readFrozen().catch((): Frozen => ({}));
  const { migrations } = await readVersion();
  const changed = migrations.filter((one) => frozen[one.file] !== undefined && frozen[one.file] !== hashOf(one.sql));
  if (changed.length > 0) {
    console.error(
      `Changed after they were frozen: ${changed.map(({ file }) => file).join(', ')}. Write a new migration instead.`,
    );
    process.exitCode = 1;
  } else {
    const all = Object.fromEntries(migrations.map((one) => [one.file, hashOf(one.sql)]));
    await writeFile(frozenFile, `${JSON.stringify(all, null, 2)}\n`);
  }
}
