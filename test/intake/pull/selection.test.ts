import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { addDays, localDateAt } from '../../../src/core/canonical/values.ts';
import { selectionFor } from '../../../src/core/intake/pull/window/range.ts';
import { syncTypes } from '../../../src/terms.ts';
import { jumpingClock } from './support/clock.ts';
import { type Booking, bookings, type ScriptedPartner, startPartner } from './support/partner.ts';
import { openPullRuntime, type PullRuntime, sync } from './support/runtime.ts';

let runtime: PullRuntime;
let partner: ScriptedPartner;
const startMs = Date.now();
/** It stands still: the day may end while the test runs. */
const clock = { ...jumpingClock(), now: () => startMs };
const today = localDateAt('Europe/Lisbon', startMs);
const template = bookings(1, today)[0] as Booking;
const book: Booking[] = (
  [
    ['tomorrow', 1, 3, 'confirmed'],
    ['next-week', 7, 9, 'confirmed'],
    ['arrives-today', 0, 2, 'confirmed'],
    ['in-house', -2, 2, 'checked-in'],
    ['leaves-today', -2, 0, 'checked-in'],
    ['overstays', -4, -1, 'checked-in'],
    ['left', -5, -1, 'checked-out'],
    ['cancelled-ahead', 3, 4, 'cancelled'],
    ['cancelled-past', -4, -2, 'canceled'],
    ['no-show', -1, 1, 'no-show'],
  ] as const
).map(([id, checkIn, checkOut, status]) => ({
  ...template,
  id,
  status,
  check_in: addDays(today, checkIn),
  check_out: addDays(today, checkOut),
}));

before(async () => {
  runtime = await openPullRuntime();
  partner = await startPartner(() => ({ json: { reservations: book } }));
});
after(async () => {
  await partner.close();
  await runtime.close();
});

const ended = ['cancelled-ahead', 'cancelled-past', 'no-show'];
const kept = {
  pre_stay: ['tomorrow', 'next-week', ...ended],
  stay: ['arrives-today', 'in-house', 'leaves-today', 'overstays', ...ended],
  post_stay: ['left', 'overstays', ...ended],
};

for (const type of syncTypes) {
  test(`${type} keeps what it is for, and every cancellation`, async () => {
    const integration = `select-${type.replace('_', '-')}`;
    const syncs = { [type]: { every: '30m', range: ['-7d', '-1d'], status: 'x' } };
    const ports = runtime.ports(
      {
        integration,
        baseUrl: partner.url,
        connector: { pull: { pagination: { type: 'none' } } },
        pull: { syncs },
      },
      { clock },
    );
    const result = await sync(ports, integration, { sync: type });
    assert.deepEqual((await runtime.stored(integration)).map(({ id }) => id).sort(), [...kept[type]].sort());
    assert.equal(result.counters.skipped, book.length - kept[type].length);
    assert.equal(partner.requests.at(-1)?.query.get('status'), 'x');
    assert.equal(partner.requests.at(-1)?.query.get('dateFrom'), addDays(today, -7));
    assert.equal(partner.requests.at(-1)?.query.get('dateTo'), addDays(today, -1));
  });
}

test('a backfill, and a requested range outside the sync’s purpose, keep everything', async () => {
  const portsOf = (integration: string) =>
    runtime.ports(
      { integration, baseUrl: partner.url, connector: { pull: { pagination: { type: 'none' } } } },
      { clock },
    );
  const ports = portsOf('select-all');
  const past = { from: addDays(today, -7), to: addDays(today, -1) };
  assert.equal((await sync(ports, 'select-all', past)).counters.skipped, 0);
  assert.equal(partner.requests.at(-1)?.query.get('status'), null);
  assert.equal((await sync(ports, 'select-all', { sync: 'pre_stay', ...past })).counters.skipped, 0);
  const around = { from: addDays(today, -3), to: addDays(today, 3) };
  assert.ok((await sync(portsOf('select-some'), 'select-some', { sync: 'pre_stay', ...around })).counters.skipped > 0);
  const { counters } = await sync(ports, 'select-all', { sync: 'pre_stay', ...around });
  assert.deepEqual([counters.unchanged, counters.skipped], [book.length, 0], 'what is stored already is unchanged');
});

test('a list of changes is not divided between syncs: each change is shown once', async () => {
  const pagination = { type: 'none' };
  const feeds = {
    'by-since': { pagination, window: 'none', request: { path: '/changes', query: { since: '{since}' } } },
    'by-ack': {
      pagination,
      window: 'none',
      request: { path: '/pending' },
      acknowledge: { method: 'POST', path: '/ack', body: { ids: '{ids}' } },
    },
  };
  for (const [integration, pull] of Object.entries(feeds)) {
    const ports = runtime.ports({ integration, baseUrl: partner.url, connector: { pull } }, { clock });
    const { counters } = await sync(ports, integration, { sync: 'pre_stay' });
    assert.deepEqual([counters.changed, counters.skipped], [book.length, 0], integration);
  }
  const { ids } = JSON.parse(partner.requests.findLast(({ path }) => path === '/ack')?.body ?? '');
  assert.deepEqual(
    ids,
    book.map(({ id }) => id),
  );
});

test('no reservation falls between the three syncs', () => {
  const day = fc.integer({ min: -400, max: 400 }).map((days) => addDays('2026-03-01', days));
  const status = fc.constantFrom('confirmed', 'checked_in', 'checked_out', 'cancelled', 'no_show', 'other' as const);
  fc.assert(
    fc.property(day, fc.nat(60), status, day, (check_in, nights, its, now) => {
      const reservation = { check_in, check_out: addDays(check_in, nights), status: its as 'confirmed' };
      const takers = syncTypes.filter((type) => selectionFor(type, now, undefined)(reservation));
      assert.ok(takers.length >= 1);
    }),
  );
});
