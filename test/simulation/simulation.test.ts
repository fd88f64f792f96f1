import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noSeedBreaksPromise } from './seeds.ts';
import { simulate } from './simulate.ts';

/**
 * Intake, event worker, pull runner and deliveries on virtual time, with one to three nodes, kills, freezes, clock steps, slow calls
 * and lost answers (docs/adr/0012-simulation.md). `npm run bench -- simulate SEED` repeats a seed and prints what happened in it.
 */

/** Seeds that failed once, with what they showed. */
const regressions: readonly { readonly seed: number; readonly showed: string }[] = [];

for (const { seed, showed } of regressions) {
  test(`seed ${seed}: ${showed}`, async () => {
    assert.deepEqual((await simulate(seed)).violations, []);
  });
}

test('a seed always produces the same run', async () => {
  for (const seed of [1, 2, 3]) {
    const [once, again] = [await simulate(seed), await simulate(seed)];
    assert.deepEqual(again.history, once.history);
    assert.equal(again.steps, once.steps);
  }
});

test('no seed breaks a promise', (t) => noSeedBreaksPromise(t, 0));
