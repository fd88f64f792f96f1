import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import { drainOnce } from '../../src/deliver/deliveries.ts';
import type { Destination, Outcome } from '../../src/deliver/destination.ts';
import { DirectLeases } from '../../src/deliver/direct-leases.ts';
import type { DeliverPorts, DestinationConfig } from '../../src/deliver/ports.ts';
import { systemClock } from '../../src/kit/clock.ts';
import type { Pool } from '../../src/store/db/pool.ts';
import { until } from '../support/process.ts';
import { config, lane, openStore, ports, reservation, scripted, startNode, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };

/** A node whose destination is open, so that changes can be leased directly. Claims are counted. */
async function node(
  pool: Pool,
  destination: Destination,
  change: Partial<DestinationConfig> = {},
  more: Partial<DeliverPorts> = {},
) {
  let queued = 0;
  const directLeases = new DirectLeases(() => {
    queued += 1;
    made.wake.signal('outbox');
  });
  const crm = lane(config('crm', { batch: 1, ...change }));
  const made = ports(pool, [crm], { crm: destination }, { directLeases, ...more });
  const claims = { made: 0, records: 0 };
  const store = {
    ...made.store,
    claim: async (...asked: Parameters<typeof made.store.claim>) => {
      const claimed = await made.store.claim(...asked);
      claims.made += 1;
      claims.records += claimed.length;
      return claimed;
    },
  };
  const running = startNode({ ...made, store });
  await takeIn(pool, [reservation('opens')], ['crm']);
  made.wake.signal('outbox');
  await settled(pool);
  claims.made = 0;
  claims.records = 0;
  return {
    claims,
    running,
    directLeases,
    queued: () => queued,
    take: (...records: ReturnType<typeof reservation>[]) => takeIn(pool, records, ['crm'], { directLeases }),
  };
}

async function settled(pool: Pool): Promise<void> {
  const isIdle = async () => (await pool.query('select from outbox where due_at is not null')).rowCount === 0;
  await until('nothing is due', isIdle);
}

const versions = (messages: readonly { data: { id: string }; version: number }[], id: string) =>
  messages.filter(({ data }) => data.id === id).map(({ version }) => version);

test('a change is sent to its destination without a claim, exactly as stored', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const { claims, queued, take } = await node(pool, crm.destination);
  const odd = reservation('a', { total_amount: '0.10', extra: { n: 1e21, no: 'a\u0000b🜨' } });
  await take(odd, reservation('b'));
  await settled(pool);
  await take(reservation('a', { total_amount: '7' }));
  await settled(pool);
  assert.deepEqual([claims.made, queued()], [0, 0]);
  assert.deepEqual(versions(crm.messages(), 'a'), [1, 2]);
  assert.deepEqual(versions(crm.messages(), 'b'), [1]);
  // A later claim sends the same bytes.
  const first = crm.messages().find(({ data, version }) => data.id === 'a' && version === 1);
  await pool.query(`update outbox set next_version = 1, last_version = 1, due_at = now() where id = 'a'`);
  const again = scripted(() => delivered);
  await drainOnce(ports(pool, [lane(config('crm'))], { crm: again.destination }));
  assert.deepEqual(again.messages()[0], first);
  assert.equal(first?.data.extra?.no, 'a\ufffdb🜨');
  const { rows } = await pool.query(`select outcome, attempt, version from attempts where id = 'b'`);
  assert.deepEqual(rows, [{ outcome: 'delivered', attempt: 1, version: 1 }]);
});

test('a failed transaction sends nothing and releases its capacity', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const { claims, directLeases, take } = await node(pool, crm.destination, { concurrency: 2 });
  // Fails after its rows were leased.
  const beforeCommit = () => {
    throw new Error('broken');
  };
  for (let i = 0; i < 20; i++) {
    await assert.rejects(takeIn(pool, [reservation('a')], ['crm'], { directLeases, beforeCommit }), /broken/);
  }
  await take(reservation('b'), reservation('c'));
  await settled(pool);
  assert.deepEqual(
    crm.messages().map(({ data }) => data.id),
    ['opens', 'b', 'c'],
  );
  assert.equal(claims.made, 0);
});

test('a commit whose answer was lost releases its leases at once, and loses none', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  // The lease lasts for an hour: a record that waits for its end does not arrive in this test.
  const { directLeases } = await node(pool, crm.destination, { timeoutMs: 3_600_000 });
  const cut = {
    during: (work) =>
      directLeases.during((leaseBatch) => work(leaseBatch).then(() => Promise.reject(new Error('cut')))),
  } as DirectLeases;
  await assert.rejects(takeIn(pool, [reservation('a'), reservation('b')], ['crm'], { directLeases: cut }), /cut/);
  await settled(pool);
  for (const id of ['a', 'b']) assert.deepEqual(versions(crm.messages(), id), [1]);
});

test('releasing the lease of a rolled back transaction does not release the lease that another node took instead', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  await takeIn(pool, [reservation('a')], ['crm']);
  const { store } = ports(pool, [], {});
  const lisbon = { integration: 'lisbon', destination: 'crm' };
  const client = await pool.connect();
  await client.query('begin');
  const { rows } = await client.query('select pg_current_xact_id()::text as id');
  const [claim] = await store.claim(lisbon, 1, 60_000);
  assert.ok(claim);
  assert.equal(await store.putBackIfCommitted(lisbon, [claim], rows[0].id), 'undecided');
  await client.query('rollback');
  client.release();
  assert.equal(await store.putBackIfCommitted(lisbon, [claim], rows[0].id), 'rolled_back');
  assert.equal(await store.extend(lisbon, [claim], 60_000), 1);
});

test('records without capacity are queued and claimed; versions of a record keep their order', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const gate = Promise.withResolvers<void>();
  const crm = scripted(async ({ message }) => {
    if (message.data.id !== 'opens') await gate.promise;
    return delivered;
  });
  const { claims, queued, take } = await node(pool, crm.destination, { concurrency: 2 });
  const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
  await take(...ids.map((id) => reservation(id)));
  assert.equal(queued(), 1);
  // The first versions are being sent or queued; the second must not overtake them.
  await take(...ids.map((id) => reservation(id, { total_amount: '2' })));
  gate.resolve();
  await settled(pool);
  for (const id of ids) assert.deepEqual(versions(crm.messages(), id), [1, 2], id);
  assert.ok(claims.records > 0 && claims.records < 24, `${claims.records} of 24 were claimed`);
});

test('the node that queued records claims them at once, without looking for due work', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  let isBlind = false;
  const real = ports(pool, [], {}).store;
  const store = {
    ...real,
    nextDue: (...asked: Parameters<typeof real.nextDue>) => (isBlind ? Promise.resolve([]) : real.nextDue(...asked)),
  };
  const { take, claims } = await node(pool, crm.destination, { concurrency: 1 }, { store });
  isBlind = true;
  const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
  await take(...ids.map((id) => reservation(id)));
  await settled(pool);
  for (const id of ids) assert.deepEqual(versions(crm.messages(), id), [1], id);
  assert.ok(claims.records > 0, 'some were queued');
});

test('rate-limited, paused and consent-filtered destinations get no direct leases', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const paid = await node(pool, crm.destination, { rate: { perSecond: 1_000, burst: 1_000 } });
  await paid.take(reservation('paid'));
  await settled(pool);
  assert.equal(paid.claims.records, 1);
  await paid.running.stop();
  const selection = { ...config('crm').selection, consent: 'marketing' as const };
  const chosen = await node(pool, crm.destination, { selection });
  await chosen.take(reservation('chosen'));
  await settled(pool);
  assert.equal(chosen.claims.records, 1);
  await chosen.running.stop();
  const resting = await node(pool, crm.destination);
  await pool.query(
    `insert into destination_pace (destination, paused_until) values ('crm', now() + interval '1 hour')
         on conflict (destination) do update set paused_until = excluded.paused_until`,
  );
  await resting.take(reservation('resting'));
  const { rows } = await pool.query(`select leased, fence from outbox where id = 'resting'`);
  assert.deepEqual(rows, [{ leased: false, fence: 0 }]);
  await pool.query(`update destination_pace set paused_until = now()`);
  await settled(pool);
  assert.equal(resting.claims.records, 1);
});

test('a call waits for more records under load, and queued records are returned when the node stops', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  // Monotonic time advances only when the test moves it.
  let uptimeMs = 1_000;
  const clock = { ...systemClock, uptimeMs: () => uptimeMs };
  const { claims, running, take } = await node(pool, crm.destination, { batch: 1_000 }, { clock });
  uptimeMs += 250;
  await take(reservation('a'));
  await settled(pool);
  for (const id of ['b', 'c', 'd']) await take(reservation(id));
  assert.equal(crm.calls.length, 2);
  uptimeMs += 250;
  await settled(pool);
  assert.deepEqual(
    crm.calls.slice(1).map((call) => call.map(({ data }) => data.id)),
    [['a'], ['b', 'c', 'd']],
  );
  assert.equal(claims.made, 0);
  await take(reservation('e'));
  await running.stop();
  assert.deepEqual(versions(crm.messages(), 'e'), []);
  const { rows } = await pool.query(`select leased, due_at <= now() as due from outbox where id = 'e'`);
  assert.deepEqual(rows, [{ leased: false, due: true }]);
  const next = scripted((delivery) => {
    assert.equal(delivery.mayHaveArrived, false);
    return delivered;
  });
  await drainOnce(ports(pool, [lane(config('crm'))], { crm: next.destination }));
  assert.deepEqual(versions(next.messages(), 'e'), [1]);
});

test('after a destination asked to wait, direct leases are returned to the queue', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  let told = 0;
  const gate = Promise.withResolvers<void>();
  const crm = scripted(async ({ message }): Promise<Outcome> => {
    if (message.data.id === 'opens') return delivered;
    if (told++ >= 1) return delivered;
    await gate.promise;
    return { kind: 'retry', code: 'deliver.rate_limited', message: '429', status: 429, afterMs: 50, free: true };
  });
  const { claims, take } = await node(pool, crm.destination, { concurrency: 1 });
  // It has answered quickly before, so more records than its one call takes are leased directly.
  await take(reservation('a'), reservation('b'), reservation('c'));
  gate.resolve();
  await settled(pool);
  for (const id of ['b', 'c']) assert.deepEqual(versions(crm.messages(), id), [1]);
  assert.equal(claims.records, 3);
});

test('a small brand does not wait behind one that fills call after call', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const directLeases = new DirectLeases(() => {});
  const many = config('crm', { batch: 400 });
  const made = ports(pool, [lane(many), lane(many, 'porto')], { crm: crm.destination }, { directLeases });
  startNode(made);
  await takeIn(pool, [reservation('opens')], ['crm']);
  made.wake.signal('outbox');
  await settled(pool);
  let calls = 0;
  const flood = async () => {
    while (versions(crm.messages(), 'small').length === 0) {
      // Full calls, closer together than the time that a call waits for more.
      const call = ++calls;
      assert.ok(call < 40, 'it went out before 40 calls of the other brand');
      const records = Array.from({ length: 400 }, (_, i) => reservation(`large-${call}-${i}`));
      await takeIn(pool, records, ['crm'], { directLeases });
    }
  };
  const trickle = async () => {
    await until('calls follow each other', async () => crm.calls.length > 2);
    await takeIn(pool, [reservation('small')], ['crm'], { integration: 'porto', directLeases });
  };
  await Promise.all([flood(), flood(), flood(), trickle()]);
  await settled(pool);
});

test('a record whose version may have arrived stays marked until it is delivered', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const gate = Promise.withResolvers<void>();
  const seen: [string, boolean][] = [];
  const crm = scripted(async ({ message, mayHaveArrived }) => {
    seen.push([`${message.data.id} ${message.version}`, mayHaveArrived]);
    if (message.data.id.startsWith('held')) await gate.promise;
    return delivered;
  });
  const first = await node(pool, crm.destination, { concurrency: 1 });
  // As after a dead letter without an answer that was dropped: nothing is queued, and the version may have arrived.
  await first.take(reservation('doubtful'));
  await settled(pool);
  await pool.query(`update outbox set leased = true where id = 'doubtful'`);
  await first.take(reservation('doubtful', { total_amount: '2' }));
  await settled(pool);
  assert.deepEqual(seen.slice(1), [
    ['doubtful 1', false],
    ['doubtful 2', true],
  ]);
  // Claimed after the lease of a dead node, and put back before their call started.
  await takeIn(
    pool,
    ['held', 'x', 'y'].map((id) => reservation(id)),
    ['crm'],
  );
  await pool.query(`update outbox set leased = true where id in ('x', 'y')`);
  await until('a call is under way', async () => seen.some(([what]) => what === 'held 1'));
  const stopped = first.running.stop();
  gate.resolve();
  await stopped;
  const next = scripted(({ message, mayHaveArrived }) => {
    assert.equal(mayHaveArrived, true, message.data.id);
    return delivered;
  });
  await drainOnce(ports(pool, [lane(config('crm'))], { crm: next.destination }));
  const here = seen.filter(([what]) => /^[xy] 1$/.test(what));
  assert.ok(here.every(([, mayHaveArrived]) => mayHaveArrived));
  assert.equal(here.length + next.messages().length, 2);
});

test('another node delivers the direct leases of a killed one, marked as possibly arrived', async (t) => {
  const { pool, db, close } = await openStore();
  t.after(close);
  const ids = ['a', 'b', 'c', 'd'];
  const NODE_SETTINGS = JSON.stringify({ connection: db.connection, ids, timeoutMs: 500 });
  const child = fork(new URL('./direct-leases-node.ts', import.meta.url), { env: { ...process.env, NODE_SETTINGS } });
  t.after(() => child.kill('SIGKILL'));
  await once(child, 'message');
  child.kill('SIGKILL');
  await once(child, 'exit');
  const { rows } = await pool.query('select from outbox where leased and due_at > now()');
  assert.ok(rows.length >= 2, `${rows.length} were leased`);
  let told = 0;
  const crm = scripted(({ mayHaveArrived }) => {
    if (mayHaveArrived) told += 1;
    return delivered;
  });
  startNode(ports(pool, [lane(config('crm'))], { crm: crm.destination }));
  await settled(pool);
  for (const id of ids) assert.deepEqual(versions(crm.messages(), id), [1], id);
  assert.equal(told, rows.length);
});

test('on two nodes and any timing: every version once, in order', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const sent: { id: string; version: number }[] = [];
  const slow: Destination = {
    async deliver(batch) {
      await new Promise((resolve) => setTimeout(resolve, Math.random() * 4));
      for (const { message } of batch) sent.push({ id: message.data.id, version: message.version });
      return batch.map(() => delivered);
    },
    async close() {},
  };
  const nodes = [await node(pool, slow, { concurrency: 3 }), await node(pool, slow, { concurrency: 3, batch: 5 })];
  const steps = fc.array(
    fc.record({ by: fc.nat(1), ids: fc.uniqueArray(fc.nat(7), { minLength: 1 }), pause: fc.nat(6) }),
    { minLength: 5, maxLength: 30 },
  );
  let round = 0;
  await fc.assert(
    fc.asyncProperty(steps, async (list) => {
      round += 1;
      const changed = new Map<string, number>();
      const taking: Promise<void>[] = [];
      for (const [i, { by, ids, pause }] of list.entries()) {
        const records = ids.map((id) => reservation(`${round}-${id}`, { total_amount: String(i + 1) }));
        for (const { id } of records) changed.set(id, (changed.get(id) ?? 0) + 1);
        taking.push(nodes[by]?.take(...records) ?? Promise.resolve());
        if (pause > 3) await Promise.all(taking.splice(0));
      }
      await Promise.all(taking);
      await settled(pool);
      for (const id of changed.keys()) {
        const { rows } = await pool.query(`select version from changes where id = $1 order by version`, [id]);
        assert.deepEqual(
          sent.filter((one) => one.id === id).map(({ version }) => version),
          rows.map(({ version }) => version),
          id,
        );
      }
    }),
    { numRuns: 12 },
  );
});
