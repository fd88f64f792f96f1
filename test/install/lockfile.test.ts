import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

interface Lockfile {
  readonly packages: Readonly<
    Record<string, { readonly resolved?: string; readonly optionalDependencies?: Record<string, string> }>
  >;
}

const file = path.join(import.meta.dirname, '..', '..', 'package-lock.json');
const { packages } = JSON.parse(readFileSync(file, 'utf8')) as Lockfile;

test('the lockfile has every optional package, so that npm ci accepts it on every system', () => {
  const places = Object.keys(packages);
  const missing = Object.values(packages)
    .flatMap((each) => Object.keys(each.optionalDependencies ?? {}))
    .filter((name) => !places.some((place) => place.endsWith(`node_modules/${name}`)));
  assert.deepEqual(missing, [], 'run: node_modules/.bin/node scripts/complete-lockfile.ts');
});

test('the lockfile names no registry', () => {
  assert.deepEqual(
    Object.keys(packages).filter((place) => packages[place]?.resolved !== undefined),
    [],
  );
});
