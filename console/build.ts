/**
 * Builds the console into console/dist, where it is not there or was made from other sources. Run as a program it does so and
 * ends; a service starts it as a process of its own, since the bundler takes more memory than the service it is for.
 */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants } from 'node:zlib';

const here = import.meta.dirname;
export const consoleDist = path.join(here, 'dist');
const stampFile = path.join(consoleDist, 'stamp');

/** The service's files that the console imports. */
export const fromService = [
  '../src/errors.ts',
  '../src/core/canonical/fields.ts',
  '../src/core/canonical/example-event.ts',
  '../src/core/json-path/path.ts',
  '../src/kit/histogram.ts',
  '../src/kit/own-words.ts',
];

/** What the console is made from: its own files, what it takes from the service's, and the versions of the packages. */
function sourcesHash(): string {
  const hash = createHash('sha256');
  const add = (file: string) => hash.update(`${path.relative(here, file)}\0`).update(readFileSync(file));
  const addAll = (folder: string) => {
    const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    for (const file of files.map(({ parentPath, name }) => path.join(parentPath, name)).sort()) add(file);
  };
  for (const file of [
    'index.html',
    'partner.html',
    'build.ts',
    '../package-lock.json',
    '../schemas/integration.json',
    ...fromService,
  ])
    add(path.join(here, file));
  for (const folder of ['src', 'partner', 'public', '../src/errors', '../docs/partners'])
    addAll(path.join(here, folder));
  return hash.digest('hex');
}

/** The published package has the built console and no sources of it. */
const isPackaged = !existsSync(path.join(here, 'src'));

export function isConsoleBuilt(): boolean {
  if (isPackaged) return existsSync(stampFile);
  try {
    return readFileSync(stampFile, 'utf8') === sourcesHash();
  } catch {
    return false;
  }
}

/** Built beside and moved into place, so that a service never serves half a console. */
export async function buildConsole(): Promise<'built' | 'up to date'> {
  return withLock(async () => {
    if (isConsoleBuilt()) return 'up to date';
    const wanted = sourcesHash();
    const [{ build }, { default: react }] = await Promise.all([import('vite'), import('@vitejs/plugin-react')]);
    const fresh = path.join(here, `.dist-${process.pid}`);
    try {
      await build({
        root: here,
        configFile: false,
        logLevel: 'warn',
        plugins: [react()],
        build: {
          outDir: fresh,
          emptyOutDir: true,
          target: 'es2023',
          chunkSizeWarningLimit: 1_500,
          assetsInlineLimit: 0,
          rolldownOptions: { input: [path.join(here, 'index.html'), path.join(here, 'partner.html')] },
        },
      });
      await compressAssets(path.join(fresh, 'assets'));
      await writeFile(path.join(fresh, 'stamp'), wanted);
      await rm(consoleDist, { recursive: true, force: true });
      await rename(fresh, consoleDist);
    } finally {
      await rm(fresh, { recursive: true, force: true });
    }
    return 'built';
  });
}

/** Once, at the build, so that a quality can be used that takes seconds. Smaller files are not worth it. */
async function compressAssets(folder: string): Promise<void> {
  const files = readdirSync(folder).map((file) => path.join(folder, file));
  await Promise.all(
    files.map(async (file) => {
      const bytes = readFileSync(file);
      if (bytes.length > 1_400) await writeFile(`${file}.br`, await brotli(bytes, { params: quality }));
    }),
  );
}
const brotli = promisify(brotliCompress);
const quality = { [constants.BROTLI_PARAM_QUALITY]: 10 };

const lockFolder = path.join(here, '.building');
/** A build takes seconds; a lock this old was left behind. */
const lockExpiresMs = 120_000;

async function withLock<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      await mkdir(lockFolder);
      break;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
      const since = await stat(lockFolder).catch(() => undefined);
      if (since && Date.now() - since.mtimeMs > lockExpiresMs) await rm(lockFolder, { recursive: true, force: true });
      else await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
  try {
    return await work();
  } finally {
    await rm(lockFolder, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const startedAt = performance.now();
  const done = await buildConsole();
  console.error(`console: ${done} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`);
}
