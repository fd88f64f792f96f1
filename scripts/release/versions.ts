/**
 * One version everywhere. `npm run release:version` lets changesets raise the packages and then runs this, which writes the same version
 * into the repository's package.json and the chart.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { published, root } from '../packages/build.ts';

const repository = path.join(root, 'package.json');
const chart = path.join(root, 'ops', 'helm', 'innbound', 'Chart.yaml');
const read = (file: string) => readFileSync(file, 'utf8');
const versionIn = (file: string): string => (JSON.parse(read(file)) as { version: string }).version;

/** Every place of the version, by its file. */
export function versions(): ReadonlyMap<string, string> {
  const manifests = [repository, ...published.map((home) => path.join(home, 'package.json'))];
  const found = new Map(manifests.map((file) => [path.relative(root, file), versionIn(file)]));
  for (const key of ['version', 'appVersion']) {
    const [, value = ''] = new RegExp(`^${key}: "?([^"\\s]+)"?$`, 'm').exec(read(chart)) ?? [];
    found.set(`${path.relative(root, chart)} ${key}`, value);
  }
  return found;
}

if (import.meta.main) {
  const version = versionIn(path.join(published[0] ?? '', 'package.json'));
  writeFileSync(repository, read(repository).replace(/"version": "[^"]+"/, `"version": "${version}"`));
  writeFileSync(
    chart,
    read(chart)
      .replace(/^version: .*$/m, `version: ${version}`)
      .replace(/^appVersion: .*$/m, `appVersion: "${version}"`),
  );
  console.log(`${version} everywhere. Next: npm install --package-lock-only, and the heading in CHANGELOG.md.`);
}
