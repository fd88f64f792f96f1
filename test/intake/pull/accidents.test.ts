import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import pg from 'pg';
import type { Hold } from '../../../src/core/reconcile/accidents/judge.ts';
import { type Booking, bookings } from './support/partner.ts';
import { type StoredReservation, sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/** A mistake in a partner's answer must not destroy stored data. */
const { runtime, partnerOf } = setUpPulls();

const week = { from: '2026-03-01', to: '2026-03-07' };

async function brand(integration: string, { count = 40, push = false, guarded = true, pull: own = {} } = {}) {
  const state = { book: bookings(count, week.from, Math.ceil(count / 6)), answer: undefined as unknown };
  const partner = await partnerOf(() => ({ json: state.answer ?? { reservations: state.book } }));
  const guard = { limits: { rows: 5, share: 0.5 }, memory: new Map() };
  const connector = { pull: { pagination: { type: 'none' }, ...own } };
  const documents = { integration, baseUrl: partner.url, push, connector, ...(guarded && { guard }) };
  const pull = () => sync(runtime.ports(documents), integration, week);
  await pull();
  const change = (make: (booking: Booking, n: number) => object) => {
    state.book = state.book.map((one, n) => make(one, n) as Booking);
  };
  const holds = async () => {
    const { rows } = await runtime.pool.query<{ holds: Hold[] }>(
      `select normal -> 'holds' as holds from guards where integration = $1`,
      [integration],
    );
    return rows.flatMap(({ holds: all }) => all);
  };
  const waiting = async () => {
    const { rows } = await runtime.pool.query('select from records where integration = $1 and held is not null', [
      integration,
    ]);
    return rows.length;
  };
  return { state, pull, change, holds, waiting, stored: () => runtime.stored(integration) };
}

const emailsIn = (stored: readonly StoredReservation[]) =>
  stored.map(({ data }) => (data.guests as { email?: string }[])[0]?.email);

const renamed = (one: Booking) => ({
  ...one,
  guests: (one.guests as { email?: string }[]).map(({ email, ...rest }) => ({ ...rest, mail: email })),
});

for (const push of [false, true]) {
  test(`a renamed field clears nothing, and everything else flows (${push ? 'with' : 'without'} events)`, async () => {
    const { state, pull, change, holds, waiting, stored } = await brand(`renamed-${push}`, { push });
    const [right, before] = [state.book, emailsIn(await stored())];
    change((one, n) => ({ ...renamed(one), ...(n === 3 && { confirmation_number: 'C-NEW' }) }));
    const held = await pull();
    assert.deepEqual(emailsIn(await stored()), before);
    assert.equal((await stored())[3]?.data.confirmation_number, 'C-NEW', 'an ordinary change in a held row flows');
    assert.equal(held.counters.held, 40);
    const [hold] = await holds();
    assert.equal(hold?.sign, 'cleared guests.email');
    assert.deepEqual([hold?.affected, hold?.of, hold?.state], [40, 40, 'open']);
    assert.equal(await waiting(), 40);
    await pull();
    assert.deepEqual(emailsIn(await stored()), before, 'the next poll neither');
    assert.equal((await holds()).length, 1);
    assert.equal(await waiting(), 40, 'each value is kept once');

    state.book = right;
    await pull();
    assert.deepEqual(emailsIn(await stored()), before);
    assert.equal(await waiting(), 0, 'the right answer supersedes what was held');
  });
}

test('a new booking and an ordinary change are never delayed', async () => {
  const { state, pull, change, stored } = await brand('ordinary');
  change((one, n) => (n < 4 ? { ...renamed(one), total_amount: 5 } : one));
  state.book = [...state.book, { ...(bookings(41, week.from, 7)[40] as Booking), guests: [] }];
  const { counters } = await pull();
  assert.equal(counters.held, 0);
  assert.equal((await stored()).length, 41);
  assert.equal((await stored())[0]?.data.total_amount, 5);
  assert.equal(emailsIn(await stored())[0], undefined, 'the partner took it back in ordinary numbers');
});

type Jump = (one: Booking, n: number, book: readonly Booking[]) => object;
const firstGuest = (one: Booking) => (one.guests as object[])[0];
const jumps: { readonly [name: string]: Jump } = {
  'another currency': (one) => ({ ...one, currency: 'USD' }),
  'another booking’s guest': (one, n, book) => ({ ...one, guests: book[(n + 1) % book.length]?.guests }),
  'the alias of a booking site': (one, n) => ({
    ...one,
    guests: [{ ...firstGuest(one), email: `${n}@guest.booking.com` }],
  }),
  'one number': (one) => ({ ...one, confirmation_number: 'C-0' }),
  'stays of other lengths': (one, n) => ({ ...one, check_out: dayAfter(one.check_out, 2 + (n % 9)) }),
  'no guests key': ({ guests: _, ...rest }) => rest,
  'guests: null': (one) => ({ ...one, guests: null }),
  'amounts in cents': (one) => ({ ...one, total_amount: Number(one.total_amount) * 100 }),
  'amounts of zero': (one) => ({ ...one, total_amount: 0 }),
  'dates a day late': (one) => ({ ...one, check_in: dayAfter(one.check_in), check_out: dayAfter(one.check_out) }),
  'all cancelled': (one) => ({ ...one, status: 'cancelled' }),
  'one name': (one) => ({ ...one, guests: [{ ...firstGuest(one), last_name: 'Mustermann' }] }),
  'masked names': (one, n) => ({
    ...one,
    guests: [{ ...firstGuest(one), last_name: `E${'*'.repeat(4 + (n % 3))}` }],
  }),
};
const dayAfter = (date: string, days = 1) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);

for (const [name, jump] of Object.entries(jumps)) {
  test(`values that jump in nearly all rows are held: ${name}`, async () => {
    const { state, pull, change, waiting, stored } = await brand(`jump-${name.replaceAll(/\W+/g, '-')}`);
    const [right, before] = [state.book, await stored()];
    change((one, n) => jump(one, n, right));
    const { counters } = await pull();
    const data = (rows: readonly StoredReservation[]) => rows.map((row) => row.data);
    assert.deepEqual(data(await stored()), data(before));
    assert.equal(counters.held, 40);
    assert.equal(await waiting(), 40);
    state.book = right;
    await pull();
    assert.deepEqual(data(await stored()), data(before));
    assert.equal(await waiting(), 0);
  });
}

for (const [name, answer] of Object.entries({ list: { reservations: [] }, null: { reservations: null } })) {
  test(`an empty answer cancels nothing, though gone is cancelled: ${name}`, async () => {
    const { state, pull, waiting, stored } = await brand(`gone-${name}`, { pull: { gone: 'cancelled' } });
    state.answer = answer;
    await pull();
    assert.ok((await stored()).every(({ data }) => data.status === 'confirmed'));
    assert.equal(await waiting(), 40);
    state.answer = undefined;
    await pull();
    assert.equal(await waiting(), 0);
  });
}

test('some bookings that are gone are cancelled', async () => {
  const { state, pull, stored } = await brand('gone-few', { pull: { gone: 'cancelled' } });
  state.book = state.book.slice(4);
  await pull();
  assert.equal((await stored()).filter(({ data }) => data.status === 'cancelled').length, 4);
});

test('without a guard the accident is passed on', async () => {
  const { pull, change, stored } = await brand('unguarded', { guarded: false });
  change(renamed);
  await pull();
  assert.ok(emailsIn(await stored()).every((email) => email === undefined));
});

test('a small hotel is protected too, over several polls', async () => {
  const { pull, change, stored } = await brand('small', { count: 6 });
  const before = emailsIn(await stored());
  change(renamed);
  await pull();
  assert.deepEqual(emailsIn(await stored()), before);
});

test('a list that ends in the middle cancels nothing, though gone is cancelled', async () => {
  const { state, pull, holds, stored } = await brand('gone-half', { count: 90, pull: { gone: 'cancelled' } });
  state.book = state.book.slice(0, 50);
  await pull();
  assert.ok((await stored()).every(({ data }) => data.status === 'confirmed'));
  assert.deepEqual(
    (await holds()).map(({ sign, affected, of }) => [sign, affected, of]),
    [['gone', 40, 90]],
  );
});

test('a booking that the list shows as cancelled is cancelled, though its absence is held', async () => {
  const { state, pull, stored } = await brand('gone-then-cancelled', { pull: { gone: 'cancelled' } });
  const right = state.book;
  state.book = [];
  await pull();
  state.book = right.map((one, n) => (n === 0 ? { ...one, status: 'cancelled' } : one));
  await pull();
  assert.deepEqual(
    (await stored()).filter(({ data }) => data.status !== 'confirmed').map(({ data }) => [data.id, data.status]),
    [[right[0]?.id, 'cancelled']],
  );
});

test('unknown bookings in a list do not make the missing ones look few', async () => {
  const { state, pull, holds, stored } = await brand('gone-diluted', { pull: { gone: 'cancelled' } });
  const own = state.book.length;
  const strangers = [...state.book, ...state.book].map((one, n) => ({ ...one, id: `X-${n}` }));
  state.book = [...state.book.slice(0, own * 0.4), ...strangers];
  await pull();
  assert.ok((await stored()).every(({ data }) => data.status === 'confirmed'));
  assert.deepEqual(
    (await holds()).map(({ sign, affected, of }) => [sign, affected, of]),
    [['gone', own * 0.6, own]],
  );
});

test('another hotel’s list is held as a whole: none of its bookings is made, none of ours is cancelled', async () => {
  const { state, pull, holds, waiting, stored } = await brand('strangers', { pull: { gone: 'cancelled' } });
  const before = await stored();
  state.book = state.book.map((one) => ({ ...one, id: `X-${one.id}` }));
  await pull();
  assert.deepEqual(await stored(), before);
  assert.deepEqual((await holds()).map(({ sign }) => sign).sort(), ['gone', 'strangers']);
  assert.equal(await waiting(), 80);
});

test('what a list should show is counted once for all pages of a first run', async () => {
  const query = mock.method(pg.Client.prototype, 'query');
  const book = bookings(60, week.from, 7);
  const partner = await partnerOf(({ query: asked }) => {
    const offset = Number(asked.get('offset'));
    return { json: { reservations: book.slice(offset, offset + 10) } };
  });
  const guard = { limits: { rows: 5, share: 0.5 }, memory: new Map() };
  const pagination = { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: 10 };
  const documents = { integration: 'first-run', baseUrl: partner.url, connector: { pull: { pagination } }, guard };
  const { counters } = await sync(runtime.ports(documents), 'first-run', week);
  const texts = query.mock.calls.map(({ arguments: [one] }) =>
    typeof one === 'string' ? one : (one as { text?: string }).text,
  );
  query.mock.restore();
  assert.equal(counters.changed, 60);
  assert.equal(texts.filter((text) => text?.includes('as bookings from records')).length, 1);
});

const consenting = (one: Booking, marketing_consent: boolean | undefined) => ({
  ...one,
  guests: [{ ...firstGuest(one), ...(marketing_consent !== undefined && { marketing_consent }) }],
});

test('consent from nothing to yes in all rows subscribes nobody; a withdrawal in all rows counts, and somebody is told', async () => {
  const { pull, change, holds, stored } = await brand('granted');
  const consents = async () =>
    (await stored()).map(({ data }) => (data.guests as { marketing_consent?: boolean }[])[0]?.marketing_consent);
  change((one) => consenting(one, true));
  await pull();
  assert.ok((await consents()).every((one) => one === undefined));
  assert.deepEqual(
    (await holds()).map(({ sign }) => sign),
    ['granted guests.marketing_consent'],
  );
  change((one) => consenting(one, false));
  await pull();
  assert.ok((await consents()).every((one) => one === false));
  const { rows } = await runtime.pool.query(
    `select normal -> 'told' as told from guards where integration = 'granted'`,
  );
  assert.equal(rows[0]?.told.withdrawn.affected, 40);
});

test('a status that no map knows in all rows is a hold with its path, not 40 dead letters', async () => {
  const { pull, change, holds, stored } = await brand('unknown-status');
  change((one, n) => ({ ...one, status: 'ZZ', confirmation_number: `N-${n}` }));
  const { counters } = await pull();
  assert.deepEqual([counters.dead, counters.held], [0, 40]);
  assert.ok((await stored()).every(({ data }) => data.status === 'confirmed'));
  assert.equal((await stored())[3]?.data.confirmation_number, 'N-3');
  assert.ok((await holds()).some(({ sign }) => sign === 'status unknown'));
});

test('a hotel of eight bookings is protected against prices times 100 too', async () => {
  const { pull, change, stored } = await brand('eight', { count: 8 });
  change((one) => ({ ...one, total_amount: Number(one.total_amount) * 100 }));
  await pull();
  assert.ok((await stored()).every(({ data }) => Number(data.total_amount) < 5_000));
});

test('a page about one day to come that loses the e-mail key clears nothing', async () => {
  const { state, pull, change, stored } = await brand('one-day');
  state.book = state.book.map((one, n) => (n < 20 ? { ...one, check_in: '2026-03-05', check_out: '2026-03-06' } : one));
  await pull();
  const before = emailsIn(await stored());
  change((one, n) => (n < 20 ? renamed(one) : one));
  state.book = state.book.slice(0, 20);
  await pull();
  assert.deepEqual(emailsIn(await stored()), before);
});

test('a price that changes during an accident waits with the others, and counts when the list is right again', async () => {
  const { state, pull, change, waiting, stored } = await brand('meanwhile');
  const right = state.book;
  const amount = async (n: number) => Number((await stored())[n]?.data.total_amount);
  const before = await amount(0);
  change((one) => ({ ...one, total_amount: Number(one.total_amount) * 100 }));
  await pull();
  change((one, n) => (n === 0 ? { ...one, total_amount: Number(one.total_amount) * 2 } : one));
  await pull();
  assert.equal(await amount(0), before);
  assert.equal(await waiting(), 40);
  state.book = right.map((one, n) => (n === 0 ? { ...one, total_amount: Number(one.total_amount) * 2 } : one));
  await pull();
  assert.equal(await amount(0), before * 2);
  assert.equal(await waiting(), 0);
});

test('a row that loses the same field later waits with the others', async () => {
  const { state, pull, change, waiting, stored } = await brand('joins');
  const before = emailsIn(await stored());
  const right = state.book;
  change((one, n) => (n === 0 ? one : renamed(one)));
  await pull();
  state.book = right.map((one) => renamed(one) as Booking);
  await pull();
  assert.deepEqual(emailsIn(await stored()), before);
  assert.equal(await waiting(), 40);
});

test('a cancellation during an accident of cancellations counts when the other rows are right again', async () => {
  const { state, pull, change, waiting, stored } = await brand('meant');
  const right = state.book;
  change((one) => ({ ...one, status: 'cancelled' }));
  await pull();
  state.book = right.map((one, n) => (n === 0 ? { ...one, status: 'cancelled' } : one));
  await pull();
  assert.equal((await stored()).filter(({ data }) => data.status === 'cancelled').length, 1);
  assert.equal(await waiting(), 0);
});
