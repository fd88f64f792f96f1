import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { schemaFiles } from './json-schema.ts';

const folder = fileURLToPath(new URL('template/', import.meta.url));

/** What `innbound init` writes into an empty folder: a commented workspace, and the schemas that its first lines point editors to. Paths are relative to the workspace. */
export async function templateFiles() {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const written = entries
    .filter((entry) => entry.isFile())
    .map(async (entry) => {
      const source = join(entry.parentPath, entry.name);
      const path = relative(folder, source).replaceAll('\\', '/');
      // A file named .gitignore would apply to the template in our repository.
      return { path: path === 'gitignore' ? '.gitignore' : path, text: await readFile(source, 'utf8') };
    });
  const schemas = Array.from(schemaFiles(), ([name, text]) => ({ path: `.schemas/${name}`, text }));
  return [...(await Promise.all(written)), ...schemas].sort((a, b) => (a.path < b.path ? -1 : 1));
}
