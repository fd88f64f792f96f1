import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { environmentFile, environmentReference, variables } from '../../scripts/environment-reference.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

test('docs/reference/environment.md is up to date (scripts/environment-reference.ts writes it)', () => {
  assert.equal(readFileSync(environmentFile, 'utf8'), environmentReference());
});

test('the page lists every variable that the service and its commands read', () => {
  const files = ['src', 'packages/partner-kit/src'].flatMap((folder) =>
    readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts'))
      .map((file) => path.join(folder, file)),
  );
  const read = [...files, 'bin/innbound'].flatMap((file) =>
    [...readFileSync(path.join(root, file), 'utf8').matchAll(/\benv(?:\.|\[')([A-Z][A-Z0-9_]+)\b/g)].map(
      ([, name]) => name,
    ),
  );
  // Options such as --secret-env have the name of a variable as their default.
  const byDefault = files
    .filter((file) => /\bsrc.cli\b/.test(file))
    .flatMap((file) => [...readFileSync(path.join(root, file), 'utf8').matchAll(/'(INNBOUND_[A-Z_]+)'/g)])
    .map(([, name]) => name);
  // Not settings of ours: the search path of programs.
  const wanted = new Set([...read, ...byDefault].filter((name) => name !== 'PATH'));
  const listed = new Set(variables.map(({ name }) => name));
  assert.deepEqual(
    [...wanted].filter((name) => name !== undefined && !listed.has(name)),
    [],
  );
  const defaults = files.map((file) => readFileSync(path.join(root, file), 'utf8')).join('\n');
  assert.deepEqual(
    [...listed].filter((name) => !wanted.has(name) && !defaults.includes(`'${name}'`)),
    [],
    'listed but never read',
  );
});
