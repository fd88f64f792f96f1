import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { transaction } from '../../src/core/store/db/pool.ts';
import { issueEndpoint } from '../../src/core/store/events/endpoints.ts';
import { openStore } from '../deliver/support.ts';
import { minter, openSealer } from '../intake/push/support.ts';
import { emptyStore } from '../support/store.ts';
import { brandNames } from './brands.ts';
import { directLink } from './model/link.ts';
import { modelPorts, observeModel } from './model/model.ts';
import { StoreModel } from './model/state.ts';
import { observeDatabase } from './observe.ts';
import { Client, operationOf } from './operations.ts';
import { Dice } from './random.ts';
import { realPorts } from './real-store.ts';
import type { Observed } from './store-ports.ts';

/**
 * The model of the store answers as PostgreSQL does. Sequences of operations, chosen by a seed, run on both; every answer must be
 * the same, and so must what is stored in the end.
 */
const trials = 8;
const operations = 120;

let store: Awaited<ReturnType<typeof openStore>>;
before(async () => {
  store = await openStore();
});
after(() => store.close());

for (let seed = 1; seed <= trials; seed++) {
  test(`the model and PostgreSQL agree (seed ${seed})`, async () => {
    const { pool } = store;
    await emptyStore(pool);
    const endpoints = new Map<string, string>();
    for (const name of brandNames) {
      const { endpointId } = await transaction(pool, (tx) => issueEndpoint(tx, name, openSealer, minter));
      endpoints.set(name, endpointId);
    }
    let nowMs = 0;
    const model = new StoreModel(() => nowMs);
    const real = realPorts(pool);
    const clients = {
      real: [new Client(real, endpoints), new Client(real, endpoints)],
      model: [1, 2].map(() => new Client(modelPorts(model, directLink), endpoints)),
    };
    const dice = new Dice(seed);
    const done: string[] = [];
    for (let i = 0; i < operations; i++) {
      const who = dice.whole(0, 1);
      const operation = operationOf(dice);
      done.push(`${who} ${operation.name}`);
      nowMs = await real.clock();
      const expected = await operation.run(clients.real[who] as Client);
      nowMs = await real.clock();
      const found = await operation.run(clients.model[who] as Client);
      assert.deepEqual(plain(found), plain(expected), `seed ${seed}, operation ${i}: ${done.slice(-6).join(', ')}`);
    }
    assert.deepEqual(comparable(observeModel(model)), comparable(await observeDatabase(pool)));
  });
}

/** What the rooms see: undefined and absent are the same. */
const plain = (value: unknown): unknown => (value === undefined ? undefined : JSON.parse(JSON.stringify(value)));

function comparable({ fates, versions, settled, runs }: Observed) {
  const sorted = (rows: readonly object[]) =>
    rows.map((row) => JSON.stringify(plain(row), Object.keys(row).sort())).sort();
  return {
    fates: sorted(fates),
    versions: sorted(
      versions.map(({ isErasure = false, ...one }) => ({
        ...one,
        isErasure,
        value: JSON.stringify(JSON.parse(one.value)),
      })),
    ),
    settled: sorted(settled),
    runs: runs.map(({ id: _, ...run }) => JSON.stringify(run)).sort(),
  };
}
