import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findMutation, mutations, occurrences } from './mutate.ts';

/** A few of them; `npm run bench -- mutations` runs them all. */

test('every mutation still has its place in the source', async () => {
  assert.ok(mutations.length >= 20);
  assert.equal(new Set(mutations.map(({ name }) => name)).size, mutations.length);
  for (const mutation of mutations) {
    assert.equal(await occurrences(mutation), 1, `${mutation.name}: its text does not occur once in ${mutation.file}`);
    assert.notEqual(mutation.find, mutation.replace);
  }
});

for (const mutation of mutations.filter(({ quick }) => quick === true)) {
  test(`found: ${mutation.breaks}`, async () => {
    assert.ok(
      await findMutation(mutation, mutation.judge),
      `${mutation.name} breaks a promise that the checker misses`,
    );
  });
}
