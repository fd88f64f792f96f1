import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../src/kit/clock.ts';
import { simulate } from './simulate.ts';

/**
 * Intake, event worker, pull runner and deliveries on virtual time, with one to three nodes, kills, freezes, clock steps, slow calls
 * and lost answers (docs/adr/0012-simulation.md). `npm run bench -- simulate SEED` repeats a seed and prints what happened in it.
 */

/** Seeds that failed once, with what they showed. */
const regressions: readonly { readonly seed: number; readonly showed: string }[] = [
  {
    seed: 158,
    showed: 'a wrong date that an event had overruled passed with the next page, though the other rows were held',
  },
  { seed: 256, showed: 'the same, of a row that repeated itself' },
];

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

/** The same seeds on every machine; more of them with INNBOUND_SIMULATION_SECONDS. */
const seeds = 60;
const seconds = Number(process.env.INNBOUND_SIMULATION_SECONDS ?? 0);
const firstSeed = Number(process.env.INNBOUND_SIMULATION_SEED ?? 1);

test('no seed breaks a promise', async () => {
  const endAt = systemClock.now() + seconds * 1_000;
  const fates = new Set<string>();
  const settled = new Set<string>();
  const faults = new Set<string>();
  for (let seed = firstSeed; seed < firstSeed + seeds || systemClock.now() < endAt; seed += 1) {
    const { history, violations, script } = await simulate(seed);
    assert.deepEqual(violations, [], `seed ${seed}: npm run bench -- simulate ${seed}`);
    for (const { kind } of history.fates) fates.add(kind);
    for (const { kind } of history.settled) settled.add(kind);
    for (const { kind } of script.faults) faults.add(kind);
  }
  // A simulation in which nothing happens would find nothing.
  assert.deepEqual([...fates].sort(), ['superseded', 'unchanged', 'version']);
  assert.deepEqual([...settled].sort(), ['dead', 'delivered', 'pending']);
  assert.deepEqual([...faults].sort(), ['clock', 'freeze', 'kill', 'sink_away', 'store_away']);
});
