/**
 * Builds the packages that are published, each into its own dist/. Nothing in the repository needs this: sources run as they are.
 *
 *   node_modules/.bin/node scripts/packages/build.ts
 */
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { buildConsole } from '../../console/build.ts';
import { buildLibrary } from './library.ts';
import { buildProgram } from './program.ts';

export const root = path.resolve(import.meta.dirname, '..', '..');
const packages = path.join(root, 'packages');
const homeOf = (name: string) => path.join(packages, name);
export const published = ['innbound', 'sender', 'receiver', 'partner-kit'].map(homeOf);

export async function buildPackages(): Promise<void> {
  await buildConsole();
  await buildProgram({
    home: homeOf('innbound'),
    base: root,
    manifest: 'package.json',
    entries: [
      'src/main.ts',
      'src/operator/cli/!(run).ts',
      'src/operator/operations/text-worker.ts',
      'src/core/deliver/destinations/*/{destination,settings}.ts',
    ],
    files: [
      'bin/launch.cjs',
      'connectors/*/{connector.yaml,README.md}',
      'connectors/systems.json',
      'console/dist/{*,assets/*}',
      'packages/demo/src/{workspace,trouble}/**/*.yaml',
      'packages/partner-kit/src/simulate/page.html',
      'presets/*.yaml',
      'schemas/*.json',
      'src/**/*.{sql,yaml}',
      'src/core/documents/template/*',
    ],
    // The console is built already. pg asks for pg-native only if it is configured.
    external: ['vite', '@vitejs/plugin-react', 'pg-native'],
  });
  await buildProgram({
    home: homeOf('partner-kit'),
    base: packages,
    manifest: 'partner-kit/package.json',
    entries: ['partner-kit/src/cli/main.ts'],
    files: ['partner-kit/src/simulate/page.html'],
  });
  for (const name of ['sender', 'receiver'])
    await buildLibrary(homeOf(name), path.join(root, 'node_modules', '.bin', 'tsc'));
  for (const home of published) await cp(path.join(root, 'LICENSE'), path.join(home, 'LICENSE'));
}

if (import.meta.main) await buildPackages();
