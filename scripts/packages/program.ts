/**
 * Builds a program for npm: JavaScript with the libraries inside, so that everybody runs the versions that were tested, and an installation
 * is a few packages. Every module of ours stays a file of its own at its own place, and so do the files that modules read (SQL, presets,
 * templates): paths relative to `import.meta.url` hold in a clone and in the package.
 */
import { globSync, statSync } from 'node:fs';
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';
import { licenceTexts } from './licences.ts';

export interface Program {
  /** The folder of its package.json. */
  readonly home: string;
  /** The folder from which paths in the package are counted. */
  readonly base: string;
  /** Below the base: where modules find a package.json with the version. */
  readonly manifest: string;
  /** Modules that are loaded by their address instead of by an import. Below the base, as all paths. */
  readonly entries: readonly string[];
  /** What the modules read at run time. */
  readonly files: readonly string[];
  /** Packages that are not included. */
  readonly external?: readonly string[];
}

export async function buildProgram({ home, base, manifest, entries, files, external = [] }: Program): Promise<void> {
  const dist = path.join(home, 'dist');
  const found = (patterns: readonly string[]) =>
    globSync(patterns, { cwd: base }).filter((file) => statSync(path.join(base, file)).isFile());
  await rm(dist, { recursive: true, force: true });
  const input = Object.fromEntries(found(entries).map((file) => [withoutSuffix(file), path.join(base, file)]));
  const bundle = await rolldown({
    cwd: base,
    platform: 'node',
    input,
    external: [...external],
    preserveEntrySignatures: 'allow-extension',
    plugins: [
      {
        name: 'lazy-require',
        // A require made by createRequire is hidden from the bundler, which would leave the library out.
        transform: (code, id) =>
          libraryOf(id) === undefined ? code.replace('const require = createRequire(import.meta.url);', '') : undefined,
      },
    ],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  const starts = new Set(Object.values(input));
  const { output } = await bundle.write({
    dir: dist,
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: ({ name }) => (name.includes('/') ? '[name].js' : 'imports/[name].js'),
    minifyInternalExports: false,
    codeSplitting: {
      includeDependenciesRecursively: false,
      groups: [
        { name: (id) => (starts.has(id) ? null : chunkOf(id, base)), debugName: 'a file per module and library' },
      ],
    },
  });
  for (const file of found(files)) {
    await mkdir(path.dirname(path.join(dist, file)), { recursive: true });
    await cp(path.join(base, file), path.join(dist, file));
  }
  const { version } = JSON.parse(await readFile(path.join(home, 'package.json'), 'utf8')) as { version: string };
  await writeFile(path.join(dist, manifest), `${JSON.stringify({ type: 'module', version }, null, 2)}\n`);
  const libraries = new Set(output.flatMap((chunk) => (chunk.type === 'chunk' ? chunk.moduleIds.map(libraryOf) : [])));
  libraries.delete(undefined);
  await writeFile(path.join(home, 'THIRD-PARTY-LICENSES.txt'), await licenceTexts([...libraries] as string[]));
}

const withoutSuffix = (file: string): string => file.replace(/\.ts$/, '');

function libraryOf(id: string): string | undefined {
  return /^.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1];
}

/** One chunk for each of our modules, under its own path, and one for each library. */
function chunkOf(id: string, base: string): string | null {
  const library = libraryOf(id);
  if (library !== undefined) return `libraries/${library.replace('@', '').replace('/', '-')}`;
  return id.startsWith(base) ? withoutSuffix(path.relative(base, id)) : null;
}
