import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly resolved?: string; readonly optionalDependencies?: Record<string, string> }>
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
}
