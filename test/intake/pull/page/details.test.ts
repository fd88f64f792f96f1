import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Booking, bookings } from '../support/partner.ts';
import { sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

/** Lists that only name reservations: each is requested by its id. */

const { runtime, partnerOf } = setUpPulls();

interface Change {
  readonly no: string;
  readonly gone?: boolean;
}

/** Two changes a page, the following pages by cursor alone, as a strict vendor wants them. */
async function changesOf(integration: string, missing: 'left_out' | 'cancelled') {
  const book = new Map<string, Booking>();
  const state = { changes: [] as Change[], broken: new Set<string>() };
  const partner = await partnerOf(({ path, query, headers }) => {
    if (headers['x-key'] !== 'k') return { status: 401, json: {} };
    const [, , id] = path.split('/');
    if (id !== undefined) {
      if (state.broken.has(id)) return { json: { booking: { number: id } } };
      const booking = book.get(id);
      return booking === undefined ? { status: 404, json: {} } : { json: { booking: { number: id, stay: booking } } };
    }
    const names = [...query.keys()].sort().join();
    if (names !== 'count,cursor' && names !== 'count,since') return { status: 400, json: { message: names } };
    const from = Number(query.get('cursor') ?? 0);
    const rows = state.changes.slice(from, from + 2);
    return { json: { rows, next: String(from + 2), more: from + 2 < state.changes.length } };
  });
  const stay = (field: string) => `stay.${field}`;
  const connector = {
    pull: {
      request: { path: '/bookings', query: { since: '{since}' } },
      single: { path: '/bookings/{id}' },
      details: { missing },
      pagination: {
        type: 'cursor',
        next: 'next',
        more: 'more',
        cursor: 'query.cursor',
        replaces: 'since',
        limit: 'query.count',
        page_size: 2,
      },
    },
    shape: { root_path: 'rows', single_path: 'booking' },
    map: {
      id: { first: ['no', 'number'] },
      ...Object.fromEntries(
        ['check_in', 'check_out', 'status', 'total_amount', 'currency'].map((field) => [field, stay(field)]),
      ),
      guests: false,
      rooms: false,
      charges: false,
    },
  };
  const pull = { auth: { type: 'api_key', header: 'X-Key', key: 'k' } };
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector, pull });
  return { book, state, partner, run: () => sync(ports, integration, { sync: 'pre_stay' }) };
}

for (const [missing, status] of [
  ['cancelled', 'cancelled'],
  ['left_out', 'confirmed'],
] as const) {
  test(`every listed reservation is requested; one that is not found is ${missing.replace('_', ' ')}`, async () => {
    const integration = `details-${missing}`;
    const { book, state, partner, run } = await changesOf(integration, missing);
    for (const one of bookings(5, '2026-03-01')) book.set(one.id, one);
    state.changes = [...[...book.keys()].map((no) => ({ no })), { no: 'NEVER-SEEN' }];
    const first = await run();
    assert.deepEqual(
      [first.state, first.counters.changed, first.counters.skipped, first.counters.dead],
      ['complete', 5, 1, 0],
      JSON.stringify(first),
    );
    assert.equal(partner.requests.length, 3 + 6);
    book.delete('R00002');
    book.set('R00003', { ...(book.get('R00003') as Booking), total_amount: 999 });
    state.broken.add('R00004');
    state.changes = ['R00001', 'R00002', 'R00003', 'R00004'].map((no) => ({ no }));
    const second = await run();
    const { changed, unchanged, dead } = second.counters;
    assert.deepEqual([second.state, changed, unchanged, dead], ['complete', missing === 'cancelled' ? 2 : 1, 1, 1]);
    const stored = new Map((await runtime.stored(integration)).map(({ id, data }) => [id, data]));
    assert.equal(stored.get('R00002')?.status, status);
    assert.equal(stored.get('R00003')?.total_amount, 999);
    assert.equal(stored.get('R00004')?.status, 'confirmed');
    assert.equal(stored.size, 5);
  });
}
