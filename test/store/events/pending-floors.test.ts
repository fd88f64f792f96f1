import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import { transaction } from '../../../src/store/db/pool.ts';
import { requeueEvent } from '../../../src/store/events/set-aside.ts';
import type { Bench } from '../../intake/push/events-support.ts';
import { activeIntegration, openBench, reservationData } from '../../intake/push/events-support.ts';
import { integration } from '../../intake/push/support.ts';

let bench: Bench;
let uptimeMs = 0;
describe('bounds of pending events', () => {
  before(async () => {
    bench = await openBench(activeIntegration(), { uptimeMs: () => uptimeMs });
  });
  after(() => bench.end());
  beforeEach(() => bench.pool.query('truncate events, records, receipts, changes, outbox, dead_letters, guest_keys'));

  const marginMs = 10_000;
  const fullScanMs = 30_000;

  const send = (eventId: string) => bench.send('reservation.created', reservationData(), { eventId });

  /** Processes events until the bounds are above the first one. */
  async function processSome(): Promise<void> {
    for (const n of [1, 2, 3]) {
      await send(`some ${n} ${uptimeMs}`);
      await bench.work();
      uptimeMs += marginMs;
    }
    // The last full scan is over.
    await bench.work();
  }

  async function stateOf(eventId: string): Promise<string | undefined> {
    const { rows } = await bench.pool.query<{ state: string }>('select state from events where event_id = $1', [
      eventId,
    ]);
    return rows[0]?.state;
  }

  /** Stores events as another node does, in any state. */
  const store = (db: Pick<Bench['pool'], 'query'>, eventId: string, count: number) =>
    db.query(
      `insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash)
     select integration, nextval('intake_seq'), endpoint_id, $1 || ' ' || n, event, occurred_at, now(), body, body_hash
       from generate_series(1, $2) n, (select * from events where integration = $3 limit 1) first`,
      [eventId, count, integration],
    );

  test('looks and batches skip processed events whose entries a reader keeps by its snapshot', async () => {
    await processSome();
    const reader = await bench.pool.connect();
    try {
      await reader.query('begin isolation level repeatable read');
      await reader.query('select count(*) from events');
      await store(bench.pool, 'kept', 2_000);
      await bench.pool.query(`update events set state = 'done'`);
      await processSome();
      const before = await entriesRead();
      await send('bounded');
      await bench.work();
      assert.equal(await stateOf('bounded'), 'done');
      const read = (await entriesRead()) - before;
      assert.ok(read < 100, `${read} entries were read`);
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  });

  /** The bench works in sequence, so all its statements use one connection, which reports its statistics here. */
  async function entriesRead(): Promise<number> {
    await bench.pool.query('select pg_stat_force_next_flush()');
    const { rows } = await bench.pool.query<{ read: number }>(
      `select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'events_pending'`,
    );
    return rows[0]?.read ?? 0;
  }

  test('an event that is replayed or was set aside is found below the bounds', async () => {
    await send('replayed');
    await send('set aside');
    await bench.work();
    await processSome();
    await transaction(bench.pool, async (tx) => {
      const { rows } = await tx.query<{ seq: number }>(`select seq from events where event_id = 'replayed'`);
      assert.equal(await requeueEvent(tx, integration, rows[0]?.seq ?? 0), true);
    });
    await bench.pool.query(`update events set state = 'waiting', due_at = now() where event_id = 'set aside'`);
    await bench.work();
    assert.deepEqual([await stateOf('replayed'), await stateOf('set aside')], ['done', 'done']);
  });

  test('an event that is committed after later ones is processed at once, and after a long transaction by the next full scan', async () => {
    await processSome();
    for (const [eventId, openMs] of [
      ['short', marginMs - 1],
      ['long', 3 * marginMs],
    ] as const) {
      const slow = await bench.pool.connect();
      try {
        await slow.query('begin');
        await store(slow, eventId, 1);
        await send(`${eventId}, later`);
        await bench.work();
        for (let passed = 0; passed < openMs; passed += openMs / 3) {
          uptimeMs += openMs / 3;
          await send(`${eventId}, after ${passed}`);
          await bench.work();
        }
        await slow.query('commit');
      } finally {
        slow.release();
      }
      await bench.work();
      if (eventId === 'short') assert.equal(await stateOf('short 1'), 'done');
    }
    uptimeMs += fullScanMs;
    await bench.work();
    assert.equal(await stateOf('long 1'), 'done');
  });

  test('a lane whose batch failed is found again', async () => {
    await processSome();
    await send('failing');
    assert.deepEqual(await bench.ports.lanes(), [integration]);
    await assert.rejects(
      bench.ports.lane(integration, 10, () => Promise.reject(new Error('the batch failed'))),
      /the batch failed/,
    );
    for (let looks = 0; looks < 5; looks++) {
      uptimeMs += marginMs;
      assert.deepEqual(await bench.ports.lanes(), [integration]);
    }
    await bench.work();
    assert.deepEqual(await bench.ports.lanes(), []);
  });

  test('after the restore of an older backup, new events are found although their numbers are lower', async () => {
    await processSome();
    await processSome();
    await bench.pool.query(`select setval('intake_seq', 1)`);
    await bench.pool.query('truncate events');
    await send('restored');
    await bench.work();
    await bench.work();
    assert.equal(await stateOf('restored'), 'done');
  });
});
