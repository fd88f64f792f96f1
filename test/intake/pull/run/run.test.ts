import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IntegrationName } from '../../../../src/terms.ts';
import { arriving, type Booking, bookings } from '../support/partner.ts';
import { sync } from '../support/runtime.ts';
import { setUpPulls } from '../support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

test('a backfill over three weeks reads every reservation, page by page', async () => {
  const book = bookings(210, '2026-03-01');
  const partner = await partnerOf((asked) => {
    const rows = arriving(book, asked);
    const offset = Number(asked.query.get('offset'));
    const limit = Number(asked.query.get('limit'));
    return { json: { reservations: rows.slice(offset, offset + limit), total: rows.length } };
  });
  const ports = runtime.ports({ integration: 'plain', baseUrl: partner.url });
  const result = await sync(ports, 'plain', { from: '2026-03-01', to: '2026-03-21' });
  assert.equal(result.state, 'complete', JSON.stringify(result));
  assert.equal(result.counters.fetched, 210);
  assert.equal(result.counters.changed, 210);
  assert.deepEqual([result.counters.rows, result.counters.repeated], [210, 0], 'overlapping rows are not counted');
  assert.deepEqual(
    (await runtime.stored('plain')).map(({ id }) => id),
    book.map(({ id }) => id),
  );
  const again = await sync(ports, 'plain', { from: '2026-03-01', to: '2026-03-21' });
  assert.deepEqual([again.state, again.counters.changed, again.counters.unchanged], ['complete', 0, 210]);
});

test('a backfill of a connector without a list ends with a named error, and asks nothing', async () => {
  const partner = await partnerOf(() => ({ json: { reservations: [] } }));
  const ports = runtime.ports({
    integration: 'listless',
    baseUrl: partner.url,
    connector: { pull: { request: undefined } },
  });
  const { state, error } = await sync(ports, 'listless', { from: '2026-03-01', to: '2026-03-02' });
  assert.deepEqual([state, error?.code], ['failed', 'pull.no_such_sync']);
  assert.match(error?.message ?? '', /no pull\.request/);
  assert.equal(partner.requests.length, 0);
});

test('changed counts versions: a booking that moves into the next window while the run reads has two', async () => {
  const [book] = bookings(1, '2026-03-02');
  const partner = await partnerOf((asked) => {
    const isSecond = (asked.query.get('dateFrom') ?? '') > '2026-03-07';
    const moved = { ...book, check_in: '2026-03-10', check_out: '2026-03-12' };
    return { json: { reservations: [isSecond ? moved : book] } };
  });
  const ports = runtime.ports({
    integration: 'moved',
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'none' } } },
  });
  const { counters } = await sync(ports, 'moved', { from: '2026-03-01', to: '2026-03-14' });
  const [stored, ...more] = await runtime.stored('moved');
  assert.deepEqual([counters.changed, stored?.version, more.length], [2, 2, 0]);
});

test('known rows are not mapped again until they, their reservation or the documents change', async () => {
  const book = bookings(30, '2026-03-01');
  const partner = await partnerOf(() => ({ json: { reservations: book } }));
  const documents = {
    integration: 'known',
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'none' } } },
  };
  let read = 0;
  const counting = (version: number) => {
    const ports = runtime.ports({ ...documents, version });
    return {
      ...ports,
      plan: async (name: IntegrationName) => {
        const planned = await ports.plan(name);
        if (planned.kind !== 'ok') return planned;
        const { plan } = planned;
        const { pull } = plan.brand.shapers;
        const draft: typeof pull.draft = (raw) => {
          read += 1;
          return pull.draft(raw);
        };
        const counted = new Proxy(pull, {
          get: (of, name: keyof typeof pull) => {
            const own = of[name];
            return name === 'draft' ? draft : typeof own === 'function' ? own.bind(of) : own;
          },
        });
        const brand = {
          ...plan.brand,
          shapers: { ...plan.brand.shapers, pull: counted },
        };
        return { kind: 'ok' as const, plan: { ...plan, brand } };
      },
    };
  };
  const poll = async (version = 1) => {
    read = 0;
    const { state, counters } = await sync(counting(version), 'known', { from: '2026-03-01', to: '2026-03-07' });
    return [state, counters.fetched, counters.changed, counters.unchanged, read];
  };
  assert.deepEqual(await poll(), ['complete', 30, 30, 0, 30]);
  assert.deepEqual(await poll(), ['complete', 30, 0, 30, 0]);
  book[4] = { ...(book[4] as Booking), total_amount: 7 };
  assert.deepEqual(await poll(), ['complete', 30, 1, 29, 1]);
  // An event changed the reservation meanwhile: the list was requested later, so it wins.
  await runtime.pool.query(
    `update records set version = version + 1, listed = -1, data = (data::jsonb || '{"status":"cancelled"}')::json where integration = 'known' and id = 'R00003'`,
  );
  assert.deepEqual(await poll(), ['complete', 30, 1, 29, 1]);
  assert.equal((await runtime.stored('known')).find(({ id }) => id === 'R00003')?.data.status, 'confirmed');
  assert.deepEqual(await poll(2), ['complete', 30, 0, 30, 30]);
  assert.deepEqual(await poll(2), ['complete', 30, 0, 30, 0]);
  const { rows } = await runtime.pool.query<{ n: number }>(
    `select count(*) as n from sightings where integration = 'known' and 'R00001' = any(ids)`,
  );
  assert.equal(rows[0]?.n, 5, 'every poll that showed it unchanged is on record');
});

test('a page that shows a reservation twice: the later row counts, at every poll', async () => {
  const [first, second] = bookings(2, '2026-03-01') as [Booking, Booking];
  let page: Booking[] = [first, second, { ...first, total_amount: 7 }];
  const partner = await partnerOf(() => ({ json: { reservations: page } }));
  const ports = runtime.ports({
    integration: 'twice',
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'none' } } },
  });
  const poll = async () => {
    const { state, counters } = await sync(ports, 'twice', { from: '2026-03-01', to: '2026-03-07' });
    const stored = await runtime.stored('twice');
    const { version, data } = stored.find(({ id }) => id === first.id) ?? {};
    return [state, counters.changed, stored.length, version, data?.total_amount];
  };
  assert.deepEqual(await poll(), ['complete', 2, 2, 1, 7]);
  assert.deepEqual(await poll(), ['complete', 0, 2, 1, 7]);
  // The known row is followed by a newer one.
  page = [{ ...first, total_amount: 7 }, second, { ...first, total_amount: 8 }];
  assert.deepEqual(await poll(), ['complete', 1, 2, 2, 8]);
  // The newer row alone, as on any other day.
  page = [second, { ...first, total_amount: 8 }];
  assert.deepEqual(await poll(), ['complete', 0, 2, 2, 8]);
});

test('rows of one page with the same id are counted, and the last of them is used', async () => {
  const [one, other] = bookings(2, '2026-03-01') as [Booking, Booking];
  const partner = await partnerOf(() => ({
    json: { reservations: [one, other, { ...one, total_amount: 77 }] },
  }));
  const ports = runtime.ports({
    integration: 'twice',
    baseUrl: partner.url,
    connector: { pull: { pagination: { type: 'none' } } },
  });
  const { state, counters } = await sync(ports, 'twice', { from: '2026-03-01', to: '2026-03-07' });
  assert.deepEqual([state, counters.fetched, counters.repeated], ['complete', 2, 1]);
  const stored = await runtime.stored('twice');
  assert.equal(Number(stored.find(({ id }) => id === one.id)?.data.total_amount), 77);
});

test('a reservation that becomes a block is removed by `where`, and is not dropped again at each poll', async () => {
  const book = bookings(3, '2026-03-01').map((one) => ({ ...one, kind: 'guest' }));
  const partner = await partnerOf(() => ({ json: { reservations: book } }));
  const connector = { pull: { pagination: { type: 'none' } }, map: { where: { kind: { not: 'block' } } } };
  const ports = runtime.ports({ integration: 'blocks', baseUrl: partner.url, connector });
  const day = { from: '2026-03-01', to: '2026-03-01' };
  assert.equal((await sync(ports, 'blocks', day)).counters.changed, 3);
  Object.assign(book[0] ?? {}, { kind: 'block', status: undefined });
  const second = await sync(ports, 'blocks', day);
  assert.deepEqual([second.state, second.counters.changed, second.counters.dead], ['complete', 1, 0]);
  const third = await sync(ports, 'blocks', day);
  assert.deepEqual([third.counters.changed, third.counters.unchanged + third.counters.dropped], [0, 3]);
});
