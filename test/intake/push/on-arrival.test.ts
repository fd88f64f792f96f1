import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { Settled } from '../../../src/intake/push/event-path.ts';
import { type Applied, applierOnArrival } from '../../../src/intake/push/on-arrival.ts';
import type { Keyring } from '../../../src/kit/crypto.ts';
import { hashesOf, identitiesOf } from '../../../src/privacy/identity.ts';
import { suppression } from '../../../src/privacy/suppress.ts';
import { eventPathOf } from '../../../src/runtime/event-path.ts';
import { transaction } from '../../../src/store/db/pool.ts';
import { appendEvents } from '../../../src/store/events/append.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import { activeIntegration, type Bench, data, withBench } from './events-support.ts';
import { integration } from './support.ts';

const events = async ({ pool }: Bench) =>
  (
    await pool.query<{
      event_id: string;
      state: string;
      outcome: string | null;
      id: string | null;
      version: number | null;
    }>('select event_id, state, outcome, id, version from events order by seq')
  ).rows;

const written = async ({ pool }: Bench) =>
  (
    await pool.query<{ events: number; records: number; receipts: number; outbox: number }>(
      `select (select count(*) from events)::int as events, (select count(*) from records)::int as records,
              (select count(*) from receipts)::int as receipts, (select count(*) from outbox)::int as outbox`,
    )
  ).rows[0];

test('an arriving event is stored as done, with its record, in one transaction', () =>
  withBench(async (bench) => {
    const applied = await bench.arrive(
      bench.newEvent('reservation.created', data(), { eventId: 'a' }),
      bench.newEvent('reservation.updated', data({ channel: 'phone' }), { eventId: 'b', occurredAt: Date.now() + 1 }),
    );
    assert.equal(typeof applied, 'object');
    assert.deepEqual(await events(bench), [
      { event_id: 'a', state: 'done', outcome: 'created', id: 'R-1001', version: 1 },
      { event_id: 'b', state: 'done', outcome: 'updated', id: 'R-1001', version: 2 },
    ]);
    assert.equal((await bench.reservation())?.channel, 'phone');
    const { rows } = await bench.pool.query(
      'select xmin::text from events union select xmin::text from receipts union select xmin::text from changes',
    );
    assert.equal(rows.length, 1, 'one transaction wrote them');
    const { rows: kept } = await bench.pool.query<{ same: boolean }>(
      'select body_hash = sha256(body) as same from events',
    );
    assert.deepEqual(kept, [{ same: true }, { same: true }]);
  }));

test('events that are still pending are processed before those that arrive', () =>
  withBench(async (bench) => {
    const at = Date.now() - 1_000;
    await bench.send('reservation.created', data({ channel: 'first' }), { eventId: 'a', occurredAt: at });
    await bench.arrive(
      bench.newEvent('reservation.updated', data({ channel: 'second' }), { eventId: 'b', occurredAt: at }),
    );
    assert.deepEqual(
      (await events(bench)).map(({ event_id, state, version }) => [event_id, state, version]),
      [
        ['a', 'done', 1],
        ['b', 'done', 2],
      ],
    );
    assert.equal((await bench.reservation())?.channel, 'second', 'at equal times the later sequence wins');
  }));

test('a duplicate, a retired endpoint, an ended secret: nothing is written', () =>
  withBench(async (bench) => {
    const event = bench.newEvent('reservation.created', data(), { eventId: 'a' });
    const other = bench.newEvent('reservation.created', data({ reservation_id: 'R-2' }), { eventId: 'b' });
    assert.equal(await bench.arrive(event, event), 'refused', 'twice in one batch');
    await appendEvents(bench.pool, [event]);
    const before = await written(bench);
    assert.equal(await bench.arrive(other, event), 'refused');
    await bench.pool.query('update endpoint_secrets set expires_at = now()');
    assert.equal(await bench.arrive(other), 'refused');
    await bench.pool.query('update endpoint_secrets set expires_at = null');
    await bench.pool.query('update endpoints set retired_at = now()');
    assert.equal(await bench.arrive(other), 'refused');
    assert.deepEqual(await written(bench), before);
  }));

test('a backlog is left to the worker, and nothing is written', () =>
  withBench(async (bench) => {
    for (let n = 0; n < 51; n++) await bench.send('reservation.created', data({ reservation_id: `R-${n}` }));
    const before = await written(bench);
    assert.equal(await bench.arrive(bench.newEvent('reservation.created', data())), 'backlog');
    assert.deepEqual(await written(bench), before);
    await bench.work();
    assert.equal(typeof (await bench.arrive(bench.newEvent('reservation.created', data()))), 'object');
  }));

test('an event that another node stores meanwhile rolls everything back', () =>
  withBench(async (bench) => {
    const event = bench.newEvent('reservation.created', data(), { eventId: 'a' });
    const { promise: stored, resolve } = Promise.withResolvers<void>();
    // A trigger makes sure that the other node inserts after this one found the event new.
    await bench.pool.query(
      `create function pause() returns trigger language plpgsql as $$
         begin perform pg_advisory_xact_lock(7); return new; end $$;
       create trigger pause before insert on receipts for each row execute function pause()`,
    );
    const holder = await bench.pool.connect();
    await holder.query('select pg_advisory_lock(7)');
    const arriving = bench.arrive(event).finally(resolve);
    arriving.catch(() => {});
    for (;;) {
      const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      if (rows.length > 0) break;
    }
    await appendEvents(bench.pool, [event]);
    await holder.query('select pg_advisory_unlock(7)');
    holder.release();
    await assert.rejects(arriving, { code: '23505' });
    await stored;
    assert.deepEqual(await written(bench), { events: 1, records: 0, receipts: 0, outbox: 0 });
    await bench.work();
    assert.equal(await bench.version(), 1, 'the stored event is processed once');
  }));

test('a reservation that a poll inserts meanwhile is not lost, and neither is the event', () =>
  withBench(async (bench) => {
    // The event looks for its reservation, finds none, and waits here before it inserts it.
    await bench.pool.query(
      `create function pause() returns trigger language plpgsql as $$
         begin if new.id = 'R-1001' and new.seq > 0 then perform pg_advisory_xact_lock(7); end if; return new; end $$;
       create trigger pause before insert on records for each row execute function pause()`,
    );
    const holder = await bench.pool.connect();
    await holder.query('begin; select pg_advisory_xact_lock(7)');
    const arriving = bench.arrive(bench.newEvent('reservation.updated', data({ channel: 'phone' })));
    arriving.catch(() => {});
    for (;;) {
      const { rows } = await holder.query(`select from pg_locks where locktype = 'advisory' and not granted`);
      if (rows.length > 0) break;
    }
    await holder.query(
      `insert into records (integration, type, id, version, effective_at, seq, hash, data)
       values ($1, 'reservation', 'R-1001', 0, 'epoch', 0, '', '{}')`,
      [integration],
    );
    await holder.query('commit');
    holder.release();
    assert.equal(typeof (await arriving), 'object');
    assert.equal((await bench.reservation())?.channel, 'phone');
    assert.equal(await bench.version(), 1);
  }));

test('events of one batch build on each other, also around a guest event', () =>
  withBench(async (bench) => {
    const at = Date.now() - 10_000;
    await bench.arrive(bench.newEvent('reservation.created', data(), { occurredAt: at }));
    const [guest] = (data() as { guests: { [field: string]: Json }[] }).guests;
    await bench.arrive(
      bench.newEvent('reservation.updated', data({ channel: 'phone' }), { eventId: 'b', occurredAt: at + 1 }),
      bench.newEvent('guest.updated', { ...guest, last_name: 'Changed' }, { eventId: 'c', occurredAt: at + 2 }),
      bench.newEvent('reservation.updated', { id: 'R-1001', channel: 'desk' }, { eventId: 'd', occurredAt: at + 3 }),
    );
    const stored = await bench.reservation();
    assert.equal(stored?.channel, 'desk');
    assert.equal(stored?.guests[0]?.last_name, 'Changed');
    assert.equal(await bench.version(), 4);
  }));

test('a locked record does not hold the answer for long', () =>
  withBench(async (bench) => {
    await bench.arrive(bench.newEvent('reservation.created', data(), { eventId: 'a' }));
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    const { promise: locked, resolve: lock } = Promise.withResolvers<void>();
    const holding = transaction(bench.pool, async (tx) => {
      await tx.query('select from records for update');
      lock();
      await ended;
    });
    await locked;
    const next = bench.newEvent('reservation.updated', data({ channel: 'phone' }), { eventId: 'b' });
    await assert.rejects(bench.arrive(next), { code: '55P03' }).finally(end);
    await holding;
    assert.equal((await events(bench)).length, 1);
    assert.equal(typeof (await bench.arrive(next)), 'object');
  }));

test('a lane that a worker holds does not hold the answer for long', () =>
  withBench(async (bench) => {
    await bench.send('reservation.created', data());
    const next = bench.newEvent('reservation.updated', data({ channel: 'phone' }), { eventId: 'b' });
    await bench.ports.lane('lisbon-grand', 200, async () => {
      // The worker's statements have a deadline of a minute: a wait that long would be this error too, with another code.
      await assert.rejects(bench.arrive(next), { code: '55P03' });
      return [];
    });
    assert.equal(typeof (await bench.arrive(next)), 'object');
  }));

test('a thin event waits for its reservation, a broken one becomes a dead letter', () =>
  withBench(
    async (bench) => {
      await bench.arrive(
        bench.newEvent('reservation.updated', { reservation: { id: 'R-7' } }, { eventId: 'thin' }),
        bench.newEvent('reservation.updated', { ...(data() as object), check_in: 'soon' }, { eventId: 'broken' }),
      );
      assert.deepEqual(
        (await events(bench)).map(({ event_id, state, id }) => [event_id, state, id]),
        [
          ['thin', 'hydrate', 'R-7'],
          ['broken', 'dead', 'R-1001'],
        ],
      );
      const { rows } = await bench.pool.query('select from events where state = $1 and due_at <= now()', ['hydrate']);
      assert.equal(rows.length, 1);
      const { rows: dead } = await bench.pool.query('select from dead_letters');
      assert.equal(dead.length, 1);
    },
    activeIntegration(
      { thin: { id: 'reservation.id' } },
      { pull: { base_url: 'https://pms.example', auth: { type: 'bearer', token: 'none' } } },
      {
        pull: {
          request: { method: 'GET', path: '/r', query: { from: '{window.from}', to: '{window.to}' } },
          single: { path: '/r/{id}' },
        },
        map: { id: 'reservation_id', rooms: { from: 'stays' } },
      },
    ),
  ));

test('the payload of an erased guest is not kept, and the guest is not stored again', async () => {
  const keyring: Keyring = [{ id: 'test', bytes: randomBytes(32) }];
  const active = activeIntegration();
  const erasure = suppression(keyring);
  await withBench(
    async (bench) => {
      const identities = identitiesOf({ email: 'marta.quill@mail.example', last_name: 'Quill' }, integration);
      await bench.pool.query(`insert into erasures (erasure_id, requested_by, subject) values ('e1', 'test', 'x')`);
      await bench.pool.query(
        `insert into erased_guests (hash, erasure_id) select decode(h, 'hex'), 'e1' from unnest($1::text[]) h`,
        [hashesOf(keyring, identities)],
      );
      const other = {
        guests: [{ first_name: 'Bo', last_name: 'Lund', email: 'bo@lund.example' }],
        reservation_id: 'R-2',
      };
      await bench.arrive(
        bench.newEvent('reservation.created', data(), { eventId: 'erased' }),
        bench.newEvent('reservation.created', data(other), { eventId: 'other' }),
      );
      const { rows } = await bench.pool.query<{ event_id: string; kept: boolean; hashed: boolean }>(
        `select event_id, body is not null as kept, octet_length(body_hash) = 32 as hashed from events order by seq`,
      );
      assert.deepEqual(rows, [
        { event_id: 'erased', kept: false, hashed: true },
        { event_id: 'other', kept: true, hashed: true },
      ]);
      assert.deepEqual((await bench.reservation())?.guests, [{}]);
      assert.equal((await bench.reservation('R-2'))?.guests[0]?.last_name, 'Lund');
    },
    { ...active, path: active.path, target: { ...active.target, erasure } },
  );
});

test('if the node does not keep up, events are stored first for a second', async () => {
  let now = 1_000;
  let answer: Applied | Error = [[]];
  let tookMs = 1;
  const errors: unknown[] = [];
  let calls = 0;
  const apply = applierOnArrival({
    clock: { uptimeMs: () => now },
    path: (name) => (name === integration ? eventPathOf(activeIntegration()) : undefined),
    apply: async () => {
      calls++;
      now += tookMs;
      if (answer instanceof Error) throw answer;
      return answer;
    },
    worked: (_integration: string, _settled: readonly Settled[]) => {},
    onError: (error) => errors.push(error),
  });
  await withBench(async (bench) => {
    const event = bench.newEvent('reservation.created', data());
    const isApplied = async (waitedMs = 0, batch = [event]) => (await apply(batch, waitedMs)) !== undefined;
    const pauseOver = () => {
      now += 1_000;
    };
    assert.ok(await isApplied());
    answer = new Error('store');
    assert.ok(!(await isApplied()));
    assert.equal(errors.length, 1);
    answer = [[]];
    assert.ok(!(await isApplied()), 'after a failure');
    pauseOver();
    assert.ok(await isApplied());
    assert.ok(!(await isApplied(251)), 'a sender waited too long for its turn');
    assert.ok(!(await isApplied()));
    pauseOver();
    tookMs = 251;
    assert.ok(await isApplied());
    assert.ok(!(await isApplied()), 'after slow work');
    pauseOver();
    tookMs = 1;
    answer = 'backlog';
    assert.ok(!(await isApplied()));
    answer = [[]];
    assert.ok(!(await isApplied()), 'after a backlog');
    pauseOver();
    answer = 'refused';
    assert.ok(!(await isApplied()));
    answer = [[]];
    assert.ok(await isApplied(), 'a duplicate says nothing about the load');
    const before = calls;
    assert.ok(!(await isApplied(0, new Array(129).fill(event))), 'too many at once');
    assert.ok(!(await isApplied(0, [{ ...event, integration: 'unknown' as typeof event.integration }])));
    assert.equal(calls, before);
  });
});

test('an event that the mapping fails on is stored first, so that its sender gets an answer', async () => {
  const errors: unknown[] = [];
  const failing = () => {
    throw new TypeError('a mapping');
  };
  const apply = applierOnArrival({
    clock: { uptimeMs: () => 0 },
    path: () => ({ ...eventPathOf(activeIntegration()), record: failing }),
    apply: async () => [[]],
    worked: () => {},
    onError: (error) => errors.push(error),
  });
  await withBench(async (bench) => {
    const event = { ...bench.newEvent('reservation.created', data()), data: data() as JsonObject };
    assert.equal(await apply([event], 0), undefined);
    assert.equal(errors.length, 1);
  });
});
