/** Builds a library for npm: one file for `import`, one for `require`, and types for both. It includes nothing but its own sources. */
import { spawnSync } from 'node:child_process';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { rolldown } from 'rolldown';

/** Without a compiler, the types are left out. */
export async function buildLibrary(home: string, compiler?: string): Promise<void> {
  const dist = path.join(home, 'dist');
  await rm(dist, { recursive: true, force: true });
  const bundle = await rolldown({
    cwd: home,
    platform: 'node',
    input: path.join(home, 'src', 'index.ts'),
    external: /^node:/,
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(log.message);
    },
  });
  await bundle.write({ file: path.join(dist, 'index.js'), format: 'esm' });
  await bundle.write({ file: path.join(dist, 'index.cjs'), format: 'cjs' });
  if (compiler === undefined) return;
  const types = spawnSync(compiler, ['-p', home], { encoding: 'utf8' });
  if (types.status !== 0) throw new Error(types.stdout);
  await completeTypes(dist);
}

/** The compiler leaves `.ts` in the imports of declarations, and writes none for `require`. */
async function completeTypes(dist: string): Promise<void> {
  for (const file of (await readdir(dist)).filter((each) => each.endsWith('.d.ts'))) {
    const text = await readFile(path.join(dist, file), 'utf8');
    const importing = (suffix: string) => text.replace(/(from '\.[^']*)\.ts'/g, `$1.${suffix}'`);
    await writeFile(path.join(dist, file), importing('js'));
    await writeFile(path.join(dist, file.replace(/\.d\.ts$/, '.d.cts')), importing('cjs'));
  }
}
