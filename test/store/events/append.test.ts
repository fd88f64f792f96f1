import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { NewEvent } from '../../../src/core/intake/push/ports.ts';
import { openRejectionLog } from '../../../src/core/intake/push/rejection-log.ts';
import { type Pool, transaction } from '../../../src/core/store/db/pool.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { issueEndpoint } from '../../../src/core/store/events/endpoints.ts';
import {
  countRejections,
  listRejections,
  pruneRejections,
  writeRejections,
} from '../../../src/core/store/events/rejections.ts';
import { eventPruner, pruneEvents } from '../../../src/core/store/events/retention.ts';
import { systemClock } from '../../../src/kit/clock.ts';
import type { EndpointId, IntegrationName } from '../../../src/terms.ts';
import {
  eventBody,
  integration,
  migratedPool,
  minter,
  openSealer,
  post,
  startIntake,
} from '../../intake/push/support.ts';

let pool: Pool;
let end: () => Promise<void>;
let endpointId: EndpointId;
describe('stored events', () => {
  before(async () => {
    ({ pool, end } = await migratedPool());
    ({ endpointId } = await transaction(pool, (tx) => issueEndpoint(tx, integration, openSealer, minter)));
  });
  after(() => end());
  beforeEach(() => pool.query('truncate events, dead_letters, rejections'));

  const event = (eventId: string, body = `body of ${eventId}`): NewEvent => {
    const rawBody = Buffer.from(body);
    return {
      integration: integration as IntegrationName,
      endpointId,
      secretNo: 1,
      eventId,
      event: 'guest.updated',
      occurredAt: Date.UTC(2026, 0),

      rawBody,
    };
  };

  test('a batch keeps its order, its bytes and its times', async () => {
    const events = [event('b', 'é'), event('a', ''), event('c', '\0\xff')];
    assert.deepEqual(await appendEvents(pool, events), [{ kind: 'stored' }, { kind: 'stored' }, { kind: 'stored' }]);
    const { rows } = await pool.query<{ event_id: string; body: Buffer; occurred_at: Date }>(
      'select event_id, body, body_hash, occurred_at from events order by seq',
    );
    assert.deepEqual(
      rows.map(({ event_id, body }) => [event_id, body.toString()]),
      [
        ['b', 'é'],
        ['a', ''],
        ['c', '\0\xff'],
      ],
    );
    assert.equal(rows[0]?.occurred_at.toISOString(), '2026-01-01T00:00:00.000Z');
  });

  test('duplicates inside a batch and before it, with equal and different bodies', async () => {
    await appendEvents(pool, [event('old', 'x')]);
    const results = await appendEvents(pool, [
      event('old', 'x'),
      event('old', 'y'),
      event('new', '1'),
      event('new', '1'),
      event('new', '2'),
    ]);
    assert.deepEqual(results, [
      { kind: 'duplicate', sameBody: true },
      { kind: 'duplicate', sameBody: false },
      { kind: 'stored' },
      { kind: 'duplicate', sameBody: true },
      { kind: 'duplicate', sameBody: false },
    ]);
  });

  test('the same events over many connections at once, in any order, are stored once each', async () => {
    const ids = Array.from({ length: 20 }, (_, i) => `many-${i}`);
    const batches = Array.from({ length: 12 }, (_, n) => {
      const shuffled = [...ids].sort(
        (a, b) => ((Number(a.slice(5)) * 7 + n * 13) % 20) - ((Number(b.slice(5)) * 7 + n * 13) % 20),
      );
      return shuffled.map((id) => event(id));
    });
    const results = (await Promise.all(batches.map((batch) => appendEvents(pool, batch)))).flat();
    assert.equal(results.filter(({ kind }) => kind === 'stored').length, 20);
    assert.equal(results.filter(({ kind }) => kind === 'duplicate').length, 220);
    const { rows } = await pool.query<{ deadlocks: number }>(
      'select deadlocks from pg_stat_database where datname = current_database()',
    );
    assert.deepEqual(rows, [{ deadlocks: 0 }]);
  });

  test('a connection that breaks during the insert is replaced once', async () => {
    let taken = 0;
    const cut = async () => {
      const client = await pool.connect();
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid');
      await pool.query('select pg_terminate_backend($1)', [rows[0]?.pid]);
      return client;
    };
    const flaky = { options: pool.options, connect: () => (taken++ === 0 ? cut() : pool.connect()) } as unknown as Pool;
    assert.deepEqual(await appendEvents(flaky, [event('flaky')]), [{ kind: 'stored' }]);
    assert.equal(taken, 2);
    const gone = {
      options: pool.options,
      connect: () => Promise.reject(Object.assign(new Error('no'), { code: 'ECONNRESET' })),
    } as unknown as Pool;
    await assert.rejects(appendEvents(gone, [event('gone')]), /no/);
  });

  test('an endpoint of another integration, an unknown one, an ended secret', async () => {
    const [unknown, wrongSecret] = await appendEvents(pool, [
      { ...event('1'), endpointId: 'whk_none' as EndpointId },
      { ...event('2'), secretNo: 9 },
    ]);
    assert.deepEqual(unknown, { kind: 'refused', reason: 'retired' });
    assert.deepEqual(wrongSecret, { kind: 'refused', reason: 'secret_ended' });
  });

  const age = (eventId: string, days: number, state: string) =>
    pool.query(`update events set received_at = now() - make_interval(days => $2), state = $3 where event_id = $1`, [
      eventId,
      days,
      state,
    ]);
  const day = 86_400_000;

  test('events are deleted after retention, unless they are pending or their dead letter is open', async () => {
    const states = {
      'old-done': 'done',
      'old-pending': 'pending',
      'old-dead': 'dead',
      'old-open': 'dead',
      'old-hydrate': 'hydrate',
      'young-done': 'done',
    };
    await appendEvents(
      pool,
      Object.keys(states).map((id) => event(id)),
    );
    for (const [id, state] of Object.entries(states)) await age(id, id.startsWith('old') ? 31 : 29, state);
    await pool.query(
      `insert into dead_letters (integration, kind, fingerprint, code, message)
     select integration, 'event', seq::text, 'record.invalid', '' from events where event_id = 'old-open'`,
    );
    assert.deepEqual(await pruneEvents(pool, { rawMs: 30 * day, eventIdsMs: 30 * day }), { bodies: 0, events: 2 });
    const { rows } = await pool.query<{ event_id: string }>('select event_id from events order by event_id');
    assert.deepEqual(
      rows.map((row) => row.event_id),
      ['old-hydrate', 'old-open', 'old-pending', 'young-done'],
    );
  });

  test('bodies may be deleted sooner than ids', async () => {
    await appendEvents(pool, [event('one'), event('two')]);
    await age('one', 8, 'done');
    await age('two', 6, 'done');
    assert.deepEqual(await pruneEvents(pool, { rawMs: 7 * day, eventIdsMs: 30 * day }), { bodies: 1, events: 0 });
    assert.deepEqual((await appendEvents(pool, [event('one')]))[0], { kind: 'duplicate', sameBody: true });
  });

  test('a body that a dead letter kept is deleted by the next full pass', async () => {
    let uptimeMs = 0;
    const prune = eventPruner(pool, { uptimeMs: () => uptimeMs });
    const kept = { rawMs: 7 * day, eventIdsMs: 30 * day };
    await appendEvents(pool, [event('first'), event('kept'), event('fresh'), event('between')]);
    await age('first', 8, 'done');
    assert.equal((await prune(kept)).bodies, 1);
    await age('kept', 9, 'dead');
    await age('fresh', 7, 'done');
    uptimeMs += 600_000;
    assert.equal((await prune(kept)).bodies, 1, 'the fresh one');
    uptimeMs += day;
    assert.equal((await prune(kept)).bodies, 1, 'the kept one');
    await age('between', 5, 'done');
    assert.equal((await prune({ ...kept, rawMs: 2 * day })).bodies, 1, 'after a change of the setting');
  });

  test('pruning goes in batches and never makes intake wait', async () => {
    await pool.query(
      `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash, state)
     select $1, $2, 'p-' || i, 'guest.updated', now(), now() - interval '40 days', '', '', 'done' from generate_series(1, 2500) i`,
      [integration, endpointId],
    );
    let pauses = 0;
    const pruned = await pruneEvents(pool, { rawMs: 30 * day, eventIdsMs: 30 * day }, async () => {
      pauses += 1;
      assert.deepEqual(await appendEvents(pool, [event(`during-${pauses}`)]), [{ kind: 'stored' }]);
    });
    assert.equal(pruned.events, 2500);
    assert.equal(pauses, 2);
  });

  test('pruning reads each event once, not once for every batch', async () => {
    await pool.query(
      `insert into events (integration, endpoint_id, event_id, event, occurred_at, received_at, body, body_hash, state)
     select $1, $2, 'r-' || i, 'guest.updated', now(), now() - interval '9 days' + i * interval '1 second', '', '', 'done'
       from generate_series(1, 6000) i`,
      [integration, endpointId],
    );
    const read = async () => {
      await pool.query('select pg_stat_force_next_flush()');
      const { rows } = await pool.query<{ read: number }>(
        `select idx_tup_read as read from pg_stat_user_indexes where indexrelname = 'events_by_time'`,
      );
      return rows[0]?.read ?? 0;
    };
    await pool.query('analyze events');
    const before = await read();
    assert.equal((await pruneEvents(pool, { rawMs: 7 * day, eventIdsMs: 30 * day })).bodies, 6000);
    const entries = (await read()) - before;
    assert.ok(entries < 8_000, `${entries} entries were read`);
  });

  test('rejections are counted; the last ones are kept with reason and header names, without payload', async () => {
    const service = await startIntake({ pool });
    try {
      const target = { ...service, endpointId };
      await post({ ...target, secret: 'wrong' }, eventBody(), { 'x-secret-thing': 'Quill' });
      await post({ ...target, secret: 'wrong' }, eventBody(), { 'x-webhook-timestamp': '1000' });
      await post(target, 'x', { 'content-type': 'text/plain' });
      await post({ ...target, endpointId: 'whk_unknown000000' }, eventBody());
    } finally {
      await service.stop();
    }
    const kept = await listRejections(pool, integration);
    assert.deepEqual(
      kept.map(({ status, code, reason }) => [status, code, reason.replace(/\d+ s/, 'N s')]),
      [
        [415, 'push.wrong_media_type', 'content_type'],
        [401, 'push.unauthorized', 'timestamp_old N s'],
        [401, 'push.unauthorized', 'signature_wrong'],
      ],
    );
    assert.ok(kept.at(-1)?.header_names.includes('x-secret-thing'));
    assert.ok(!JSON.stringify(kept).includes('Quill'));
    assert.match(kept[0]?.request_id ?? '', /^req/);
    assert.deepEqual(await countRejections(pool, integration, Date.now() - 3_600_000), [
      { code: 'push.unauthorized', reason: 'signature_wrong', count: 1 },
      { code: 'push.unauthorized', reason: 'timestamp_old', count: 1 },
      { code: 'push.wrong_media_type', reason: 'content_type', count: 1 },
    ]);
    assert.equal((await listRejections(pool, '')).length, 1, 'at addresses that no endpoint has');
  });

  test('of a flood some are kept, everything is counted, and all is pruned after a month', async () => {
    const log = openRejectionLog({ clock: systemClock, write: (batch) => writeRejections(pool, batch) });
    const refusal = {
      at: Date.now(),
      endpointId,
      integration: integration as IntegrationName,
      status: 401,
      code: 'push.unauthorized',
      reason: 'signature_wrong',
      requestId: 'req_1',
      headerNames: ['host'],
      bodyBytes: 3,
      address: '192.0.2.1',
    };
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 5_000; i++) log.add(refusal);
      await log.flush();
    }
    assert.deepEqual(await countRejections(pool, integration, Date.now() - 3_600_000), [
      { code: 'push.unauthorized', reason: 'signature_wrong', count: 10_000 },
    ]);
    assert.equal((await listRejections(pool, integration)).length, 40);
    for (let round = 0; round < 2; round++) {
      for (let i = 0; i < 20; i++) log.add(refusal);
      await log.flush();
    }
    assert.equal((await listRejections(pool, integration)).length, 50);
    await pruneRejections(pool);
    assert.equal((await listRejections(pool, integration)).length, 50);
    await pool.query(`update rejections set hour = hour - interval '31 days'`);
    await pruneRejections(pool);
    assert.deepEqual(await listRejections(pool, integration), []);
  });
});
