import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDryRunStore } from '../../../../src/core/store/runs/dry-runs.ts';
import { bookings } from '../support/partner.ts';
import { planOf, sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();
const range = { from: '2026-03-01', to: '2026-03-02' };
const connector = { pull: { pagination: { type: 'none' } } };

/** A brand beside others of the same API. */
function brandOf(
  integration: string,
  baseUrl: string,
  others: readonly string[],
  destinations = ['crm'],
  of = connector,
) {
  const documents = { integration, baseUrl, connector: of, destinations };
  const plan = { ...planOf(documents), others: async () => others };
  return runtime.ports(documents, { plan: async () => ({ kind: 'ok', plan }) });
}

test('a new brand that receives the bookings of another one stops before it stores anything', async () => {
  const partner = await partnerOf(() => ({ json: { reservations: bookings(12, range.from) } }));
  const first = await sync(brandOf('first', partner.url, ['second', 'third']), 'first', range);
  assert.equal(first.state, 'complete');
  const ports = brandOf('second', partner.url, ['first', 'third']);
  for (const runs of [ports.runs, openDryRunStore(runtime.pool)]) {
    const second = await sync({ ...ports, runs }, 'second', range);
    assert.deepEqual([second.state, second.error?.code], ['failed', 'pull.other_brand']);
    assert.match(second.error?.message ?? '', /LIS01 with the bookings that another brand has received/);
  }
  assert.deepEqual(await runtime.stored('second'), []);
  const again = await sync(brandOf('first', partner.url, ['second', 'third']), 'first', range);
  assert.deepEqual([again.state, again.counters.unchanged], ['complete', 12]);
  const mirror = await sync(brandOf('mirror', partner.url, ['first'], []), 'mirror', range);
  assert.equal(mirror.state, 'complete', 'a brand that delivers nowhere does no harm');
});

test('equal ids of other bookings are not the bookings of another brand', async () => {
  const own = (night: string) => partnerOf(() => ({ json: { reservations: bookings(5, night) } }));
  const [north, south] = [await own('2026-03-01'), await own('2026-03-02')];
  assert.equal((await sync(brandOf('north', north.url, ['south']), 'north', range)).state, 'complete');
  assert.equal((await sync(brandOf('south', south.url, ['north']), 'south', range)).state, 'complete');
});

test('flat rows of another brand are recognised when they are grouped', async () => {
  const rows = bookings(6, range.from).map((one) => ({ ...one, room_no: '1' }));
  const partner = await partnerOf(() => ({ json: rows }));
  const flat = { ...connector, shape: { flat: { key: 'id', rooms: { key: 'room_no' } } } };
  const of = (integration: string, others: readonly string[]) =>
    brandOf(integration, partner.url, others, ['crm'], flat);
  assert.equal((await sync(of('east', ['west']), 'east', range)).state, 'complete');
  const west = await sync(of('west', ['east']), 'west', range);
  assert.deepEqual([west.state, west.error?.code], ['failed', 'pull.other_brand']);
  assert.deepEqual(await runtime.stored('west'), []);
});
