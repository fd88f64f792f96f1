/** What a node queues while its deliveries have room is leased in the same transaction, and sent without a claim. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import type { Outcome } from '../../src/core/deliver/destination.ts';
import { Engine } from '../../src/core/deliver/engine.ts';
import { Handover } from '../../src/core/deliver/handover.ts';
import type { DestinationConfig, Lanes } from '../../src/core/deliver/ports.ts';
import { until } from '../support/process.ts';
import { listedLanes } from './lanes.ts';
import { config, lane, openStore, ports, reservation, scripted, takeIn } from './support.ts';

const delivered: Outcome = { kind: 'delivered' };

/** An engine that has opened its destination by a first delivery, and counts the claims after it. */
async function opened(
  t: TestContext,
  change: Partial<DestinationConfig> = {},
  answer: () => Outcome | Promise<Outcome> = () => delivered,
) {
  const { pool, close } = await openStore();
  const crm = scripted(answer);
  const one = lane(config('crm', { batch: 1, ...change }));
  let lanes: Lanes = listedLanes([one]);
  const made = ports(pool, [one], { crm: crm.destination });
  const claimed: string[] = [];
  const claim: typeof made.store.claim = async (...asked) => {
    const claims = await made.store.claim(...asked);
    claimed.push(...claims.map(({ id, version }) => `${id} ${version}`));
    return claims;
  };
  const engine = new Engine({ ...made, store: { ...made.store, claim } }, () => lanes);
  const handover = new Handover();
  handover.connect(engine);
  t.after(async () => {
    await engine.close();
    await close();
  });
  const outbox = async () =>
    (await pool.query('select id, due_at <= now() as due, leased from outbox order by id')).rows;
  const idle = () => until('all is settled', async () => (await outbox()).every(({ due }) => due === null));
  await takeIn(pool, [reservation('opens')], ['crm']);
  await engine.scan();
  await until('it is sent', async () => crm.calls.length > 0);
  const start = { crm, pool, engine, claimed, outbox, idle };
  /** Queues in one transaction; what is leased is sent when the caller says so. */
  const queue = async (...records: ReturnType<typeof reservation>[]) => {
    const outgoing = handover.begin();
    await takeIn(pool, records, ['crm'], { outgoing });
    return outgoing;
  };
  const goIntoPreview = () => {
    lanes = listedLanes([{ ...one, inPreview: true }]);
  };
  return { ...start, queue, goIntoPreview };
}

test('a change is sent without a claim, with the bytes that a claim would have sent', async (t) => {
  const { crm, pool, engine, claimed, idle, queue } = await opened(t);
  await idle();
  claimed.length = 0;
  (await queue(reservation('a', { total_amount: '0.10', extra: { n: 1e21 } }), reservation('b'))).send();
  await idle();
  (await queue(reservation('a', { total_amount: '7' }))).send();
  await idle();
  assert.deepEqual(claimed, []);
  const sent = crm.messages().filter(({ data }) => data.id === 'a');
  assert.deepEqual(
    sent.map(({ version, event }) => [version, event]),
    [
      [1, 'created'],
      [2, 'updated'],
    ],
  );
  await pool.query(`update outbox set next_version = 1, due_at = now() where id = 'a'`);
  await engine.scan();
  await until('both versions are sent again', async () => claimed.length === 2);
  await idle();
  const again = crm.messages().filter(({ data }) => data.id === 'a');
  assert.deepEqual(again.slice(2), sent);
});

test('a version that comes while its record is on the way follows it', async (t) => {
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const { crm, idle, queue } = await opened(t, {}, async () => {
    calls += 1;
    if (calls === 2) await gate.promise;
    return delivered;
  });
  (await queue(reservation('a', { total_amount: '1' }))).send();
  (await queue(reservation('a', { total_amount: '2' }))).send();
  (await queue(reservation('a', { total_amount: '3' }))).send();
  gate.resolve();
  await idle();
  const versions = crm.messages().filter(({ data }) => data.id === 'a');
  assert.deepEqual(
    versions.map(({ version, data }) => [version, data.total_amount]),
    [
      [1, '1'],
      [2, '2'],
      [3, '3'],
    ],
  );
});

test('of a destination with batches, whole calls are leased; the rest is due', async (t) => {
  const { crm, claimed, engine, idle, outbox, queue } = await opened(t, { batch: 4 });
  await idle();
  claimed.length = 0;
  const outgoing = await queue(...Array.from({ length: 10 }, (_, i) => reservation(`r${i}`)));
  const rows = await outbox();
  assert.deepEqual([rows.filter(({ leased }) => leased).length, rows.filter(({ due }) => due).length], [8, 2]);
  outgoing.send();
  await engine.scan();
  await idle();
  assert.equal(claimed.length, 2);
  assert.deepEqual(
    crm.calls
      .slice(1)
      .map((call) => call.length)
      .sort(),
    [2, 4, 4],
  );
});

for (const [name, change] of Object.entries<Partial<DestinationConfig>>({
  'a rate': { rate: { count: 1_000, perMs: 1_000 } as never },
  'consent to compare': { selection: { ...config('crm').selection, consent: 'marketing' } },
})) {
  test(`nothing is leased for a destination with ${name}`, async (t) => {
    const { idle, outbox, queue } = await opened(t, change);
    await idle();
    await queue(reservation('a'));
    assert.deepEqual((await outbox())[0], { id: 'a', due: true, leased: false });
  });
}

test('nothing is leased while the destination is paused, and it takes no try', async (t) => {
  const { pool, idle, outbox, queue } = await opened(t);
  await idle();
  await pool.query(
    `insert into remotes (kind, name, paused_until) values ('destination', 'crm', now() + interval '1 hour')
         on conflict (kind, name) do update set paused_until = excluded.paused_until`,
  );
  await queue(reservation('a'));
  assert.deepEqual((await outbox())[0], { id: 'a', due: true, leased: false });
});

test('a version that may have arrived before is left to a claim, which says so', async (t) => {
  const { pool, idle, outbox, queue } = await opened(t);
  (await queue(reservation('a'))).send();
  await idle();
  // As after a dead letter without an answer that was dropped.
  await pool.query(`update outbox set leased = true where id = 'a'`);
  await queue(reservation('a', { total_amount: '9' }));
  assert.deepEqual((await outbox())[0], { id: 'a', due: true, leased: true });
});

for (const [name, change] of Object.entries<(one: Awaited<ReturnType<typeof opened>>) => void>({
  'went into preview': ({ goIntoPreview }) => goIntoPreview(),
  'was closed': ({ engine }) => void engine.close(),
})) {
  test(`what was leased before the lane ${name} is put back, due at once`, async (t) => {
    const one = await opened(t);
    await one.idle();
    const outgoing = await one.queue(reservation('a'));
    change(one);
    outgoing.send();
    await until('it is put back', async () => (await one.outbox())[0]?.due === true);
    assert.deepEqual((await one.outbox())[0], { id: 'a', due: true, leased: false });
    assert.equal(one.crm.calls.length, 1);
  });
}

test('a transaction that is rolled back sends nothing, and leaves room', async (t) => {
  const { crm, idle, outbox, queue } = await opened(t);
  await idle();
  await queue(reservation('given up'));
  (await queue(reservation('a'))).send();
  await until('it is settled', async () => (await outbox())[0]?.leased === false);
  assert.deepEqual(
    crm.messages().map(({ data }) => data.id),
    ['opens', 'a'],
  );
});
