import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Handover } from '../../../src/core/deliver/handover.ts';
import { executeRun } from '../../../src/core/intake/pull/run/execution.ts';
import { openRunStore } from '../../../src/core/store/runs/runs.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { type Asked, type Booking, bookings, type Reply } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

/** Feeds of up to ten bookings that were not acknowledged yet. */

const { runtime, partnerOf } = setUpPulls();
const batch = 10;

interface Queue {
  pending: Booking[];
  readonly acknowledged: string[];
}

/** Every acknowledged booking must be stored already. `on` may answer instead. */
async function queueOf(integration: string, count: number, on: (asked: Asked) => Reply | undefined = () => undefined) {
  const queue: Queue = { pending: bookings(count, '2026-03-01'), acknowledged: [] };
  const partner = await partnerOf(async (asked) => {
    const reply = on(asked);
    if (reply !== undefined) return reply;
    if (asked.path === '/pending') return { json: { reservations: queue.pending.slice(0, batch) } };
    const { ids } = JSON.parse(asked.body) as { ids: string[] };
    const stored = new Set((await runtime.stored(integration)).map(({ id }) => id));
    assert.deepEqual(
      ids.filter((id) => !stored.has(id)),
      [],
      'acknowledged before it was stored',
    );
    queue.acknowledged.push(...ids);
    queue.pending = queue.pending.filter(({ id }) => !ids.includes(id));
    return { json: {} };
  });
  return { queue, partner };
}

const connectorWith = (pagination: object) => ({
  pull: {
    pagination,
    window: 'none',
    request: { path: '/pending' },
    acknowledge: { method: 'POST', path: '/ack', body: { ids: '{ids}' } },
  },
});

for (const pagination of [
  { type: 'none' },
  { type: 'page', page: 'query.page' },
  { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: batch },
  { type: 'cursor', next: 'next', cursor: 'query.cursor' },
]) {
  test(`one run drains a queue (${pagination.type})`, async () => {
    const integration = `queue-${pagination.type}`;
    const { queue, partner } = await queueOf(integration, 47);
    const ports = runtime.ports({ integration, baseUrl: partner.url, connector: connectorWith(pagination) });
    const { state, counters, error } = await sync(ports, integration, { sync: 'pre_stay' });
    assert.deepEqual([state, counters.changed, counters.fetched], ['complete', 47, 47], JSON.stringify(error));
    assert.deepEqual([queue.pending.length, queue.acknowledged.length], [0, 47]);
    assert.ok(partner.requests.length <= 13, `${partner.requests.length} requests`);
  });
}

test('a run that dies after a page was stored and before it was acknowledged is resumed and drains the queue', async () => {
  const integration = 'queue-killed';
  const stop = new AbortController();
  let acknowledgements = 0;
  const { queue, partner } = await queueOf(integration, 35, ({ path }) => {
    if (path !== '/ack' || ++acknowledgements !== 2) return undefined;
    stop.abort();
    return 'cut';
  });
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector: connectorWith({ type: 'none' }) });
  const queued = await openRunStore(runtime.pool, new Handover()).queue(
    { integration: integration as IntegrationName, kind: 'manual', sync: 'pre_stay', requestedBy: 'test' },
    { node: 'first', leaseMs: 60_000 },
  );
  assert.ok(queued.kind === 'queued');
  const first = await executeRun(ports, queued.run, { parkable: true, signal: stop.signal });
  assert.equal(first.kind, 'stopped');
  assert.deepEqual([queue.acknowledged.length, (await runtime.stored(integration)).length], [10, 20]);
  const [run] = await ports.runs.claimDue(1, 'second', 60_000);
  assert.ok(run);
  const second = await executeRun(ports, run, { parkable: true });
  assert.ok(second.kind === 'finished' && second.end.state === 'complete', JSON.stringify(second));
  assert.deepEqual([queue.pending.length, queue.acknowledged.length], [0, 35]);
  assert.equal((await runtime.stored(integration)).length, 35);
});

test('a queue that lists acknowledged bookings again ends the run as incomplete', async () => {
  const integration = 'queue-deaf';
  const { partner } = await queueOf(integration, 12, ({ path }) => (path === '/ack' ? { json: {} } : undefined));
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector: connectorWith({ type: 'none' }) });
  const { state, error } = await sync(ports, integration, { sync: 'pre_stay' });
  assert.deepEqual([state, error?.code, partner.requests.length], ['incomplete', 'pull.page_repeated', 3]);
});

test('the partner gets its own ids, without the prefix of a brand that moved to this system', async () => {
  const integration = 'queue-moved';
  const acknowledged: string[] = [];
  const partner = await partnerOf(({ path, body }) => {
    if (path === '/pending')
      return { json: { reservations: acknowledged.length > 0 ? [] : bookings(2, '2026-03-01') } };
    acknowledged.push(...JSON.parse(body).ids);
    return { json: {} };
  });
  const connector = connectorWith({ type: 'none' });
  const ports = runtime.ports({ integration, baseUrl: partner.url, connector, idPrefix: 'new~' });
  await sync(ports, integration, { sync: 'pre_stay' });
  assert.deepEqual(acknowledged, ['R00001', 'R00002']);
  assert.deepEqual(
    (await runtime.stored(integration)).map(({ id }) => id),
    ['new~R00001', 'new~R00002'],
  );
});

test('a queue that is acknowledged by receipts, not by the ids of its bookings', async () => {
  let pending = bookings(23, '2026-03-01').map((one, i) => ({ ...one, receipt: { no: 9000 + i } }));
  const partner = await partnerOf((asked) => {
    if (asked.path === '/pending') return { json: { reservations: pending.slice(0, batch) } };
    const { receipts } = JSON.parse(asked.body) as { receipts: string[] };
    pending = pending.filter(({ receipt }) => !receipts.includes(String(receipt.no)));
    return { json: {} };
  });
  const { pull } = connectorWith({ type: 'none' });
  const acknowledge = { method: 'POST', path: '/ack', ids: 'receipt.no', body: { receipts: '{ids}' } };
  const connector = { pull: { ...pull, acknowledge } };
  const ports = runtime.ports({ integration: 'receipts', baseUrl: partner.url, connector });
  const { state, counters } = await sync(ports, 'receipts', { sync: 'pre_stay' });
  assert.deepEqual([state, counters.fetched, pending.length], ['complete', 23, 0]);
});

/** Three revisions of every third booking, two of the others. The queue shows them oldest or newest first, in pages of any size. */
for (const order of ['newest first', 'oldest first', 'oldest first, without times'])
  for (const size of [1, 2, 3, 7, 100])
    test(`revisions of one booking, ${order}, ${size} a page: the newest is stored`, async () => {
      const integration = `revisions-${order.length}-${size}`;
      const newest = new Map<string, number>();
      let pending = [0, 1, 2].flatMap((round) =>
        bookings(12, '2026-03-01')
          .filter((_, i) => round < 2 || i % 3 === 0)
          .map((one, i) => {
            const changed = round * 100 + i;
            newest.set(one.id, changed);
            return {
              ...one,
              receipt: `v${changed}`,
              total_amount: changed,
              changed: `2026-02-01T10:0${round}:${10 + i}Z`,
            };
          }),
      );
      if (order === 'newest first') pending.reverse();
      const partner = await partnerOf((asked) => {
        if (asked.path === '/pending') return { json: { reservations: pending.slice(0, size) } };
        const { receipts } = JSON.parse(asked.body) as { receipts: string[] };
        pending = pending.filter(({ receipt }) => !receipts.includes(receipt));
        return { json: {} };
      });
      const { pull } = connectorWith({ type: 'none' });
      const acknowledge = { method: 'POST', path: '/ack', ids: 'receipt', body: { receipts: '{ids}' } };
      const connector = {
        pull: { ...pull, acknowledge, ...(order.includes('without') ? {} : { changed: 'changed' }) },
      };
      const ports = runtime.ports({ integration, baseUrl: partner.url, connector });
      const { state, error } = await sync(ports, integration, { sync: 'pre_stay' });
      assert.deepEqual([state, pending.length], ['complete', 0], JSON.stringify(error));
      const stored = await runtime.stored(integration);
      assert.deepEqual(
        stored.map(({ id, data }) => [id, data.total_amount]),
        [...newest].sort(),
      );
    });

test('two queues, each acknowledged by its own call: with a picked receipt, the time, and POST without a body', async () => {
  const book = bookings(5, '2026-03-01').map((one, i) => ({
    ...one,
    ids: [{ type: 'no' }, { type: 'receipt', id: `q${i}` }],
  }));
  const queues: Record<string, typeof book> = { new: book.slice(0, 3), changed: book.slice(2) };
  const partner = await partnerOf(({ path, method, body, query, headers }) => {
    const [, name = '', call] = path.split('/');
    const queue = queues[name];
    if (queue === undefined) return { status: 404, json: {} };
    if (call === undefined)
      return { json: name === 'new' ? { reservations: queue } : { reservations: [], changes: queue } };
    const done = name === 'new' ? (JSON.parse(body) as { done: string[]; at: string }) : undefined;
    const isRight = done
      ? method === 'POST' && /^\d{4}-\d\d-\d\dT[\d:]+Z$/.test(done.at)
      : method === 'POST' && body === '' && headers['content-type'] === undefined;
    if (!isRight) return { status: 400, json: {} };
    const ids = done?.done ?? [query.get('uid')];
    queues[name] = queue.filter((one) => !ids.includes(one.ids[1]?.id ?? ''));
    return { json: {} };
  });
  const connector = {
    pull: {
      pagination: { type: 'none' },
      window: 'none',
      request: { path: '/new' },
      acknowledge: {
        method: 'POST',
        path: '/new/ack',
        ids: { pick: { from: 'ids', where: { type: 'receipt' }, value: 'id' } },
        body: { done: '{ids}', at: '{now}' },
      },
      also: [{ path: '/changed', acknowledge: { method: 'POST', path: '/changed/ack', query: { uid: '{id}' } } }],
    },
    shape: { root_path: 'reservations', also: [{ path: 'changes' }] },
  };
  const ports = runtime.ports({ integration: 'two-queues', baseUrl: partner.url, connector });
  const { state, counters, error } = await sync(ports, 'two-queues', { sync: 'pre_stay' });
  assert.deepEqual([state, counters.fetched, queues], ['complete', 6, { new: [], changed: [] }], JSON.stringify(error));
  assert.equal((await runtime.stored('two-queues')).length, 5);
});
