import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { type Fetched, type HydratorPorts, hydrateOnce } from '../../../src/core/intake/push/hydrate.ts';
import { thinIdOf } from '../../../src/core/intake/push/reservation-event.ts';
import { buryThin, claimThin, hydrateEvents, hydrateLater } from '../../../src/core/store/events/hydration.ts';
import { payloadsOf } from '../../../src/core/store/records/kept-payloads.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { Json } from '../../../src/terms.ts';
import type { Bench } from './events-support.ts';
import { activeIntegration, openBench, reservationData } from './events-support.ts';

const active = activeIntegration(
  { thin: { id: 'booking.ref', guest: 'guest.ref' } },
  { pull: { base_url: 'https://pms.example', auth: { type: 'bearer', token: 'none' } } },
  {
    pull: {
      request: { method: 'GET', path: '/r', query: { from: '{window.from}', to: '{window.to}' } },
      single: { path: '/r/{id}' },
      guest: { path: '/g/{id}' },
    },
    map: { id: 'reservation_id', rooms: { from: 'stays' } },
  },
);

let bench: Bench;
let asked: string[];
let answer: (id: string) => Fetched | Promise<Fetched>;
const signals: string[] = [];
const ports = (): HydratorPorts => ({
  clock: systemClock,
  wake: { wait: async () => {}, signal: (topic) => signals.push(topic) },
  claim: (limit, leaseMs) => claimThin(bench.pool, limit, leaseMs),
  fetchSingle: async (_integration, id) => {
    asked.push(id);
    return answer(id);
  },
  hydrated: (thin, hydration) => hydrateEvents(bench.pool, thin, hydration),
  later: (thin, delayMs) => hydrateLater(bench.pool, thin, delayMs),
  dead: (thin, message, detail, fromAttempt) => buryThin(bench.pool, active, thin, { message, detail, fromAttempt }),
});

const found = (more = {}): Fetched => ({
  kind: 'found',
  body: Buffer.from(JSON.stringify(reservationData(more))),
  requestedAt: Date.now(),
});

test('the id of a thin event can be two ids of the event, joined', () => {
  const joined = activeIntegration(
    { thin: { id: { join: ['property.code', 'booking.ref'] } } },
    { pull: { base_url: 'https://pms.example', auth: { type: 'bearer', token: 'none' } } },
    {
      pull: {
        request: { method: 'GET', path: '/r', query: { from: '{window.from}', to: '{window.to}' } },
        single: { path: '/p/{id.0}/r/{id.1}', split: '/' },
      },
    },
  );
  const thinId = (sent: Json) => thinIdOf(joined, 'reservation', sent);
  assert.equal(thinId({ property: { code: 'LIS' }, booking: { ref: 1001 } }), 'LIS/1001');
  assert.equal(thinId({ property: { code: '' }, booking: { ref: 1001 } }), undefined);
  assert.equal(thinId({ booking: { ref: 1001 } }), undefined);
});

describe('thin events', () => {
  before(async () => {
    bench = await openBench(active);
  });
  after(() => bench.end());
  beforeEach(async () => {
    asked = [];
    answer = () => found();
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
  });

  test('a thin event is completed from the partner’s API', async () => {
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.work();
    assert.equal(await bench.version(), 0);
    await hydrateOnce(ports());
    assert.deepEqual(asked, ['R-1001']);
    assert.ok(signals.includes('events'));
    await bench.work();
    assert.equal((await bench.reservation())?.guests[0]?.last_name, 'Quill');
    const { rows } = await bench.pool.query('select state, outcome, id from events');
    assert.deepEqual(rows, [{ state: 'done', outcome: 'created', id: 'R-1001' }]);
    const [kept] = await payloadsOf(bench.pool, active.integration, ['R-1001'], {});
    assert.equal(kept?.mode, 'single', 'a replay reads the payload as received');
  });

  test('a guest event that only names the guest is completed too, apart from a reservation with the same id', async () => {
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.send('guest.updated', { guest: { ref: 'R-1001' } });
    await bench.work();
    const types: unknown[] = [];
    const person = { id: 'R-1001', first_name: 'Ana', last_name: 'Prado', email: 'ana@mail.example' };
    const fetchSingle: HydratorPorts['fetchSingle'] = async (_integration, id, _signal, type) => {
      types.push(`${type} ${id}`);
      const guest = {
        kind: 'found',
        body: Buffer.from(JSON.stringify({ guest: person })),
        requestedAt: Date.now(),
      } as const;
      return type === 'guest' ? guest : found();
    };
    await hydrateOnce({ ...ports(), fetchSingle });
    assert.deepEqual(types.toSorted(), ['guest R-1001', 'reservation R-1001']);
    await bench.work();
    const { rows } = await bench.pool.query(`select type, state, outcome from events order by seq`);
    assert.deepEqual(rows, [
      { type: 'reservation', state: 'done', outcome: 'created' },
      { type: 'guest', state: 'done', outcome: 'created' },
    ]);
    const { rows: guests } = await bench.pool.query(
      `select data ->> 'guest_id' as id from records where type = 'guest'`,
    );
    assert.deepEqual(guests, [{ id: 'R-1001' }]);
  });

  test('one request completes all events of a reservation received before it, and none received after', async () => {
    for (let i = 0; i < 3; i++) await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.work();
    answer = async () => {
      const fetched = found();
      // While the partner answers, another event arrives.
      await setTimeout(5);
      await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
      await bench.work();
      return fetched;
    };
    await hydrateOnce(ports());
    assert.deepEqual(asked, ['R-1001']);
    const { rows } = await bench.pool.query(
      'select state, count(*)::int as n from events group by state order by state',
    );
    assert.deepEqual(rows, [
      { state: 'hydrate', n: 1 },
      { state: 'pending', n: 3 },
    ]);
  });

  test('the effective time is that of the request, not of the event', async () => {
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } }, { occurredAt: Date.now() - 3_600_000 });
    await bench.work();
    const before = Date.now();
    await hydrateOnce(ports());
    await bench.work();
    const { rows } = await bench.pool.query<{ effective_at: Date }>('select effective_at from records');
    assert.ok((rows[0]?.effective_at.getTime() ?? 0) >= before);
  });

  test('a transient failure is retried with growing delays and finally becomes a dead letter', async () => {
    answer = () => ({ kind: 'later', reason: 'breaker_open' });
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.work();
    const delays: number[] = [];
    for (let attempt = 1; attempt <= 16; attempt++) {
      assert.equal(await hydrateOnce(ports()), 1);
      assert.equal(await hydrateOnce(ports()), 0, 'nothing is due meanwhile');
      const { rows } = await bench.pool.query<{ s: number | null }>(
        `select round(extract(epoch from due_at - now()))::int as s from events where state = 'hydrate'`,
      );
      if (rows[0]?.s) delays.push(rows[0].s);
      await bench.pool.query(`update events set due_at = now() where state = 'hydrate'`);
    }
    assert.deepEqual(delays.slice(0, 4), [5, 10, 20, 40]);
    assert.equal(Math.max(...delays), 900);
    const { rows } = await bench.pool.query('select kind, id, code, detail from dead_letters');
    assert.deepEqual(rows, [
      { kind: 'event', id: 'R-1001', code: 'push.not_hydrated', detail: { reason: 'breaker_open', attempts: 16 } },
    ]);
  });

  test('an event that arrives late in an outage, or during a failing request, has all its tries', async () => {
    const thin = { booking: { ref: 'R-1001' } };
    const waiting = async () =>
      (await bench.pool.query(`select event_id, attempt from events where state = 'hydrate' order by seq`)).rows;
    answer = () => ({ kind: 'later', reason: 'breaker_open' });
    await bench.send('reservation.updated', thin, { eventId: 'first' });
    await bench.work();
    await bench.pool.query('update events set attempt = 15');
    await bench.send('reservation.updated', thin, { eventId: 'second' });
    await bench.work();
    await hydrateOnce(ports());
    assert.deepEqual(await waiting(), [{ event_id: 'second', attempt: 1 }]);

    answer = async () => {
      await bench.send('reservation.updated', thin, { eventId: 'third' });
      await bench.work();
      return { kind: 'absent' };
    };
    await bench.pool.query(`update events set due_at = now() where state = 'hydrate'`);
    await hydrateOnce(ports());
    assert.deepEqual(await waiting(), [{ event_id: 'third', attempt: 0 }]);
    answer = () => found();
    await hydrateOnce(ports());
    await bench.work();
    assert.equal(await bench.version(), 1);
  });

  for (const [what, fetched] of [
    ['does not know the reservation', { kind: 'absent' }],
    ['refuses us', { kind: 'failed', reason: 'pull.auth_failed' }],
  ] as const) {
    test(`a partner that ${what} leaves a dead letter`, async () => {
      answer = () => fetched;
      await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
      await bench.work();
      await hydrateOnce(ports());
      const { rows } = await bench.pool.query('select code, id from dead_letters');
      assert.deepEqual(rows, [{ code: 'push.not_hydrated', id: 'R-1001' }]);
    });
  }

  test('a thin cancellation of a reservation that the partner has deleted cancels the stored one', async () => {
    const thin = { booking: { ref: 'R-1001' } };
    await bench.send('reservation.updated', thin);
    await bench.work();
    await hydrateOnce(ports());
    await bench.work();
    const before = await bench.reservation();
    assert.equal(before?.status, 'confirmed');
    answer = () => ({ kind: 'absent' });
    await bench.send('reservation.updated', thin, { eventId: 'update' });
    await bench.send('reservation.cancelled', thin, { eventId: 'cancellation' });
    await bench.send('reservation.cancelled', { booking: { ref: 'R-unknown' } }, { eventId: 'unknown' });
    await bench.work();
    await hydrateOnce(ports());
    await bench.work();
    assert.deepEqual(await bench.reservation(), { ...before, status: 'cancelled' });
    const { rows } = await bench.pool.query(
      `select e.event_id, e.state, d.code from events e left join dead_letters d on d.cause_id = e.seq::text
      where e.event_id !~ '^ev-' order by e.seq`,
    );
    assert.deepEqual(rows, [
      { event_id: 'update', state: 'dead', code: 'push.not_hydrated' },
      { event_id: 'cancellation', state: 'done', code: null },
      { event_id: 'unknown', state: 'dead', code: 'push.not_hydrated' },
    ]);
  });

  test('where absence cancels, any event about an absent reservation cancels the stored one', async () => {
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.work();
    await hydrateOnce(ports());
    await bench.work();
    answer = () => ({ kind: 'absent', isCancelled: true });
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } }, { eventId: 'update' });
    await bench.work();
    await hydrateOnce(ports());
    await bench.work();
    assert.equal((await bench.reservation())?.status, 'cancelled');
    const { rows } = await bench.pool.query(`select count(*)::int as n from dead_letters`);
    assert.deepEqual(rows, [{ n: 0 }]);
  });

  test('the partner’s Retry-After is respected', async () => {
    answer = () => ({ kind: 'later', reason: 'rate', afterMs: 77_000 });
    await bench.send('reservation.updated', { booking: { ref: 'R-1001' } });
    await bench.work();
    await hydrateOnce(ports());
    const { rows } = await bench.pool.query(`select round(extract(epoch from due_at - now()))::int as s from events`);
    assert.deepEqual(rows, [{ s: 77 }]);
  });
});
