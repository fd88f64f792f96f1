import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differingPaths } from '../../../../src/core/deliver/compare.ts';
import { type HeldFiles, Unreadable } from '../../../../src/core/deliver/destination.ts';
import { destinationType as postgres } from '../../../../src/core/deliver/destinations/postgres/destination.ts';
import { contentOf } from '../../../../src/core/deliver/expected.ts';
import { delivery, reservation, services } from '../../support.ts';
import { limits, setUp } from './support.ts';

const of = { integration: 'lisbon', type: 'reservation' } as const;

test('the hash that the server makes of a record is ours, and the contents are those that were delivered', async (t) => {
  const { open, db } = await setUp(t);
  const offered = services('/');
  const holdings = postgres.holdings?.(postgres.settings.parse({ url: db.url }), offered, {} as HeldFiles);
  t.after(async () => {
    await holdings?.close();
    await offered.close();
  });
  assert.ok(holdings);
  assert.deepEqual(await holdings.rows(of, ['r'], 'digests', new Map()), [], 'before the first delivery');
  const sent = delivery(
    reservation('r', {
      guests: [
        { first_name: 'Ana "\\\u0001\u2028\t', email_proxy: true, date_of_birth: '1980-02-29' },
        { last_name: 'ü😀' },
      ],
      rooms: [],
      charges: [{ code: 'A', amount: '-99999999999999999999.99', quantity: 3 }],
      extra: { loyalty: 'gold', b: [1.5, null, { zz: true, y: 'é', é: 'x' }], a: {} },
    }),
    { version: 2 },
  );
  await open().deliver([sent], limits);
  const [row] = await holdings.rows(of, ['r', 'other'], 'digests', new Map());
  assert.deepEqual(row, { id: 'r', epoch: 1, version: 2, isRemoved: false, digest: holdings.digestOf(sent) });
  const [whole] = await holdings.rows(of, ['r'], 'contents', new Map());
  assert.deepEqual(differingPaths(contentOf(sent.message), whole?.content), []);
  assert.deepEqual(await holdings.ids?.(of, '', 10), ['r']);
  assert.deepEqual(await holdings.integrations?.(), ['lisbon']);
});

test('a server that cannot be reached makes nothing up', async (t) => {
  const offered = services('/');
  const holdings = postgres.holdings?.(
    postgres.settings.parse({ url: 'postgres://u@127.0.0.1:1/x' }),
    offered,
    {} as HeldFiles,
  );
  t.after(async () => {
    await holdings?.close();
    await offered.close();
  });
  await assert.rejects(() => holdings?.rows(of, ['r'], 'digests', new Map()) ?? Promise.resolve(), Unreadable);
});
