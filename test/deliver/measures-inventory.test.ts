import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { DuckDBInstance } from '@duckdb/node-api';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { pullPorts } from '../../src/composition/pull.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { apiNode, countPage } from '../api/node.ts';
import { bookings, startPartner } from '../intake/pull/support/partner.ts';
import { plainPool, testDatabase } from '../support/database.ts';

const root = path.join(import.meta.dirname, '..', '..');
const timezone = 'Europe/Lisbon';
const day = (n: number): string => Temporal.Now.plainDateISO(timezone).add({ days: n }).toString();

const connector = `connector: hotel
pull:
  request: { path: /api/reservations, query: { from: "{window.from}", to: "{window.to}" } }
  inventory:
    path: /api/inventory
    query: { from: "{window.from}", to: "{window.to}", hotel: "{brand_id}" }
    root_path: days
    night: date
    rooms: to_sell
shape: { root_path: reservations }
`;
const brand = (url: string) => `integration: grand
connector: hotel
brand_id: 'LIS "01", centre'
timezone: ${timezone}
rooms_available: { 2020-01-01: 5 }
pull:
  base_url: ${url}
  auth: { type: bearer, token: letmein }
  syncs: { pre_stay: { every: 15m, range: [0d, +6d] } }
deliver: [warehouse, lake]
`;

test('rooms of a partner’s inventory reach the page, the warehouse and the Parquet files', async (t) => {
  let asked: (string | null)[] = [];
  const partner = await startPartner(({ path: at, query }) => {
    if (at !== '/api/inventory') return { json: { reservations: bookings(8, day(1), 2) } };
    asked = ['from', 'to', 'hotel'].map((name) => query.get(name));
    // A wing opens in two days.
    const days = [10, 10, 20, 20, 20].map((to_sell, i) => ({ date: `${day(i)}T00:00:00`, to_sell }));
    return { json: { days } };
  });
  t.after(() => partner.close());
  const db = await testDatabase({ empty: true });
  const warehouse = plainPool(db.connection);
  const node = await apiNode('', {
    'connectors/hotel.yaml': connector,
    'integrations/grand.yaml': brand(partner.url),
    'destinations/warehouse.yaml': `destination: warehouse\ntype: postgres\nurl: ${db.url}\n`,
    'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\nformat: parquet\n',
  });
  t.after(async () => {
    await node.stop();
    await warehouse.end();
  });
  const run = {
    integration: 'grand' as IntegrationName,
    sync: 'pre_stay',
    kind: 'manual',
    requestedBy: 'test',
  } as const;
  const result = await syncOnce(pullPorts(node.runtime), run);
  assert.equal(result.state, 'complete', JSON.stringify(result.error));
  assert.deepEqual(asked, [day(0), day(364), 'LIS "01", centre']);
  await drainOnce(await deliverPorts(node.runtime));

  const occupancy = `select night::text as night, rooms_available, rooms_sold, occupancy::float8 as occupancy
                       from occupancy_by_night where integration = 'grand' order by 1`;
  const expected = [10, 20, 20, 20].map((rooms, i) => ({
    night: day(i + 1),
    rooms_available: rooms,
    rooms_sold: 2,
    occupancy: 200 / rooms,
  }));
  const inWarehouse = occupancy.replace('from occ', 'from innbound.occ');
  assert.deepEqual((await warehouse.query(inWarehouse)).rows, expected);

  const instance = await DuckDBInstance.create(':memory:');
  const duck = await instance.connect();
  t.after(() => {
    duck.closeSync();
    instance.closeSync();
  });
  await duck.run(`set variable lake = '${path.join(node.runtime.workspaceDir, 'out')}'`);
  for (const file of ['ops/duckdb/lake.sql', 'src/core/deliver/destinations/postgres/migrations/0002-views.sql'])
    await duck.run(await readFile(path.join(root, file), 'utf8'));
  assert.deepEqual((await duck.runAndReadAll(occupancy)).getRowObjectsJson(), expected);
  const brands = (await duck.runAndReadAll('select brand_id, capacity_rooms from brands')).getRowObjectsJson();
  assert.deepEqual(brands, [{ brand_id: 'LIS "01", centre', capacity_rooms: [5, 10, 20] }]);

  await countPage(node, 'grand');
  const { body } = await node.call('GET', '/integrations/grand/hotel', await node.token('viewer'));
  const shown = (body.report.nights as { night: string; rooms_available: number }[]).slice(1, 5);
  assert.deepEqual(
    shown.map(({ night, rooms_available }) => [night, rooms_available]),
    expected.map(({ night, rooms_available }) => [night, rooms_available]),
  );
  assert.equal(body.report.nights.at(-1).rooms_available, 20, 'after the last night of the inventory its number holds');
});
