import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import { simulate } from './simulate.ts';

/** Two files run every other seed, each for this long. */
const seconds = Number(process.env.INNBOUND_SIMULATION_SECONDS ?? 12);
const firstSeed = Number(process.env.INNBOUND_SIMULATION_SEED ?? 1);
const leastSeeds = 60;

/** Runs seeds until the time is over; a failure names its seed, which `npm run bench -- simulate SEED` repeats. */
export async function noSeedBreaksPromise(t: TestContext, offset: 0 | 1): Promise<void> {
  const endAt = performance.now() + seconds * 1_000;
  const fates = new Set<string>();
  const settled = new Set<string>();
  const faults = new Set<string>();
  let count = 0;
  while (count < leastSeeds || performance.now() < endAt) {
    const seed = firstSeed + offset + 2 * count;
    const { history, violations, script } = await simulate(seed);
    assert.deepEqual(violations, [], `seed ${seed}: npm run bench -- simulate ${seed}`);
    for (const { kind } of history.fates) fates.add(kind);
    for (const { kind } of history.settled) settled.add(kind);
    for (const { kind } of script.faults) faults.add(kind);
    count += 1;
  }
  t.diagnostic(`${count} seeds`);
  // A simulation in which nothing happens would find nothing.
  assert.deepEqual([...fates].sort(), ['superseded', 'unchanged', 'version']);
  assert.deepEqual([...settled].sort(), ['dead', 'delivered', 'pending']);
  assert.deepEqual([...faults].sort(), ['clock', 'freeze', 'kill', 'sink_away', 'store_away']);
}
