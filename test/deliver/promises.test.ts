import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'node:test';
import fc from 'fast-check';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Destination, Outcome } from '../../src/core/deliver/destination.ts';
import { Handover } from '../../src/core/deliver/handover.ts';
import type { DestinationConfig } from '../../src/core/deliver/ports.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { until } from '../support/process.ts';
import { config, lane, openStore, ports, reservation, scripted, startNode, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };

/** A node that hears of changes at once. */
async function node(pool: Pool, destination: Destination, change: Partial<DestinationConfig> = {}) {
  const handover = new Handover();
  const crm = lane(config('crm', { batch: 1, ...change }));
  const running = startNode(ports(pool, [crm], { crm: destination }, { handover }));
  const take = async (...records: ReturnType<typeof reservation>[]) => {
    await takeIn(pool, records, ['crm']);
    handover.offer([{ integration: crm.integration, destination: 'crm' }]);
  };
  await take(reservation('opens'));
  await settled(pool);
  return { running, take };
}

async function settled(pool: Pool): Promise<void> {
  const isIdle = async () => (await pool.query('select from outbox where due_at is not null')).rowCount === 0;
  await until('nothing is due', isIdle);
}

const versions = (messages: readonly { data: { id: string }; version: number }[], id: string) =>
  messages.filter(({ data }) => data.id === id).map(({ version }) => version);

test('a change is sent exactly as stored, and sent again with the same bytes', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const { take } = await node(pool, crm.destination);
  await take(reservation('a', { total_amount: '0.10', extra: { n: 1e21, no: 'a\u0000b🜨' } }), reservation('b'));
  await settled(pool);
  await take(reservation('a', { total_amount: '7' }));
  await settled(pool);
  assert.deepEqual(versions(crm.messages(), 'a'), [1, 2]);
  assert.deepEqual(versions(crm.messages(), 'b'), [1]);
  const first = crm.messages().find(({ data, version }) => data.id === 'a' && version === 1);
  await pool.query(`update outbox set next_version = 1, last_version = 1, due_at = now() where id = 'a'`);
  const again = scripted(() => delivered);
  await drainOnce(ports(pool, [lane(config('crm'))], { crm: again.destination }));
  assert.deepEqual(again.messages()[0], first);
  assert.equal(first?.data.extra?.no, 'a\ufffdb🜨');
  const { rows } = await pool.query(
    `select delivered_version, delivered_at is not null as dated from outbox where id = 'b'`,
  );
  assert.deepEqual(rows, [{ delivered_version: 1, dated: true }]);
});

test('the node that queued records claims them at once, without looking for due work', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const crm = scripted(() => delivered);
  const handover = new Handover();
  const made = ports(pool, [lane(config('crm', { batch: 1 }))], { crm: crm.destination }, { handover });
  let looks = 0;
  const nextDue = async () => {
    looks += 1;
    return [];
  };
  startNode({ ...made, store: { ...made.store, nextDue } });
  await until('the documents are followed', async () => looks > 0);
  const ids = Array.from({ length: 12 }, (_, i) => `r${i}`);
  await takeIn(
    pool,
    ids.map((id) => reservation(id)),
    ['crm'],
  );
  handover.offer([{ integration: 'lisbon', destination: 'crm' }]);
  await settled(pool);
  for (const id of ids) assert.deepEqual(versions(crm.messages(), id), [1], id);
});

test('one claim serves several brands, and versions of a record keep their order', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const gate = Promise.withResolvers<void>();
  const crm = scripted(async ({ message }) => {
    if (message.version === 1) await gate.promise;
    return delivered;
  });
  const brands = ['lisbon', 'porto', 'faro'];
  const change = (total_amount: string) =>
    Promise.all(
      brands.map((integration) => takeIn(pool, [reservation('a', { total_amount })], ['crm'], { integration })),
    );
  await change('1');
  const lanes = brands.map((integration) => lane(config('crm', { batch: 1, concurrency: 3 }), integration));
  const made = ports(pool, lanes, { crm: crm.destination });
  const claims: number[] = [];
  const claim: typeof made.store.claim = async (...asked) => {
    const claimed = await made.store.claim(...asked);
    claims.push(claimed.length);
    return claimed;
  };
  startNode({ ...made, store: { ...made.store, claim } });
  await until('all calls are under way', async () => crm.calls.length === 3);
  assert.equal(claims[0], 3);
  // The first versions are being sent; the second must not overtake them.
  await change('2');
  gate.resolve();
  await settled(pool);
  for (const brand of brands) {
    const sent = crm.messages().filter(({ integration }) => integration === brand);
    assert.deepEqual(versions(sent, 'a'), [1, 2], brand);
  }
});

test('records that are claimed and not sent are put back when the node stops', async (t) => {
  const { pool, close } = await openStore();
  t.after(close);
  const gate = Promise.withResolvers<void>();
  const crm = scripted(async ({ message }) => {
    if (message.data.id !== 'opens') await gate.promise;
    return delivered;
  });
  // It has answered quickly, so one claim takes more records than its one call.
  const { running, take } = await node(pool, crm.destination, { concurrency: 1 });
  await take(...['a', 'b', 'c'].map((id) => reservation(id)));
  await until('a call is under way', async () => crm.calls.length === 2);
  const stopped = running.stop();
  gate.resolve();
  await stopped;
  assert.equal(crm.messages().length, 2);
  const { rows } = await pool.query(`select leased, due_at <= now() as due from outbox where due_at is not null`);
  assert.deepEqual(rows, Array(2).fill({ leased: false, due: true }));
  const next = scripted((delivery) => {
    assert.equal(delivery.mayHaveArrived, false);
    return delivered;
  });
  await drainOnce(ports(pool, [lane(config('crm'))], { crm: next.destination }));
  assert.equal(next.messages().length, 2);
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

test('another node delivers what a killed one had claimed, marked as possibly arrived', async (t) => {
  const { pool, db, close } = await openStore();
  t.after(close);
  const ids = ['a', 'b', 'c', 'd'];
  const NODE_SETTINGS = JSON.stringify({ connection: db.connection, ids, timeoutMs: 500 });
  const child = fork(new URL('./deaf-node.ts', import.meta.url), { env: { ...process.env, NODE_SETTINGS } });
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
        const { rows } = await pool.query(
          `select version from history where diff is not null and id = $1 order by version`,
          [id],
        );
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
