import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { after, test } from 'node:test';
import type { Simulator } from '../../../packages/partner-kit/src/simulate/index.ts';
import { eventWorkerPorts, hydratorPorts } from '../../../src/composition/push.ts';
import { hydrateOnce } from '../../../src/core/intake/push/hydrate.ts';
import { drainEvents } from '../../../src/core/intake/push/worker.ts';
import { listRejections } from '../../../src/core/store/events/rejections.ts';
import type { Api } from '../../../src/operator/api/route.ts';
import { integrationRoutes } from '../../../src/operator/api/routes/integrations.ts';
import { healthOf } from '../../../src/operator/operations/health.ts';
import { watchOnce } from '../../../src/operator/operations/watch-once.ts';
import { innbound, until } from '../../support/process.ts';
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
    await until(`${reason} is refused`, async () => {
      const refused = await listRejections(bench.runtime.pool, 'lisbon');
      return refused.some((one) => one.code === 'push.bad_envelope' && one.reason === reason);
    }).finally(() => node.stop());
  }
});

/** What a person sees of a brand: its state, its findings, and its open alerts about the stream. */
async function seen({ runtime }: StreamBench, name = 'lisbon') {
  await watchOnce(runtime);
  const [brand] = await healthOf(runtime, [name]);
  const sql = `select kind, message from alerts where resolved_at is null and integration = $1 order by kind`;
  const { rows } = await runtime.pool.query<{ kind: string; message: string }>(sql, [name]);
  return { ...brand, text: JSON.stringify(brand?.findings), alerts: rows };
}

test('a stream whose messages cannot be read is not green, with the setting that is wrong', async () => {
  for (const [right, wrong, reason, state] of [
    ['event: newEvent', 'event: newEvents', 'stream.event finds nothing at /data/newEvents', 'failing'],
    ['offset: metadata.offset', 'offset: metadata.place', 'stream.offset finds nothing at /metadata/place', 'failing'],
    ['brand: hotelId', 'brand: hotel', 'push.envelope.brand finds nothing at /hotel', 'failing'],
    ['    event: eventName', '    event: eventTitle', 'push.envelope cannot read /eventTitle', 'failing'],
    [
      'brand: hotelId',
      'brand: moduleName',
      'push.envelope.brand names only other properties at /moduleName',
      'attention',
    ],
  ] as const) {
    const [partner, bench] = await start({}, connector.replace(right, wrong));
    const node = bench.read();
    await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
    partner.hotel.advance(20);
    try {
      await until(reason, async () => (await healthOf(bench.runtime, ['lisbon']))[0]?.state === state);
      for (const name of ['lisbon', 'london']) {
        const [brand] = await healthOf(bench.runtime, [name]);
        assert.equal(brand?.state, state, 'a brand that shares the stream shares its state');
        assert.ok(JSON.stringify(brand?.findings).includes(reason), JSON.stringify(brand?.findings));
      }
      const { alerts } = await seen(bench);
      assert.deepEqual(
        alerts.map(({ kind }) => kind),
        state === 'failing' ? ['webhooks_refused'] : [],
      );
      assert.ok(alerts.every(({ message }) => message.includes(reason) && message.includes('Correct the connector')));
    } finally {
      await node.stop();
    }
  }
});

test('messages that could not be read are no gap, and are read again after the connector was corrected', async () => {
  for (const [right, wrong] of [
    ['event: newEvent', 'event: newEvents'],
    ['offset: metadata.offset', 'offset: metadata.place'],
    ['brand: hotelId', 'brand: hotel'],
    ['UPDATE RESERVATION', 'CHANGED RESERVATION'],
  ] as const) {
    const [partner, bench] = await start({}, connector.replace('others: ignore', 'others: refuse'));
    const lisbon = changesOf(partner, 'LIS01');
    const node = bench.read();
    await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
    partner.hotel.advance(20);
    await until('the first events', async () => (await bench.state()).resume_from !== null);
    await bench.describe(connector.replace('others: ignore', 'others: refuse').replace(right, wrong));
    await until('the stream is read by the wrong connector', async () => partner.stream?.stats.connections === 2);
    partner.hotel.advance(60);
    const isRefused = async () => (await healthOf(bench.runtime, ['lisbon']))[0]?.state !== 'healthy';
    await until(`${wrong}: messages are refused`, isRefused);
    const during = await seen(bench);
    assert.ok(!during.alerts.some(({ kind }) => kind === 'stream_gap'), JSON.stringify(during.alerts));
    await bench.describe(connector);
    await hasAll(bench, 'lisbon', lisbon);
    await until('green again', async () => !(await seen(bench)).text?.includes('finds nothing'));
    assert.deepEqual((await seen(bench)).alerts, []);
    await node.stop();
  }
});

test('a brand says since when its stream is connected, and when the last message came', async () => {
  const [partner, bench] = await start();
  const before = await healthOf(bench.runtime, ['lisbon', 'london']);
  assert.deepEqual(
    before.map(({ stream }) => stream),
    [1, 2].map(() => ({ connected_since: null, last_message_at: null, problem: null })),
  );
  const node = bench.read();
  await until('the stream is subscribed', async () => partner.stream?.stats.connections === 1);
  partner.hotel.advance(20);
  const london = () => healthOf(bench.runtime, ['london']).then(([one]) => one?.stream);
  await until('the connection is known', async () => (await london())?.last_message_at);
  assert.ok((await london())?.connected_since instanceof Date);
  assert.equal((await london())?.problem, null);
  const { last_message_at } = (await london()) ?? {};
  const shown = integrationRoutes({ runtime: bench.runtime } as Api).find(({ id }) => id === 'integrations.get');
  const answer = await shown?.handle({ params: { integration: 'london' }, query: { hours: 1 } } as never);
  assert.ok(JSON.stringify(answer).includes(`"last_message_at":${JSON.stringify(last_message_at)},"problem":null`));
  const status = await innbound(['status', 'london', '-w', bench.runtime.workspaceDir], { env: bench.env });
  assert.match(status.stdout, /Stream connected since 20.*Z, last message at 20.*Z\./);
  await node.stop();
  assert.equal((await london())?.connected_since, null);
});

test('an answer other than the upgrade is named: a wrong key', async () => {
  const partner = await startPartner();
  const bench = await openStreamBench(partner, connector, 'another-key');
  ends.push(
    () => partner.stop(),
    () => bench.close(),
  );
  const node = bench.read();
  await until('three refused connections', async () => (await bench.state())?.failures >= 3);
  const { state, text, alerts, stream } = await seen(bench);
  assert.equal(state, 'failing');
  assert.match(alerts[0]?.message ?? '', /The answer was: “HTTP 400 instead of a WebSocket”\. Check stream\.key/);
  assert.ok(text?.includes('HTTP 400'));
  assert.match(stream?.problem ?? '', /HTTP 400/);
  await node.stop();
});

test('a key whose secret is missing is not silence', async () => {
  const partner = await startPartner();
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference as documents write it
  const bench = await openStreamBench(partner, connector, '"${secret:unknown-key}"');
  ends.push(
    () => partner.stop(),
    () => bench.close(),
  );
  const node = bench.read();
  await until('three failures', async () => (await bench.state())?.failures >= 3);
  const { state, text, stream } = await seen(bench);
  assert.equal(state, 'failing');
  assert.match(text ?? '', /refers to a secret that cannot be read/);
  assert.match(stream?.problem ?? '', /refers to a secret that cannot be read/);
  await node.stop();
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
  assert.match(rows[0]?.message, /The answer was: “Cannot query field "newEvnt" on type "Subscription"”/);
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
