import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

interface Lockfile {
  readonly packages: Readonly<
    Record<
      string,
      {
        readonly resolved?: string;
        readonly optionalDependencies?: Record<string, string>;
        readonly integrity?: string;
        readonly link?: boolean;
        readonly optional?: boolean;
        readonly dev?: boolean;
        readonly os?: readonly string[];
      }
    >
  >;
}

const root = path.join(import.meta.dirname, '..', '..');
const lockfiles = ['package-lock.json', 'site/package-lock.json'].map(
  (file) => [file, (JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Lockfile).packages] as const,
);

for (const [file, packages] of lockfiles) {
  test(`the lockfile has every optional package, so that npm ci accepts it on every system: ${file}`, () => {
    const places = Object.keys(packages);
    const missing = Object.values(packages)
      .flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
      .filter((name) => !places.some((place) => place.endsWith(`node_modules/${name}`)));
    assert.deepEqual(missing, [], `run: node_modules/.bin/node scripts/complete-lockfile.ts ${file}`);
  });

  test(`the lockfile names no registry ${file}`, () => {
    assert.deepEqual(
      Object.keys(packages).filter((place) => /^\w+:/.test(packages[place]?.resolved ?? '')),
      [],
    );
  });

  test(`every package has its hash, but for optional ones of systems that the registry did not have: ${file}`, () => {
    const without = Object.entries(packages).filter(
      ([place, { integrity, link }]) => place.includes('node_modules/') && !link && integrity === undefined,
    );
    const installed = without.filter(([, { optional, os }]) => optional !== true || (os ?? []).length === 0);
    assert.deepEqual(installed, [], `run: node_modules/.bin/node scripts/complete-lockfile.ts ${file}`);
    // What users install, and what the image is built from.
    assert.deepEqual(file === 'package-lock.json' ? without.filter(([, { dev }]) => dev !== true) : [], []);
  });
}

test('what runs in the workflows is named by its commit, with its version beside it', () => {
  const folder = path.join(root, '.github', 'workflows');
  const uses = readdirSync(folder).flatMap((name) =>
    [...readFileSync(path.join(folder, name), 'utf8').matchAll(/uses:\s*(.*)$/gm)].map(([, used = '']) => used),
  );
  assert.ok(uses.length > 10);
  const loose = uses.filter((used) => !used.startsWith('./') && !/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(used));
  assert.deepEqual(loose, []);
});
