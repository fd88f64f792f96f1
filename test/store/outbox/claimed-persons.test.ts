import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openStore } from '../../deliver/support.ts';
import { agencyKeys, claimCost, ownKeys } from '../../persons/claim-cost.ts';

const kinds = { 'with their own addresses': ownKeys, 'with an agency’s address': agencyKeys };

// 500 guests took 5.7 s for each pass over them.
for (const [kind, keysOf] of Object.entries(kinds)) {
  test(`a claim of guests ${kind} costs as much for each of 600 as for each of 60`, async (t) => {
    const { pool, close } = await openStore();
    t.after(close);
    await claimCost(pool, 'warm', 60, keysOf);
    const [few, many] = [await claimCost(pool, 'few', 60, keysOf), await claimCost(pool, 'many', 600, keysOf)];
    assert.ok(many < 3 * few, `${many} µs for each of 600, ${few} µs for each of 60`);
  });
}
