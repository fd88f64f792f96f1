import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { test } from 'node:test';

test('the sender imports only Node built-ins and its own folder', () => {
  const folder = new URL('../../../packages/sender/src/', import.meta.url);
  const foreign = readdirSync(folder).flatMap((file) =>
    [...readFileSync(new URL(file, folder), 'utf8').matchAll(/from '([^']+)'/g)]
      .map(([, from = '']) => from)
      .filter((from) => !from.startsWith('node:') && !from.startsWith('./')),
  );
  assert.deepEqual(foreign, []);
});
