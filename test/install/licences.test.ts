import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { billOfMaterials, shippedPackages } from '../../scripts/sbom.ts';

/** Licences that a product under Apache-2.0 may include with no condition but to name the authors. */
const allowed = new Set([
  'MIT',
  'MIT-0',
  'ISC',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'BlueOak-1.0.0',
  'PostgreSQL',
  // In the public domain.
  'Unlicense',
]);

test('every package that ships has a licence that allows it', () => {
  const refused = shippedPackages().filter(
    ({ license = '' }) =>
      !license
        .replace(/[()]/g, '')
        .split(' OR ')
        .some((name) => allowed.has(name)),
  );
  assert.deepEqual(refused, []);
});

test('the bill of materials lists every runtime dependency with its hash, and no development package', () => {
  const { components } = billOfMaterials() as {
    components: readonly { readonly name: string; readonly hashes?: readonly unknown[] }[];
  };
  const manifest = JSON.parse(readFileSync(path.join(import.meta.dirname, '..', '..', 'package.json'), 'utf8')) as {
    dependencies: { [name: string]: string };
    devDependencies: { [name: string]: string };
  };
  const names = new Set(components.map(({ name }) => name));
  const missing = Object.keys(manifest.dependencies).filter((name) => !names.has(name));
  assert.deepEqual(missing, []);
  for (const name of ['typescript', 'vite', 'react', 'playwright-core']) {
    assert.ok(manifest.devDependencies[name] !== undefined && !names.has(name), `${name} is for development only`);
  }
  assert.deepEqual(
    components.filter(({ hashes }) => hashes === undefined),
    [],
  );
});
