import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { deliverBatch } from '../../src/core/deliver/batch.ts';
import { Lease } from '../../src/core/deliver/claiming.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { Destination, Outcome } from '../../src/core/deliver/destination.ts';
import { Engine } from '../../src/core/deliver/engine.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { until } from '../support/process.ts';
import { listedLanes } from './lanes.ts';
import { config, lane, openStore, ports, reservation, scripted, startNode, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };
const busy: Outcome = { kind: 'retry', code: 'deliver.server_error', message: '503', status: 503 };

test('every version is delivered once, in order, and nothing is left due', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(() => delivered);
  for (let i = 1; i <= 3; i++) {
    const records = ['a', 'b', 'c'].map((id) => reservation(id, { total_amount: String(i) }));
    await takeIn(store.pool, records, ['crm']);
  }
  const counts = await drainOnce(ports(store.pool, [lane(config('crm'))], { crm: crm.destination }));
  assert.deepEqual(counts, { delivered: 9, skipped: 0, retry: 0, dead: 0 });
  for (const id of ['a', 'b', 'c']) {
    const seen = crm.messages().filter(({ data }) => data.id === id);
    assert.deepEqual(
      seen.map(({ version, event, data }) => [version, event, data.total_amount]),
      [
        [1, 'created', '1'],
        [2, 'updated', '2'],
        [3, 'updated', '3'],
      ],
    );
    assert.equal(new Set(seen.map(({ idempotency_key }) => idempotency_key)).size, 3);
  }
  const { rows } = await store.pool.query(
    'select next_version, last_version, delivered_version, due_at, leased from outbox order by id',
  );
  const idle = { next_version: 4, last_version: 3, delivered_version: 3, due_at: null, leased: false };
  assert.deepEqual(rows, [idle, idle, idle]);
});

/** An engine whose lane goes into preview while it works. */
async function engineWithPreview(t: TestContext, calls: { readonly onClaim?: () => Promise<void> } = {}) {
  const store = await openStore();
  const crm = scripted(() => delivered);
  const one = lane(config('crm', { batch: 1, concurrency: 1 }));
  const [open, inPreview] = [listedLanes([one]), listedLanes([{ ...one, inPreview: true }])];
  let lanes = open;
  const made = ports(store.pool, [], { crm: crm.destination });
  const claim: typeof made.store.claim = async (...asked) => {
    const claimed = await made.store.claim(...asked);
    await calls.onClaim?.();
    return claimed;
  };
  const engine = new Engine({ ...made, store: { ...made.store, claim } }, () => lanes);
  t.after(async () => {
    await engine.close();
    await store.close();
  });
  const records = Array.from({ length: 20 }, (_, i) => reservation(`r${i}`));
  return {
    engine,
    sent: () => crm.calls.length,
    takeIn: () => takeIn(store.pool, records, ['crm']),
    goIntoPreview: () => {
      lanes = inPreview;
    },
    idle: () => until('nothing is claimed or sent', async () => engine.isIdle),
  };
}

test('what is queued after a lane went into preview is not sent, although nothing was scanned since', async (t) => {
  const { engine, ...one } = await engineWithPreview(t);
  await engine.scan();
  one.goIntoPreview();
  await one.takeIn();
  engine.offer([{ integration: 'lisbon', destination: 'crm' }]);
  await one.idle();
  assert.equal(one.sent(), 0);
});

test('a lane that goes into preview during a claim is not claimed again, however much waits', async (t) => {
  let claims = 0;
  const onClaim = async () => {
    claims += 1;
    one.goIntoPreview();
    await one.engine.scan();
  };
  const one = await engineWithPreview(t, { onClaim });
  await one.takeIn();
  await one.engine.scan();
  await one.idle();
  assert.equal(claims, 1);
  assert.ok(one.sent() < 20, `${one.sent()} sent`);
});

test('only a store that cannot be reached is reported as one that does not answer', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const failures = [
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' }),
    Object.assign(new Error('permission denied for table outbox'), { code: '42501' }),
    new SyntaxError(`Unexpected token, "ana@mail.example" is not valid JSON`),
  ];
  const logged: string[] = [];
  const facts: string[] = [];
  const note = (about: object, text: string) => {
    logged.push(text);
    facts.push(JSON.stringify(about));
  };
  const log = { info() {}, warn: note, error: note };
  const made = ports(store.pool, [lane(config('crm'))], {}, { log: log as never });
  let looks = 0;
  const nextDue = async () => {
    looks += 1;
    throw failures[Math.min(looks, failures.length) - 1];
  };
  const failing = {
    ...made,
    store: { ...made.store, nextDue },
    clock: { ...systemClock, wait: () => systemClock.wait(1) },
  };
  await assert.rejects(drainOnce(failing), { code: 'ECONNREFUSED' }, 'a command must not report that nothing is due');
  looks = 0;
  const node = startNode(failing);
  await until('three failed looks', async () => logged.length >= 3);
  await node.stop();
  assert.deepEqual(logged.slice(0, 3), [
    'deliver: the store does not answer',
    'deliver: the scan for due work failed',
    'deliver: the scan for due work failed',
  ]);
  assert.match(facts[0] ?? '', /connect ECONNREFUSED 127\.0\.0\.1:1/);
  assert.match(facts[1] ?? '', /Error 42501 at deliver\/engine\.test\.ts:\d+/);
  assert.match(facts[2] ?? '', /SyntaxError at/);
  assert.doesNotMatch(facts.join(), /mail\.example/, 'a parser quotes the data that it refuses');
});

test('with very many brands, only the lanes with work are made', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(() => delivered);
  await takeIn(store.pool, [reservation('a')], ['crm', 'unknown']);
  const made: string[] = [];
  const one = lane(config('crm'));
  const lanes = {
    brands: { size: 100_000, keys: () => assert.fail('the brands are not listed') },
    destinations: [one.destination],
    of: (brand: string) => {
      made.push(brand);
      return [one];
    },
  };
  const counts = await drainOnce({ ...ports(store.pool, [], { crm: crm.destination }), lanes: () => lanes });
  assert.equal(counts.delivered, 1);
  assert.deepEqual([...new Set(made)], [one.integration]);
});

test('a failing record is retried on its schedule, then held back alone; others flow past', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(({ message }) => (message.data.id === 'stuck' ? busy : delivered));
  await takeIn(store.pool, [reservation('stuck'), reservation('fine')], ['crm']);
  const running = startNode(ports(store.pool, [lane(config('crm'))], { crm: crm.destination }));
  await until('it is held back', async () => (await open(store.pool)).length === 1);
  await takeIn(
    store.pool,
    ['stuck', 'fine'].map((id) => reservation(id, { total_amount: '9' })),
    ['crm'],
  );
  await until('the other record flows past', async () =>
    crm.messages().some(({ data, version }) => data.id === 'fine' && version === 2),
  );
  await running.stop();
  const stuck = crm.messages().filter(({ data }) => data.id === 'stuck');
  assert.deepEqual(
    stuck.map(({ version }) => version),
    [1, 1, 1, 1, 1],
  );
  assert.equal(new Set(stuck.map(({ idempotency_key }) => idempotency_key)).size, 1);
  const [letter] = await open(store.pool);
  assert.equal(letter?.code, 'deliver.tries_used_up');
  assert.match(letter?.message ?? '', /5 tries failed\. The last answer: /);
  const { rows } = await store.pool.query(`select next_version, last_version, due_at from outbox where id = 'stuck'`);
  assert.deepEqual(rows, [{ next_version: 1, last_version: 2, due_at: null }]);
});

test('a permanent answer is a dead letter at once; a free wait uses no try', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  let asked = 0;
  const crm = scripted(({ message }): Outcome => {
    if (message.data.id === 'wrong') return { kind: 'dead', code: 'deliver.refused', message: '422', status: 422 };
    asked += 1;
    if (asked <= 8) return { kind: 'retry', code: 'deliver.rate_limited', message: '429', afterMs: 0, free: true };
    return delivered;
  });
  await takeIn(store.pool, [reservation('wrong'), reservation('patient')], ['crm']);
  const fast = ports(store.pool, [lane(config('crm', { batch: 1 }))], { crm: crm.destination });
  await drainOnce(fast);
  assert.equal((await open(store.pool)).length, 1);
  assert.equal(crm.messages().filter(({ data }) => data.id === 'wrong').length, 1);
  while (asked < 9) {
    await store.pool.query(`update outbox set due_at = now() where due_at is not null`);
    await drainOnce(fast);
  }
  const { rows } = await store.pool.query(`select delivered_version, attempt from outbox where id = 'patient'`);
  assert.deepEqual(rows, [{ delivered_version: 1, attempt: 0 }]);
});

test('a version that may have arrived before a kill stays marked while the destination asks to wait', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const seen: boolean[] = [];
  const crm = scripted(({ mayHaveArrived }): Outcome => {
    seen.push(mayHaveArrived);
    return seen.length > 2
      ? delivered
      : { kind: 'retry', code: 'deliver.rate_limited', message: '429', status: 429, afterMs: 0, free: true };
  });
  await takeIn(store.pool, [reservation('a')], ['crm']);
  // As a node leaves it that was killed after its request.
  await store.pool.query('update outbox set leased = true');
  while (seen.length < 3) {
    await store.pool.query('update outbox set due_at = now() where due_at is not null');
    await drainOnce(ports(store.pool, [lane(config('crm'))], { crm: crm.destination }));
  }
  assert.deepEqual(seen, [true, true, true]);
});

test('a call that goes on for longer than the timeout and the lease is not cut off while its requests are answered', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  await takeIn(store.pool, [reservation('r0')], ['crm']);
  let requests = 0;
  const slow: Destination = {
    async deliver(batch, { extend }) {
      for (; requests < 40 && (await extend()); requests++) await new Promise((resolve) => setTimeout(resolve, 80));
      return batch.map(() => delivered);
    },
    async close() {},
  };
  const one = lane(config('crm', { timeoutMs: 500 }));
  // 3.2 s of requests in a lease of 2 s. A destination that goes on for 2.5 s without a word would be cut off.
  const counts = await drainOnce(ports(store.pool, [one], { crm: slow }, { leaseMarginMs: 1_500 }));
  assert.deepEqual([requests, counts.delivered], [40, 1]);
});

/** Delivers r0 to r31 in one batch: all but r13 arrive. */
async function drainWithPoison(pool: Pool, crm: Destination): Promise<void> {
  const ids = Array.from({ length: 32 }, (_, i) => `r${i}`);
  await takeIn(
    pool,
    ids.map((id) => reservation(id)),
    ['crm'],
  );
  const counts = await drainOnce(ports(pool, [lane(config('crm', { batch: 32 }))], { crm }));
  assert.deepEqual(counts, { delivered: 31, skipped: 0, retry: 0, dead: 1 });
  assert.deepEqual(
    (await open(pool)).map(({ id }) => id),
    ['r13'],
  );
}

test('a batch that is refused as a whole is halved until the bad record is alone', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted((_one, batch): Outcome => {
    const poisoned = batch.some(({ message }) => message.data.id === 'r13');
    return poisoned ? { kind: 'dead', code: 'deliver.refused', message: '400', whole: true } : delivered;
  });
  await drainWithPoison(store.pool, crm.destination);
  assert.ok(crm.calls.length <= 11, `${crm.calls.length} calls`);
});

test('a refused request that is only part of a batch is halved as well', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted((one, batch): Outcome => {
    const start = batch.indexOf(one) & ~7;
    const request = batch.slice(start, start + 8);
    const poisoned = request.some(({ message }) => message.data.id === 'r13');
    if (!poisoned) return delivered;
    return { kind: 'dead', code: 'deliver.refused', message: '400', ...(request.length > 1 && { whole: true }) };
  });
  await drainWithPoison(store.pool, crm.destination);
});

test('a dead destination does not delay others, and a noisy brand does not starve others', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const never = scripted(() => new Promise<Outcome>(() => {}));
  const order: string[] = [];
  const crm = scripted(({ message }) => {
    order.push(message.integration);
    return delivered;
  });
  const many = Array.from({ length: 300 }, (_, i) => reservation(`n${i}`));
  await takeIn(store.pool, many, ['crm', 'dead'], { integration: 'noisy' });
  await takeIn(store.pool, [reservation('q1')], ['crm', 'dead'], { integration: 'quiet' });
  const lanes = ['noisy', 'quiet'].flatMap((brand) => [
    lane(config('crm', { batch: 5, concurrency: 1 }), brand),
    lane(config('dead', { timeoutMs: 300 }), brand),
  ]);
  const running = startNode(ports(store.pool, lanes, { crm: crm.destination, dead: never.destination }));
  await until('all records of both brands are sent', async () => order.length === 301);
  assert.ok(order.indexOf('quiet') <= 10, `the quiet brand came at ${order.indexOf('quiet')}`);
  await running.stop();
});

test('a record that became due in the past, below the bound of its lane, is found by the next full scan', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(() => delivered);
  const made = ports(store.pool, [lane(config('crm'))], { crm: crm.destination }, { fullScanMs: 1_500 });
  const running = startNode(made);
  const hasArrived = (id: string) => async () => crm.messages().some(({ data }) => data.id === id);
  await takeIn(store.pool, [reservation('first')], ['crm']);
  made.wake.signal('outbox');
  await until('the first record is delivered', hasArrived('first'));
  // As if the transaction that queued it had taken an hour.
  const client = await store.pool.connect();
  await client.query('begin');
  await takeIn(store.pool, [reservation('late')], ['none']);
  await client.query(
    `insert into outbox (integration, destination, type, id, next_version, last_version, due_at)
     select integration, 'crm', type, id, 1, 1, now() - interval '1 hour' from records where id = 'late'`,
  );
  await client.query('commit');
  client.release();
  await until('the late one too', hasArrived('late'));
  await running.stop();
});

test('one slow scan for due work does not delay the next; looks that stay slow take a fifth of the time', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const tookMs = [0, 3_000, 0, 3_000, 2_000, 0];
  const pauses: number[] = [];
  let aheadMs = 0;
  const clock: typeof systemClock = {
    ...systemClock,
    uptimeMs: () => aheadMs,
    wait: (ms, signal) => {
      pauses.push(Math.round(ms / 1_000));
      return systemClock.wait(1, signal);
    },
  };
  const made = ports(store.pool, [lane(config('crm'))], {}, { clock });
  const nextDue: typeof made.store.nextDue = async () => {
    aheadMs += tookMs.shift() ?? 0;
    made.wake.signal('outbox');
    return [];
  };
  startNode({ ...made, store: { ...made.store, nextDue } });
  await until('all looks are done', async () => pauses.length >= 6);
  assert.deepEqual(pauses.slice(0, 6), [0, 0, 0, 0, 8, 0]);
});

test('two nodes share the work and never hold one record at the same time', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const inFlight = new Set<string>();
  const seen: [string, number][] = [];
  const crm = scripted(async ({ message }): Promise<Outcome> => {
    assert.ok(!inFlight.has(message.data.id), `${message.data.id} is in flight twice`);
    inFlight.add(message.data.id);
    await new Promise((resolve) => setTimeout(resolve, 1));
    inFlight.delete(message.data.id);
    seen.push([message.data.id, message.version]);
    return delivered;
  });
  const running = [1, 2, 3].map(() =>
    startNode(ports(store.pool, [lane(config('crm', { batch: 3 }))], { crm: crm.destination })),
  );
  for (let i = 1; i <= 5; i++) {
    const records = Array.from({ length: 20 }, (_, n) => reservation(`r${n}`, { total_amount: String(i) }));
    await takeIn(store.pool, records, ['crm']);
  }
  t.after(() => Promise.all(running.map((one) => one.stop())));
  await until('all versions are sent', async () => seen.length >= 100);
  await Promise.all(running.map((one) => one.stop()));
  assert.equal(seen.length, 100);
  for (let n = 0; n < 20; n++) {
    const versions = seen.filter(([id]) => id === `r${n}`).map(([, version]) => version);
    assert.deepEqual(versions, [1, 2, 3, 4, 5]);
  }
});

test('a version that cannot be read becomes a dead letter alone', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const crm = scripted(() => delivered);
  await takeIn(store.pool, [reservation('bad'), reservation('fine')], ['crm']);
  await store.pool.query(`update records set data = '{"id": "bad"}' where id = 'bad'`);
  const counts = await drainOnce(ports(store.pool, [lane(config('crm'))], { crm: crm.destination }));
  assert.deepEqual(counts, { delivered: 1, skipped: 0, retry: 0, dead: 1 });
  assert.deepEqual(
    (await open(store.pool)).map(({ code }) => code),
    ['deliver.broken'],
  );
});

test('a node that stops during a call releases its records at once, marked as possibly arrived, without using a try', async (t) => {
  const store = await openStore();
  t.after(() => store.close());
  const stopping = new AbortController();
  const silent = scripted(() => new Promise<Outcome>(() => {}));
  await takeIn(store.pool, [reservation('a'), reservation('b')], ['crm']);
  const one = ports(store.pool, [lane(config('crm'))], {});
  const [first, second] = await one.store.claim('crm', ['lisbon'], 2, 60_000);
  assert.ok(first && second);
  const sending = deliverBatch(
    {
      ports: one,
      config: config('crm', { timeoutMs: 60_000 }),
      destination: silent.destination,
      settler: { settle: async () => {} },
      leaseMs: 60_000,
      stopping: stopping.signal,
      onAnswered: () => {},
      onWaitAsked: async () => {},
    },
    { lane: lane(config('crm')), claims: [first, second], lease: new Lease(systemClock, 90_000) },
  );
  await until('the call is made', async () => silent.calls.length === 1);
  stopping.abort();
  assert.deepEqual(await sending, { delivered: 0, skipped: 0, retry: 0, dead: 0 });
  const again = await one.store.claim('crm', ['lisbon'], 2, 60_000);
  assert.deepEqual(
    again.map(({ interrupted, triesUsed }) => [interrupted, triesUsed]),
    [
      [true, 0],
      [true, 0],
    ],
  );
});

async function open(pool: { query(sql: string): Promise<{ rows: unknown[] }> }) {
  const { rows } = await pool.query(`select id, code, message from dead_letters where state = 'open' order by id`);
  return rows as { id: string; code: string; message: string }[];
}
