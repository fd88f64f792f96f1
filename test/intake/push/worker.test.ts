import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { drainEvents, workBrand } from '../../../src/core/intake/push/worker.ts';
import { rawNumber } from '../../../src/kit/json.ts';
import type { Bench } from './events-support.ts';
import { openBench, reservationData } from './events-support.ts';

let bench: Bench;
describe('the worker', () => {
  before(async () => {
    bench = await openBench();
  });
  after(() => bench.end());
  beforeEach(async () => {
    await bench.pool.query('truncate events, records, history, sightings, outbox, dead_letters');
  });

  const hour = 3_600_000;

  test('created, updated and cancelled become versions of one reservation', async () => {
    const at = Date.now() - hour;
    await bench.send('reservation.created', reservationData(), { occurredAt: at });
    await bench.send('reservation.updated', reservationData({ check_out: '2036-12-06' }), { occurredAt: at + 1000 });
    await bench.send('reservation.cancelled', reservationData({ status: 'cancelled' }), { occurredAt: at + 2000 });
    await bench.work();
    const { rows } = await bench.pool.query(
      'select outcome as event, version from history where diff is not null order by version',
    );
    assert.deepEqual(rows, [
      { event: 'created', version: 1 },
      { event: 'updated', version: 2 },
      { event: 'cancelled', version: 3 },
    ]);
    const record = await bench.reservation();
    assert.equal(record?.status, 'cancelled');
    assert.equal(record?.rooms[0]?.board, 'HB');
    assert.deepEqual(bench.errors, []);
  });

  test('a no-show arrives as a cancelled event with its final status', async () => {
    await bench.send('reservation.cancelled', reservationData({ status: 'no-show' }));
    await bench.work();
    assert.equal((await bench.reservation())?.status, 'no_show');
    const { rows } = await bench.pool.query('select outcome as event from history where diff is not null');
    assert.deepEqual(rows, [{ event: 'cancelled' }]);
  });

  for (const [what, status] of [
    ['no status', undefined],
    ['the status from before', 'confirmed'],
    ['a spelling that nobody knows', 'CXL-17'],
  ] as const) {
    test(`a cancelled event with ${what} is a cancellation, and the timeline says why`, async () => {
      await bench.send('reservation.cancelled', reservationData({ status }) as never);
      await bench.work();
      assert.equal((await bench.reservation())?.status, 'cancelled');
      const { rows } = await bench.pool.query<{ notes: string[][] }>('select notes from history');
      assert.ok(rows[0]?.notes.some(([code]) => code === 'status_from_event'));
    });
  }

  test('an older event is superseded, whatever its order of arrival', async () => {
    const at = Date.now() - hour;
    await bench.send('reservation.updated', reservationData({ check_out: '2036-12-09' }), { occurredAt: at + 5000 });
    await bench.work();
    await bench.send('reservation.updated', reservationData({ check_out: '2036-12-08' }), { occurredAt: at });
    await bench.work();
    assert.equal((await bench.reservation())?.check_out, '2036-12-09');
    const { rows } = await bench.pool.query('select outcome from events order by seq');
    assert.deepEqual(rows, [{ outcome: 'created' }, { outcome: 'superseded' }]);
  });

  test('an event from 2099 has its receipt as effective time and freezes nothing', async () => {
    await bench.send('reservation.created', reservationData(), {
      occurredAt: Date.UTC(2099, 0),
      receivedAt: Date.now() - 1000,
    });
    await bench.work();
    await bench.send('reservation.updated', reservationData({ check_out: '2036-12-10' }));
    await bench.work();
    assert.equal((await bench.reservation())?.check_out, '2036-12-10');
  });

  test('events of the same instant are ordered by sequence, in one batch or in several', async () => {
    const at = Date.now() - hour;
    for (const batches of [1, 3]) {
      await bench.pool.query('truncate events, records, history, outbox');
      for (const [i, day] of ['07', '08', '09'].entries()) {
        await bench.send('reservation.updated', reservationData({ check_out: `2036-12-${day}` }), { occurredAt: at });
        if (batches === 3 || i === 2) await bench.work();
      }
      assert.equal((await bench.reservation())?.check_out, '2036-12-09');
    }
  });

  test('an event that cannot become canonical is a dead letter; the others are processed', async () => {
    await bench.send('reservation.created', reservationData({ reservation_id: 'R-1' }));
    await bench.send('reservation.created', reservationData({ reservation_id: 'R-2', check_out: '2026-11-31' }));
    await bench.send('reservation.created', reservationData({ reservation_id: undefined }) as never);
    await bench.send('reservation.created', reservationData({ reservation_id: 'R-4' }));
    await bench.work();
    const { rows } = await bench.pool.query('select kind, type, id, code from dead_letters order by dead_letter_id');
    assert.deepEqual(rows, [
      { kind: 'event', type: 'reservation', id: 'R-2', code: 'record.invalid' },
      { kind: 'event', type: 'reservation', id: null, code: 'push.no_reservation_id' },
    ]);
    const states = await bench.pool.query('select state, id from events order by seq');
    assert.deepEqual(states.rows, [
      { state: 'done', id: 'R-1' },
      { state: 'dead', id: 'R-2' },
      { state: 'dead', id: null },
      { state: 'done', id: 'R-4' },
    ]);
  });

  test('an event that breaks the worker is set aside; the others are processed', async () => {
    const apply = bench.ports.batch;
    const ports = {
      ...bench.ports,
      batch: ((batching, work) =>
        apply(batching, (brand, batch) =>
          work(brand, {
            ...batch,
            take: (statements) => {
              if (statements.some(({ id }) => id === 'R-2')) throw new TypeError('a bug');
              return batch.take(statements);
            },
          }),
        )) as typeof apply,
    };
    const loyalty = 12345678901234567890n;
    for (const id of ['R-1', 'R-2', 'R-3'])
      await bench.send('reservation.created', {
        ...reservationData({ reservation_id: id }),
        loyalty: rawNumber(String(loyalty)),
      });
    await drainEvents(ports);
    assert.equal(await bench.version('R-1'), 1);
    assert.equal(await bench.version('R-3'), 1);
    const waiting = await bench.pool.query(
      `select state, attempt, due_at > now() as later from events where state <> 'done'`,
    );
    assert.deepEqual(waiting.rows, [{ state: 'waiting', attempt: 1, later: true }]);
    for (let attempt = 2; attempt <= 5; attempt++) {
      await bench.pool.query(`update events set due_at = now() where state = 'waiting'`);
      await drainEvents(ports);
    }
    const { rows } = await bench.pool.query('select kind, code, message, raw from dead_letters');
    assert.equal(rows.length, 1);
    assert.equal(rows[0].raw.loyalty, String(loyalty), 'every digit is kept');
    assert.equal(rows[0].code, 'push.event_failed');
    assert.ok(!rows[0].message.includes('a bug'), 'the message of the error is not repeated: it may quote the payload');
    bench.errors.length = 0;
  });

  test('an event is not at fault for a lock, a slow statement or a full disk: it uses no try', async () => {
    await bench.send('reservation.created', reservationData());
    // Statement timeout (behind an erasure or a migration), lock timeout, disk full, I/O error.
    for (const code of ['57014', '55P03', '53100', '58030', '57014', '57014']) {
      await bench.ports.setAside('lisbon-grand', Object.assign(new Error('not the event'), { code }));
      const { rows } = await bench.pool.query('select state, attempt, due_at > now() as later from events');
      assert.deepEqual(rows, [{ state: 'waiting', attempt: 0, later: true }]);
      await bench.pool.query(`update events set state = 'pending', due_at = null`);
    }
    await bench.work();
    assert.equal(await bench.version(), 1);
  });

  test('an event that another node is processing is not set aside', async () => {
    await bench.send('reservation.created', reservationData());
    await bench.ports.batch({ limit: 200 }, async (brand, batch) => {
      await bench.ports.setAside('lisbon-grand', new Error('it failed on a node that had it before'));
      return workBrand(batch, brand);
    });
    const { rows } = await bench.pool.query('select state, attempt from events');
    assert.deepEqual(rows, [{ state: 'done', attempt: 0 }]);
  });

  test('a node that dies during a batch leaves it unchanged', async () => {
    await bench.send('reservation.created', reservationData());
    await assert.rejects(
      bench.ports.batch({ limit: 200 }, async (brand, batch) => {
        await workBrand(batch, brand);
        throw new Error('killed');
      }),
      /killed/,
    );
    assert.equal(await bench.version(), 0);
    await bench.work();
    assert.equal(await bench.version(), 1);
  });

  test('two workers never work one batch at the same time and process every event once', async () => {
    for (let i = 0; i < 30; i++) {
      await bench.send('reservation.created', reservationData({ reservation_id: `R-${i}` }));
    }
    let inside = 0;
    let most = 0;
    const counted = {
      ...bench.ports,
      batch: ((batching, work) =>
        bench.ports.batch({ ...batching, limit: 5 }, async (integration, batch) => {
          most = Math.max(most, ++inside);
          try {
            return await work(integration, batch);
          } finally {
            inside--;
          }
        })) as typeof bench.ports.batch,
    };
    await Promise.all([drainEvents(counted), drainEvents(counted), drainEvents(counted)]);
    assert.equal(most, 1);
    const { rows } = await bench.pool.query(
      'select count(*)::int as changes, count(distinct id)::int as ids from history where diff is not null',
    );
    assert.deepEqual(rows, [{ changes: 30, ids: 30 }]);
  });

  test('a brand with a backlog gets its next turn after the other brands', async () => {
    const turns: (string | undefined)[] = [];
    const results = [
      { more: true, busy: false, after: 'brand-8' },
      { more: false, busy: false, after: '' },
      { more: false, busy: false, after: '' },
    ];
    const batch: typeof bench.ports.batch = async ({ after }) => {
      turns.push(after);
      return results.shift() ?? assert.fail('it went on although nothing was left');
    };
    await drainEvents({ ...bench.ports, batch });
    assert.deepEqual(turns, ['', 'brand-8', '']);
  });

  test('large events are processed in batches that fit into memory', async () => {
    const note = 'x'.repeat(6 * 1024 * 1024);
    for (const id of ['R-1', 'R-2', 'R-3', 'R-4'])
      await bench.send('reservation.created', reservationData({ reservation_id: id, note }));
    const sizes: number[] = [];
    await drainEvents({ ...bench.ports, worked: (_integration, settled) => sizes.push(settled.length) });
    assert.deepEqual(sizes, [2, 2]);
  });
});
