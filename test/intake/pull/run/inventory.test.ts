import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readInventory } from '../../../../src/core/store/runs/inventory.ts';
import type { IntegrationName } from '../../../../src/terms.ts';
import { jumpingClock } from '../support/clock.ts';
import type { Asked, Reply } from '../support/partner.ts';
import { planOf, sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

/** The partner's list of the rooms that the hotel can sell: a row for each room type and night, on two pages. */

const { runtime, partnerOf } = setUpPulls();
const dayMs = 86_400_000;

interface Night {
  readonly date: string;
  readonly type: string;
  readonly units: unknown;
}

const inventory = {
  path: '/hotels/{brand_id}/inventory',
  query: { from: '{window.from:DD/MM/YYYY}', until: '{window.after}' },
  days: 3,
  root_path: 'data.nights',
  night: 'date',
  rooms: 'units',
  pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 4 },
};

/** `nights` as the partner has them now; the test changes them. */
async function hotel(name: string, pull: Record<string, unknown> = {}) {
  let nights: readonly Night[] = [];
  let reply: Reply | undefined;
  const partner = await partnerOf((asked: Asked): Reply => {
    if (asked.path !== '/hotels/LIS01/inventory') return { json: { reservations: [] } };
    if (reply !== undefined) return reply;
    const offset = Number(asked.query.get('offset') ?? 0);
    return { json: { data: { nights: nights.slice(offset, offset + 4) } } };
  });
  const clock = jumpingClock();
  const connector = {
    shape: { root_path: 'reservations' },
    pull: { pagination: { type: 'none' }, inventory, ...pull },
  };
  const ports = runtime.ports({ integration: name, baseUrl: partner.url, connector }, { clock });
  const run = () => sync(ports, name, { sync: 'pre_stay' });
  return {
    run,
    answer: (now: readonly Night[] | Reply) => {
      if (Array.isArray(now)) [nights, reply] = [now, undefined];
      else reply = now as Reply;
    },
    pass: (ms: number) => clock.wait(ms),
    day: (n: number) =>
      Temporal.Instant.fromEpochMilliseconds(clock.now())
        .toZonedDateTimeISO('Europe/Lisbon')
        .toPlainDate()
        .add({ days: n })
        .toString(),
    asked: () => partner.requests.filter(({ path }) => path !== '/api/reservations').map(({ query }) => query),
    known: async () => (await readInventory(runtime.pool, name)).capacity,
  };
}

const of = (...nights: readonly (readonly [string, unknown, unknown])[]): Night[] =>
  nights.flatMap(([date, doubles, suites]) => [
    { date, type: 'DBL', units: doubles },
    { date, type: 'STE', units: suites },
  ]);

test('the inventory is read once a day, all its pages, and room types are added up', async () => {
  const { run, answer, asked, known, day, pass } = await hotel('inventory1');
  const [today, tomorrow, after] = [day(0), day(1), day(2)];
  answer(of([today, 90, 10], [tomorrow, '90', 10], [after, 80, 0]));
  assert.equal((await run()).state, 'complete');
  assert.deepEqual(await known(), [
    [today, 100],
    [after, 80],
  ]);
  const [first, second, ...rest] = asked();
  assert.deepEqual(
    [first?.get('from'), first?.get('until'), second?.get('offset'), rest.length],
    [today.split('-').toReversed().join('/'), day(3), '4', 0],
  );
  assert.equal((await run()).state, 'complete');
  assert.equal(asked().length, 2, 'not again on the same day');
  // Two days later: nights that have passed keep their number.
  await pass(2 * dayMs);
  answer(of([day(0), 70, 0], [day(1), 90, 10], [day(2), 90, 10]));
  assert.equal((await run()).state, 'complete');
  assert.deepEqual(await known(), [
    [today, 100],
    [after, 70],
    [day(1), 100],
  ]);
});

test('an inventory that cannot be read makes the run incomplete and changes no number', async () => {
  const { run, answer, known, day, pass } = await hotel('inventory2');
  answer(of([day(0), 90, 10]));
  assert.equal((await run()).state, 'complete');
  const before = await known();
  await pass(dayMs);
  const broken: readonly (readonly [readonly Night[] | Reply, string])[] = [
    [{ status: 403, json: { error: 'no access to inventory' } }, 'pull.forbidden'],
    [{ json: { data: {} } }, 'pull.wrong_shape'],
    [[], 'pull.wrong_shape'],
    [of([day(0), 90, null]), 'pull.wrong_shape'],
    [of([day(0), 90, -1]), 'pull.wrong_shape'],
    [of([day(0), 90, 1.5]), 'pull.wrong_shape'],
    [of([day(0), 90, '']), 'pull.wrong_shape'],
    [of(['soon', 90, 10]), 'pull.wrong_shape'],
  ];
  for (const [answered, code] of broken) {
    answer(answered);
    const result = await run();
    assert.deepEqual([result.state, result.error?.code], ['incomplete', code], JSON.stringify(answered));
    assert.match(result.error?.message ?? '', /inventory/);
    assert.deepEqual(await known(), before);
  }
  answer(of([day(0), 50, 0]));
  assert.equal((await run()).state, 'complete', 'it is asked again by the next run');
  assert.deepEqual(await known(), [...before, [day(0), 50]]);
});

test('a list of changes goes on where it stopped although the inventory fails', async () => {
  const { run, answer } = await hotel('inventory3', {
    request: { path: '/api/reservations', query: { changed_after: '{since}' } },
  });
  answer({ status: 400, json: { error: 'unknown path' } });
  const watermark = async () =>
    (await runtime.pool.query(`select read_at from syncs where integration = 'inventory3'`)).rows[0]?.read_at;
  const { state } = await run();
  assert.equal(state, 'incomplete');
  assert.ok((await watermark()) instanceof Date);
});

test('each brand of an account has its own inventory', async () => {
  const name = 'inventory4';
  const today = Temporal.Now.plainDateISO('Europe/Lisbon').toString();
  const rooms: Readonly<Record<string, number>> = { LIS01: 100, OPO02: 40 };
  const partner = await partnerOf(({ path }): Reply => {
    const [, hotel = ''] = /^\/hotels\/(\w+)\/inventory$/.exec(path) ?? [];
    if (hotel === '') return { json: { reservations: [] } };
    return { json: { data: { nights: [{ date: today, units: rooms[hotel] }] } } };
  });
  const pagination = { type: 'none' };
  const pull = { pagination, inventory: { ...inventory, pagination } };
  const connector = { shape: { root_path: 'reservations' }, pull };
  const plan = planOf({ integration: name, baseUrl: partner.url, connector });
  const body = { ...plan.brand.body, brand_id: 'OPO02', timezone: 'Europe/Lisbon' };
  const brand = { ...plan.brand, body, integration: `${name}-other` as IntegrationName };
  const routed = { ...plan, routing: { propertyOf: () => undefined, brands: [brand] } };
  const documents = { integration: name, baseUrl: partner.url };
  const ports = runtime.ports(documents, { plan: async () => ({ kind: 'ok', plan: routed }) });
  assert.equal((await sync(ports, name, { sync: 'pre_stay' })).state, 'complete');
  const known = async (integration: string) => (await readInventory(runtime.pool, integration)).capacity;
  assert.deepEqual([await known(name), await known(`${name}-other`)], [[[today, 100]], [[today, 40]]]);
});
