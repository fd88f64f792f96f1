import assert from 'node:assert/strict';
import { test } from 'node:test';
import { read as stateOf } from '../../../src/core/pipeline.ts';
import { transaction } from '../../../src/core/store/db/pool.ts';
import { ingest } from '../../../src/core/store/records/ingest.ts';
import { pushGaps } from '../../../src/core/store/runs/list.ts';
import { listUnlisted } from '../../../src/core/store/runs/stored-reservations.ts';
import type { Json } from '../../../src/terms.ts';
import { type Asked, type Booking, bookings, type Reply } from '../../intake/pull/support/partner.ts';
import { type Documents, planOf, sync } from '../../intake/pull/support/runtime.ts';
import { setUpPulls } from '../../intake/pull/support/set-up.ts';

/** Bookings that a partner listed before and no longer lists. */
const { runtime, partnerOf } = setUpPulls();

const week = { from: '2026-03-01', to: '2026-03-07' };
const none = { pagination: { type: 'none' } };
const single = { single: { path: '/api/reservations/{id}' } };

/** A partner whose list shows `listed`, and whose single request knows `held`. */
async function brand(integration: string, connector: Documents['connector'] = {}, push = false) {
  const book = bookings(12, week.from, 2);
  const state = {
    listed: book as Booking[],
    /** Lists of the next answers. The last one stays. */
    queue: [] as Booking[][],
    held: new Map(book.map((one) => [one.id, one])),
    broken: false,
    /** Answers for single ids instead of the booking. */
    replies: new Map<string, Reply>(),
  };
  const partner = await partnerOf(({ path, query }: Asked): Reply => {
    const id = path.split('/')[3];
    if (id === undefined) {
      if (Number(query.get('offset')) > 0 || Number(query.get('page')) > 1) return { json: { reservations: [] } };
      state.listed = state.queue.shift() ?? state.listed;
      return { json: { reservations: state.listed } };
    }
    if (state.broken) return { status: 403, json: {} };
    const own = state.replies.get(id);
    if (own !== undefined) return own;
    const found = state.held.get(id);
    return found ? { json: found } : { status: 404, json: {} };
  });
  const documents = { integration, baseUrl: partner.url, connector, push };
  const pull = async () => {
    const result = await sync(runtime.ports(documents), integration, week);
    assert.equal(result.state, 'complete', JSON.stringify(result));
    return result;
  };
  await pull();
  const statusOf = async (id: string) => (await runtime.stored(integration)).find((one) => one.id === id)?.data.status;
  const unlisted = async () =>
    (await listUnlisted(runtime.pool, integration, 100)).map(({ id, answer }) => [id, answer]);
  const event = (id: string, more: object) => {
    const { brand } = planOf(documents);
    const arrival = { mode: 'push', effectiveAt: Date.now(), cause: 'event', causeId: '1' } as const;
    const prepared = stateOf(brand, { key: id, value: { id, ...more } as Json }, arrival);
    return transaction(runtime.pool, (tx) => ingest(tx, brand, [prepared]));
  };
  return { book, state, partner, pull, event, statusOf, unlisted };
}

test('a booking that vanishes from the list is requested, and the answer is processed', async () => {
  const { state, partner, pull, statusOf, unlisted } = await brand('asked', { pull: { ...none, ...single } });
  const [first, second, third] = state.listed as [Booking, Booking, Booking];
  state.listed = state.listed.slice(3);
  state.held.set(first.id, { ...first, status: 'cancelled' });
  state.held.set(second.id, { ...second, check_in: '2026-04-01', check_out: '2026-04-03' });
  const result = await pull();
  assert.equal(await statusOf(first.id), 'cancelled');
  assert.equal(result.counters.changed, 2);
  assert.equal((await runtime.stored('asked')).find(({ id }) => id === second.id)?.data.check_in, '2026-04-01');
  assert.deepEqual(await unlisted(), [[third.id, 'present']], 'it is still there, only not listed');
  const asked = partner.requests.length;
  await pull();
  assert.equal(partner.requests.length, asked + 1, 'no request is repeated within a day');
  state.listed = [third, ...state.listed];
  await pull();
  assert.deepEqual(await unlisted(), [], 'the mark is removed when the list shows it again');
});

test('a booking whose request needs two ids is requested with both', async () => {
  const joined = { map: { id: { join: ['confirmation_number', 'id'], with: '/' } } };
  const { state, partner, pull, statusOf } = await brand('two', {
    ...joined,
    pull: {
      ...none,
      single: {
        path: '/api/groups/{id.1}',
        query: { group: '{id.0}', whole: '{id}' },
        split: '/',
        map: { id: { join: ['group', 'id'], with: '/' } },
      },
    },
  });
  const [first, second] = state.listed as [Booking, Booking];
  const id = `${first.confirmation_number}/${first.id}`;
  const { confirmation_number: group, ...answer } = first;
  state.listed = state.listed.slice(2);
  state.replies.set(first.id, { json: { ...answer, group, status: 'cancelled' } });
  state.replies.set(second.id, { json: { ...second, group: second.confirmation_number, id: 'another' } });
  await pull();
  const request = partner.requests.find(({ path }) => path === `/api/groups/${first.id}`);
  assert.deepEqual(Object.fromEntries(request?.query ?? []), { group: first.confirmation_number, whole: id });
  assert.equal(await statusOf(id), 'cancelled');
  assert.equal(await statusOf(`${second.confirmation_number}/${second.id}`), second.status, 'an answer about another');
});

test('a booking that the partner no longer has is marked, not cancelled', async () => {
  const { state, pull, statusOf, unlisted } = await brand('gone', { pull: { ...none, ...single } });
  const [first] = state.listed as [Booking];
  state.listed = state.listed.slice(1);
  state.held.delete(first.id);
  await pull();
  assert.deepEqual(await unlisted(), [[first.id, 'absent']]);
  assert.equal(await statusOf(first.id), 'confirmed');
});

test('with gone: cancelled, a booking that the partner no longer has is cancelled', async () => {
  const { state, pull, statusOf } = await brand('cancels', { pull: { ...none, ...single, gone: 'cancelled' } });
  const [first, second] = state.listed as [Booking, Booking];
  state.listed = state.listed.slice(2);
  state.held.delete(first.id);
  await pull();
  assert.deepEqual([await statusOf(first.id), await statusOf(second.id)], ['cancelled', 'confirmed']);
});

test('an answer that is another reservation neither cancels the booking nor counts as it', async () => {
  const { book, state, pull, statusOf, unlisted } = await brand('other', {
    pull: { ...none, ...single, gone: 'cancelled' },
  });
  const [first, second] = state.listed as [Booking, Booking];
  state.listed = state.listed.slice(1);
  // A search by prefix: R1 finds R10.
  state.held.set(first.id, { ...second, confirmation_number: 'wrong' });
  await pull();
  assert.equal(await statusOf(first.id), 'confirmed');
  assert.deepEqual(await unlisted(), [[first.id, null]]);
  const stored = (await runtime.stored('other')).find(({ id }) => id === second.id);
  assert.equal(stored?.data.confirmation_number, book[1]?.confirmation_number);
});

test('a booking that is cancelled because it is gone keeps what only its events say, also when it is listed again', async () => {
  const { state, pull, event } = await brand('returns', { pull: { ...none, ...single, gone: 'cancelled' } }, true);
  const [first] = state.listed as [Booking];
  await event(first.id, { source: 'an event' });
  const shown = async () => {
    const found = (await runtime.stored('returns')).find(({ id }) => id === first.id);
    return [found?.data.status, found?.data.source];
  };
  assert.deepEqual(await shown(), ['confirmed', 'an event']);
  state.listed = state.listed.slice(1);
  state.held.delete(first.id);
  await pull();
  assert.deepEqual(await shown(), ['cancelled', 'an event']);
  state.listed = [first, ...state.listed];
  await pull();
  assert.deepEqual(await shown(), ['confirmed', 'an event']);
});

test('without a single request, a booking is marked as not listed', async () => {
  const { state, pull, statusOf, unlisted } = await brand('marked', { pull: none });
  const [first] = state.listed as [Booking];
  state.listed = state.listed.slice(1);
  await pull();
  assert.deepEqual(await unlisted(), [[first.id, null]]);
  assert.equal(await statusOf(first.id), 'confirmed');
});

test('a partner that cannot be asked leaves the run complete and the booking for the next run', async () => {
  const { state, pull, unlisted } = await brand('later', { pull: { ...none, ...single } });
  const [first] = state.listed as [Booking];
  state.listed = state.listed.slice(1);
  state.broken = true;
  await pull();
  assert.deepEqual(await unlisted(), [[first.id, null]]);
  state.broken = false;
  await pull();
  assert.deepEqual(await unlisted(), [[first.id, 'present']]);
});

test('a booking that cannot be requested does not hold back the others', async () => {
  const { state, pull, statusOf, unlisted } = await brand('held', { pull: { ...none, ...single, gone: 'cancelled' } });
  const [refused, deleted, emptied, last, failing, after] = state.listed as Booking[] as [
    Booking,
    Booking,
    Booking,
    Booking,
    Booking,
    Booking,
  ];
  state.listed = state.listed.slice(4);
  state.replies.set(refused.id, { status: 422, json: {} });
  state.replies.set(deleted.id, { status: 410, json: {} });
  state.replies.set(emptied.id, { json: { reservations: [] } });
  state.held.set(last.id, { ...last, status: 'cancelled' });
  await pull();
  assert.deepEqual(
    await Promise.all([refused, deleted, emptied, last].map(({ id }) => statusOf(id))),
    ['confirmed', 'cancelled', 'cancelled', 'cancelled'],
    '410 and an empty list mean that the partner does not have it',
  );
  assert.deepEqual(await unlisted(), [[refused.id, null]]);
  // One that makes the partner fail is requested last by the next run.
  state.listed = state.listed.slice(2);
  state.replies.set(failing.id, { status: 403, json: {} });
  state.held.set(after.id, { ...after, status: 'cancelled' });
  await pull();
  assert.equal(await statusOf(after.id), 'confirmed');
  await pull();
  assert.equal(await statusOf(after.id), 'cancelled');
});

test('with gone: cancelled, a guest who has arrived or departed is not cancelled', async () => {
  const { state, pull, statusOf, unlisted } = await brand('stayed', { pull: { ...none, gone: 'cancelled' } });
  const [first, second, third] = state.listed as [Booking, Booking, Booking];
  const stayed = [{ ...first, status: 'checked_in' }, { ...second, status: 'checked_out' }, third];
  state.listed = [...stayed, ...state.listed.slice(3)];
  await pull();
  state.listed = state.listed.slice(3);
  await pull();
  assert.deepEqual(await Promise.all(stayed.map(({ id }) => statusOf(id))), ['checked_in', 'checked_out', 'cancelled']);
  assert.deepEqual((await unlisted()).map(([id]) => id).sort(), [first.id, second.id].sort());
});

test('with gone: cancelled and without a single request, a list is read twice before anything is cancelled', async () => {
  const pages: Record<string, object> = {
    none: { type: 'none' },
    offset: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 50 },
    page: { type: 'page', page: 'query.page', limit: 'query.limit', page_size: 50 },
    cursor: { type: 'cursor', next: 'next', cursor: 'query.cursor' },
  };
  for (const [name, pagination] of Object.entries(pages)) {
    const { book, state, partner, pull, statusOf } = await brand(`twice-${name}`, {
      pull: { pagination, gone: 'cancelled' },
    });
    const statuses = async () => new Set(await Promise.all(book.map(({ id }) => statusOf(id))));
    // Each answer removes one entry; the last one stays.
    const answers = async (...lists: Booking[][]) => {
      state.queue = lists;
      const asked = partner.requests.length;
      await pull();
      return partner.requests.length - asked;
    };
    assert.ok((await answers([], book)) > 1, name);
    assert.deepEqual([name, await statuses()], [name, new Set(['confirmed'])]);
    assert.ok((await answers(book.slice(1), book)) > 1, name);
    assert.deepEqual([name, await statuses()], [name, new Set(['confirmed'])]);
    await answers(book.slice(1));
    assert.deepEqual([name, await statusOf(book[0]?.id ?? '')], [name, 'cancelled']);
  }
});

test('bookings that reach over the ends of the range are not missed', async () => {
  const { state, pull, unlisted } = await brand('edges', { pull: none });
  const longStay = { ...(state.listed[0] as Booking), id: 'LONG', check_out: '2026-03-20' };
  state.listed = [longStay, ...state.listed];
  await pull();
  state.listed = state.listed.slice(1);
  await pull();
  assert.deepEqual(await unlisted(), []);
});

test('a booking of flat rows that vanishes is marked too', async () => {
  const flat = {
    shape: { root_path: 'reservations', flat: { key: 'id' } },
    map: { guests: false, rooms: false, charges: false },
    pull: none,
  };
  const { state, pull, unlisted } = await brand('flat', flat);
  const [first] = state.listed as [Booking];
  state.listed = state.listed.slice(1);
  await pull();
  assert.deepEqual(await unlisted(), [[first.id, null]]);
});

test('bookings that were listed before the connector read flat rows are not missing', async () => {
  const flat = {
    shape: { root_path: 'reservations', flat: { key: 'id' } },
    map: { guests: false, rooms: false, charges: false },
  };
  const { pull, unlisted } = await brand('flat-later', { ...flat, pull: none });
  // As rows of their own are remembered, and rows that cannot be recognised.
  await runtime.pool.query(
    `update records set listed = case when id = (select min(id) from records where integration = 'flat-later') then -1 else 7 end
      where integration = 'flat-later'`,
  );
  await pull();
  assert.deepEqual(await unlisted(), []);
});

test('changes that a poll found and no event reported are counted by day', async () => {
  const { state, pull } = await brand('gaps', { pull: none });
  const move = (days: number) =>
    runtime.pool.query(`update history set at = at - $1 * interval '1 day' where integration = 'gaps'`, [days]);
  await move(3);
  const event = (id: string, daysAgo: number) =>
    runtime.pool.query(
      `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body_hash)
       values ('gaps', 'ep', $1, 'reservation.updated', now(), now() - $2 * interval '1 day', '')`,
      [id, daysAgo],
    );
  await event('first', 2);
  state.listed = state.listed.map((one, i) => (i < 3 ? { ...one, confirmation_number: `N${i}` } : one));
  await pull();
  // One of the three was reported by an event as well.
  await runtime.pool.query(
    `insert into history (integration, type, id, effective_at, seq, cause, cause_id, outcome, at)
     values ('gaps', 'reservation', $1, now(), 1, 'event', '1', 'unchanged', now())`,
    [state.listed[0]?.id],
  );
  await move(1);
  const gaps = await pushGaps(runtime.pool, 'gaps', 7);
  const found = gaps.find(({ updated }) => Number(updated) > 0);
  assert.deepEqual([found?.created, found?.updated, found?.cancelled], [0, 2, 0]);
  assert.deepEqual(found?.examples, [state.listed[1]?.id, state.listed[2]?.id]);
  assert.equal(
    gaps.reduce((sum, { created }) => sum + Number(created), 0),
    0,
    'what was there before the first event is not a gap',
  );
});
