import { mkdir, writeFile } from 'node:fs/promises';
import { schemaFiles } from '../src/core/documents/json-schema.ts';
import { referenceFiles } from './document-pages.ts';

/** Writes the committed files that are generated from the schemas. Run it after changing a schema; a test compares the files. */

const root = new URL('../', import.meta.url);

/** Every generated file, relative to the repository. */
export function publishedFiles(): Map<string, string> {
  const files = new Map<string, string>();
  for (const [name, text] of schemaFiles()) files.set(`schemas/${name}`, text);
  for (const [name, text] of referenceFiles()) files.set(`docs/reference/${name}`, text);
  return files;
}

if (import.meta.main) {
  for (const [path, text] of publishedFiles()) {
    const file = new URL(path, root);
    await mkdir(new URL('.', file), { recursive: true });
    await writeFile(file, text);
  }
}
