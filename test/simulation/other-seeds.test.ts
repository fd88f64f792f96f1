import { test } from 'node:test';
import { noSeedBreaksPromise } from './seeds.ts';

/** The seeds that simulation.test.ts leaves out, in a separate process. */
test('no other seed breaks a promise', (t) => noSeedBreaksPromise(t, 1));
