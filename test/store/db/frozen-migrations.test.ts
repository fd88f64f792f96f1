import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { readFrozen } from '../../../scripts/freeze-migrations.ts';
import { baseline, hashOf, readVersion } from '../../../src/core/store/db/migrate.ts';

test('a released migration is never edited or removed', async () => {
  const present = Object.fromEntries((await readVersion()).migrations.map((one) => [one.file, hashOf(one.sql)]));
  const frozen = await readFrozen();
  for (const [file, hash] of Object.entries(frozen)) {
    assert.equal(present[file], hash, `${file} was changed or removed; write a new migration instead`);
  }
  const unrecorded = Object.keys(present).filter((file) => frozen[file] === undefined);
  assert.deepEqual(unrecorded, [], 'run node_modules/.bin/node scripts/freeze-migrations.ts');
});

test('the schema of 0.2.0 is frozen', async () => {
  const text = await readFile(new URL('baseline-0.2.0.sql', import.meta.url), 'utf8');
  assert.equal(
    hashOf(text),
    baseline.hash,
    'until 0.2.0 is released, write the new hash into src/core/store/db/migrate.ts',
  );
});

test('every migration has a unique number', async () => {
  const numbers = (await readVersion()).migrations.map(({ number }) => number);
  assert.deepEqual(numbers, [...new Set(numbers)], 'two migrations have the same number: renumber the later one');
});
