import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { Simulator } from '../../../packages/partner-kit/src/simulate/index.ts';
import { hydrateOnce } from '../../../src/intake/push/hydrate.ts';
import { drainEvents } from '../../../src/intake/push/worker.ts';
import { watchOnce } from '../../../src/operations/watch-once.ts';
import { listRejections } from '../../../src/store/events/rejections.ts';
import { eventWorkerPorts, hydratorPorts } from '../../../src/wiring/events.ts';
import { until } from '../../support/process.ts';
import { connector, key, openStreamBench, type StreamBench, startPartner } from './support.ts';

const ends: (() => Promise<unknown>)[] = [];
after(async () => {
  for (const end of ends.reverse()) await end();
});

async function start(
  options: Parameters<typeof startPartner>[0] = {},
  described = connector,
): Promise<[Simulator, StreamBench]> {
  const partner = await startPartner(options);
  const bench = await openStreamBench(partner, described);
  ends.push(
    () => partner.stop(),
    () => bench.close(),
  );
  return [partner, bench];
}

/** The numbers of the changes that the hotels make, as the stream names its events. */
function changesOf(partner: Simulator, propertyId: string): string[] {
  const ids: string[] = [];
  let last = 1_000;
  partner.hotel.onChange((change) => {
    last += 1;
    if (change.propertyId === propertyId && change.event !== 'guest.updated') ids.push(`event-${last}`);
  });
  return ids;
}

const hasAll = (bench: StreamBench, integration: string, ids: readonly string[]) =>
  until(`${integration} has every event`, async () => {
    const stored = new Set(await bench.eventIds(integration));
    return ids.every((id) => stored.has(id)) && stored.size === ids.length;
  });

test('events of a stream reach the brand of their hotel, and their reservations are fetched', async () => {
  const [partner, bench] = await start();
  const [lisbon, london] = [changesOf(partner, 'LIS01'), changesOf(partner, 'LDN02')];
  const node = bench.read();
  await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
  partner.hotel.advance(20);
  await hasAll(bench, 'lisbon', lisbon);
  await hasAll(bench, 'london', london);
  await drainEvents(eventWorkerPorts(bench.runtime));
  while ((await hydrateOnce(hydratorPorts(bench.runtime))) > 0);
  await drainEvents(eventWorkerPorts(bench.runtime));
  const { rows } = await bench.runtime.pool.query(
    `select count(*) filter (where state = 'done')::int as done, count(*)::int as total from events`,
  );
  assert.deepEqual(rows, [{ done: lisbon.length + london.length, total: lisbon.length + london.length }]);
  await node.stop();
  assert.equal(partner.stream?.isRead, false, 'a node that stops sends `complete`, so that the next one is accepted');
});

test('messages that the connector does not describe are listed as refused, with the place that is wrong', async () => {
  for (const [right, wrong, reason] of [
    ['event: newEvent', 'event: newEvents', '/data/newEvents'],
    ['offset: metadata.offset', 'offset: metadata.place', '/metadata/place'],
    ['others: ignore', 'others: refuse', '/eventName'],
    ['brand: hotelId', 'brand: hotel', '/hotel'],
    ['brand: hotelId', 'brand: moduleName', '/moduleName'],
  ] as const) {
    const described = connector.replace(right, wrong).replace('UPDATE RESERVATION', 'CHANGED');
    const [partner, bench] = await start({}, described);
    const node = bench.read();
    await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
    partner.hotel.advance(20);
    await until(
      `${reason} is refused`,
      async () => {
        const refused = await listRejections(bench.runtime.pool, 'lisbon');
        return refused.some((one) => one.code === 'push.bad_envelope' && one.reason === reason);
      },
      15_000,
    ).finally(() => node.stop());
  }
});

test('drops, duplicates and events out of order lose nothing and store nothing twice', async () => {
  const [partner, bench] = await start({ stream: { faults: { duplicate: 0.2, reorder: 0.5 } } as never });
  const lisbon = changesOf(partner, 'LIS01');
  const node = bench.read();
  await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
  for (let i = 0; i < 6; i += 1) {
    partner.hotel.advance(5);
    // Some events are still held back.
    await new Promise((soon) => setTimeout(soon, 5));
    partner.stream?.drop();
    await until('the stream is read again', async () => partner.stream?.isRead);
  }
  await hasAll(bench, 'lisbon', lisbon);
  assert.ok((partner.stream?.stats.connections ?? 0) > 3, 'the connection broke several times');
  await node.stop();
});

test('a second node waits for the lease; after the first one has stopped it resumes from the stored offset', async () => {
  const [partner, bench] = await start();
  const lisbon = changesOf(partner, 'LIS01');
  const first = bench.read();
  const second = bench.read();
  await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
  partner.hotel.advance(10);
  await hasAll(bench, 'lisbon', lisbon);
  assert.equal(partner.stream?.stats.connections, 1);
  await first.stop();
  // While nobody reads, or the other node does already.
  partner.hotel.advance(10);
  await hasAll(bench, 'lisbon', lisbon);
  await second.stop();
  assert.deepEqual(await bench.eventIds('lisbon'), lisbon, 'in their order, each once');
});

test('a token that ends is replaced in an orderly way before it ends', async () => {
  const auth = { type: 'oauth2', clientId: 'sim-client', clientSecret: 'sim-secret', lifetimeSeconds: 62 } as const;
  const [partner, bench] = await start({ auth });
  const node = bench.read();
  await until('the second connection', async () => (partner.stream?.stats.connections ?? 0) > 1);
  assert.equal((await bench.state()).failures, 0);
  await node.stop();
});

test('another consumer raises an alert that ends when it leaves', async () => {
  const [partner, bench] = await start();
  const other = await startOther(partner);
  const node = bench.read();
  await until('three refused connections', async () => (await bench.state())?.failures >= 3);
  assert.equal((await bench.state()).failure, 'push.stream_taken');
  const alerts = async () => {
    await watchOnce(bench.runtime);
    const sql = `select kind, integration from alerts where resolved_at is null and kind like 'stream%'`;
    return (await bench.runtime.pool.query(sql)).rows;
  };
  assert.deepEqual(await alerts(), [{ kind: 'stream_failing', integration: 'lisbon' }]);
  other.close();
  await until('the stream is read', async () => (await bench.state()).failures === 0);
  assert.deepEqual(await alerts(), []);
  await node.stop();
});

test('the alert about a refused subscription has the partner’s words', async () => {
  const [, bench] = await start({}, connector.replace('{ newEvent(', '{ newEvnt('));
  const node = bench.read();
  await until('three refused connections', async () => (await bench.state())?.failures >= 3);
  await watchOnce(bench.runtime);
  const { rows } = await bench.runtime.pool.query(`select message from alerts where kind = 'stream_failing'`);
  assert.match(rows[0]?.message, /push\.stream_refused: “Cannot query field "newEvnt" on type "Subscription"”/);
  await node.stop();
});

/** A program that uses the same key. */
async function startOther(partner: Simulator): Promise<{ close(): void }> {
  const form = new URLSearchParams({
    grant_type: 'client_credentials',
    client_id: 'sim-client',
    client_secret: 'sim-secret',
  });
  const answer = await fetch(`${partner.baseUrl}/oauth/token`, { method: 'POST', body: form });
  const { access_token } = (await answer.json()) as { access_token: string };
  const hash = createHash('sha256').update(key).digest('hex');
  const socket = new WebSocket(`${partner.baseUrl.replace('http', 'ws')}/subscriptions?key=${hash}`, [
    'graphql-transport-ws',
  ]);
  const query = 'subscription { newEvent(input: { chainCode: "SIM" }) { eventName } }';
  const pings = setInterval(() => socket.readyState === 1 && socket.send('{"type":"ping"}'), 1_000);
  socket.onmessage = ({ data }) => {
    if (!String(data).includes('connection_ack')) return;
    socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query } }));
  };
  socket.onopen = () =>
    socket.send(JSON.stringify({ type: 'connection_init', payload: { Authorization: `Bearer ${access_token}` } }));
  await until('the other program reads', async () => partner.stream?.isRead);
  return {
    close: () => {
      clearInterval(pings);
      socket.close();
    },
  };
}

test('events that the partner no longer has are a gap, until a run is complete', async () => {
  const [partner, bench] = await start();
  const lisbon = changesOf(partner, 'LIS01');
  const first = bench.read();
  await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
  partner.hotel.advance(30);
  await hasAll(bench, 'lisbon', lisbon);
  await first.stop();
  partner.hotel.advance(30);
  partner.stream?.forget(40);
  const second = bench.read();
  await until('a gap', async () => (await bench.state()).gap);
  const alerts = async () => {
    await watchOnce(bench.runtime);
    const sql = `select kind from alerts where resolved_at is null and kind like 'stream%'`;
    return (await bench.runtime.pool.query(sql)).rows;
  };
  assert.deepEqual(await alerts(), [{ kind: 'stream_gap' }]);
  await bench.runtime.pool.query(
    `insert into runs (integration, run_id, sync, kind, state, requested_by, finished_at)
     values ('lisbon', 'run_1', 'stay', 'manual', 'complete', 'test', now())`,
  );
  assert.deepEqual(await alerts(), []);
  await bench.runtime.pool.query(
    `update streams set read_to = now() - interval '6 days', due_at = now() + interval '1 day'`,
  );
  await second.stop();
  await bench.runtime.pool.query(`update streams set read_to = now() - interval '6 days'`);
  assert.deepEqual(await alerts(), [{ kind: 'stream_behind' }]);
});
