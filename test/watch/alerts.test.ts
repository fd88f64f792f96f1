import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { openSibling } from '../../src/core/store/db/pool.ts';
import { metricsOf } from '../../src/operator/api/node-metrics.ts';
import { healthOf } from '../../src/operator/operations/health.ts';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { countActivity } from '../../src/operator/store/activity.ts';
import { pruneStore } from '../../src/operator/store/retention.ts';
import { alertsOf } from '../../src/operator/watch/alerts.ts';
import { conditionsOf } from '../../src/operator/watch/conditions.ts';
import { type Facts, noFacts } from '../../src/operator/watch/facts.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

/** What the outgoing webhook received. */
const received: { type: string; alert: { kind: string; integration: string; subject: string } }[] = [];
let refuses = false;
const receiver = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', () => {
    if (!refuses) received.push(JSON.parse(text));
    response.writeHead(refuses ? 500 : 204).end();
  });
});

let node: ApiNode;
before(async () => {
  await new Promise<void>((ready) => receiver.listen(0, '127.0.0.1', ready));
  const { port } = receiver.address() as AddressInfo;
  node = await apiNode(`alerts: { webhook: "http://127.0.0.1:${port}/alerts" }\n`);
});
after(async () => {
  await node.stop();
  receiver.close();
});

const query = (sql: string) => node.runtime.pool.query(sql);
const open = async () =>
  (await query('select kind, integration, subject from alerts where resolved_at is null order by kind')).rows;
const run = (state: string, id: string) =>
  query(`insert into runs (integration, run_id, sync, kind, state, requested_by, finished_at, error_code)
         values ('grand', '${id}', 'stay', 'scheduled', '${state}', 'test', now(), 'pull.wrong_total')`);

test('an alert is raised once, stays while its condition holds, resolves by itself, and the webhook gets both', async () => {
  await watchOnce(node.runtime);
  assert.deepEqual(await open(), []);
  await run('incomplete', 'run_1');
  await query(
    `insert into partner_accounts (integration, auth_failed_at, auth_message) values ('other', now(), 'expired')`,
  );
  await query(`insert into remotes (kind, name, state, failures) values ('partner', 'http://127.0.0.1:1', 'open', 5)`);
  await watchOnce(node.runtime);
  await watchOnce(node.runtime);
  assert.deepEqual(await open(), [
    { kind: 'auth_failed', integration: 'other', subject: '' },
    { kind: 'breaker_open', integration: 'grand', subject: 'http://127.0.0.1:1' },
    { kind: 'run_incomplete', integration: 'grand', subject: 'stay' },
  ]);
  assert.deepEqual(received.map(({ type, alert }) => `${type} ${alert.kind}`).sort(), [
    'alert.raised auth_failed',
    'alert.raised breaker_open',
    'alert.raised run_incomplete',
  ]);
  received.length = 0;
  await run('complete', 'run_2');
  await query(`update partner_accounts set auth_failed_at = null`);
  await query(`update remotes set state = 'closed'`);
  await watchOnce(node.runtime);
  assert.deepEqual(await open(), []);
  assert.equal(received.filter(({ type }) => type === 'alert.resolved').length, 3);
});

test('a look at all conditions and a scrape of the metrics take one connection each', async () => {
  const { pool } = node.runtime;
  let taken = 0;
  let most = 0;
  const onAcquire = () => {
    taken += 1;
    most = Math.max(most, taken);
  };
  const onRelease = () => {
    taken -= 1;
  };
  pool.on('acquire', onAcquire).on('release', onRelease);
  await watchOnce(node.runtime);
  await metricsOf(node.runtime).text();
  pool.off('acquire', onAcquire).off('release', onRelease);
  // The clock of the node may be compared meanwhile.
  assert.ok(most <= 2, `${most} connections at once`);
});

test('an alert that the webhook refuses is sent again later', async () => {
  received.length = 0;
  refuses = true;
  await run('failed', 'run_3');
  await watchOnce(node.runtime);
  assert.equal(received.length, 0);
  refuses = false;
  await watchOnce(node.runtime);
  assert.equal(received.length, 0, 'not before its time');
  await query('update alert_sends set due_at = now() where due_at is not null');
  await watchOnce(node.runtime);
  assert.deepEqual(
    received.map(({ alert }) => alert.kind),
    ['run_failed'],
  );
  await watchOnce(node.runtime);
  assert.equal(received.length, 1);
});

test('a feed that falls silent against its habit raises an alert, and an event resolves it', async () => {
  const event = (seq: number, ago: string) =>
    query(`insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body_hash, state)
           values ('grand', ${seq}, 'ep', 'e${seq}', 'reservation.updated', now() - interval '${ago}', now() - interval '${ago}', '', 'done')`);
  await event(1, '3 hours');
  await query(`insert into activity (integration, step, at, events)
    select 'grand', '1h', h, 20 from generate_series(date_trunc('hour', now()) - interval '27 days', now() - interval '4 hours', interval '1 hour') as h`);
  await watchOnce(node.runtime);
  const silent = async () => (await open()).filter(({ kind }) => kind === 'feed_silent');
  assert.deepEqual(await silent(), [{ kind: 'feed_silent', integration: 'grand', subject: 'push' }]);
  await event(2, '1 minute');
  await watchOnce(node.runtime);
  assert.deepEqual(await silent(), []);
});

const alertsFor = (facts: Partial<Facts>) => alertsOf(conditionsOf({ ...noFacts, ...facts }), facts.shared ?? []);
const kinds = (facts: Partial<Facts>) => alertsFor(facts).map(({ kind }) => kind);
const calm = { paused: false, retrying: 0, last_failure: null, delivered_since: false };

const untimely = (integration: string, since = 4) => ({
  ...{ integration, count: 4, code: 'push.unauthorized', reason: 'timestamp_old', since },
  ...{ lately: 4, acceptedLately: 4, everAccepted: since === 0 },
});

test('each threshold, from both sides', () => {
  const growth = (last_hour: number, usual: number, open = last_hour) =>
    kinds({ deadLetters: [{ integration: 'grand', last_hour, usual, open }] });
  assert.deepEqual([growth(9, 0), growth(10, 1), growth(30, 20)], [[], ['dead_letters_growing'], []]);
  assert.deepEqual([growth(40, 0, 0), growth(40, 0, 9)], [[], []], 'most were replayed');
  const skew = (ahead: number, taken: number) => kinds({ skews: [{ integration: 'grand', ahead, taken }] });
  assert.deepEqual([skew(2, 2), skew(5, 9), skew(4, 9)], [[], ['clock_skew'], []]);
  const wrongClock = alertsFor({
    refusals: [untimely('grand')],
    skews: [{ integration: 'grand', ahead: 9, taken: 9 }],
  });
  assert.deepEqual(
    wrongClock.map(({ kind }) => kind),
    ['clock_skew'],
    'said once',
  );
  assert.match(wrongClock[0]?.message ?? '', /4 webhooks were refused.*ask the partner to synchronize it/);
  const late = (late_ms: number) =>
    kinds({ lanes: [{ ...calm, integration: 'grand', destination: 'crm', waiting: 1, late_ms }] });
  assert.deepEqual([late(899_999), late(900_000)], [[], ['deliveries_behind']]);
  assert.deepEqual(kinds({ broken: [{ document: 'connector x', message: 'y' }] }), ['document_broken']);
});

test('one cause is one alert, however many brands it concerns', () => {
  const brands = Array.from({ length: 10_000 }, (_, i) => `brand-${i}`);
  const api = 'https://pms.example';
  const down: Partial<Facts> = {
    partnerCircuits: [{ api, integrations: brands, last_failure: '503' }],
    runs: brands.map((integration) => ({
      integration,
      sync: 'stay',
      state: 'failed',
      run_id: 'r',
      error_code: 'pull.server_error',
    })),
    feeds: brands.map((integration) => ({
      integration,
      feed: 'pull' as const,
      judgement: { silent: true, silentMs: 9_000_000, expected: 12 },
    })),
  };
  const found = alertsFor(down);
  assert.deepEqual(
    found.map(({ kind, integration, subject, brands: shared }) => ({
      kind,
      integration,
      subject,
      brands: shared?.length,
    })),
    [{ kind: 'breaker_open', integration: '', subject: api, brands: 10_000 }],
  );
  assert.ok(JSON.stringify(found.map(({ message, detail }) => ({ message, detail }))).length < 2_000);

  const run = (integration: string, error_code: string) => ({
    integration,
    sync: 'stay',
    state: 'failed',
    run_id: 'r',
    error_code,
  });
  // A separate cause stays a separate alert.
  assert.deepEqual(kinds({ ...down, runs: [run('brand-7', 'pull.forbidden')] }), ['breaker_open', 'run_failed']);
  // Without an open circuit, many brands with the same problem are one alert, and a few are named.
  const same = alertsFor({ runs: brands.slice(0, 20).map((name) => run(name, 'pull.tls')) });
  assert.deepEqual(
    same.map(({ integration, detail }) => [integration, detail.brands]),
    [['', 20]],
  );
  // Two causes with many brands each are two alerts: the store keeps one open alert for each kind, integration and subject.
  const two = alertsFor({
    runs: brands.slice(0, 45).map((name, i) => run(name, i < 20 ? 'pull.tls' : 'pull.forbidden')),
  });
  assert.deepEqual(
    two.map(({ integration, subject, detail }) => [integration, subject, detail.brands]),
    [
      ['', 'stay pull.tls', 20],
      ['', 'stay pull.forbidden', 25],
    ],
  );
  // One kind of alert with two severities is one alert, with the worse one.
  const refusals = brands.slice(0, 60).map((name, i) => ({ ...untimely(name, i < 25 ? 0 : 4), acceptedLately: 9 }));
  assert.deepEqual(
    alertsFor({ refusals }).map(({ severity, subject, detail }) => [severity, subject, detail.brands]),
    [['critical', 'push.unauthorized', 60]],
  );
  const few = alertsFor({ runs: brands.slice(0, 19).map((name) => run(name, 'pull.tls')) });
  assert.equal(few.length, 19);
  const broken = brands.map((name) => ({
    document: `integration ${name}`,
    message: 'its connector x is not in force',
  }));
  assert.equal(alertsFor({ broken }).length, 1);
  const lane = { ...calm, destination: 'crm', waiting: 5, late_ms: 3_600_000 };
  const lanes = brands.map((integration) => ({ ...lane, integration }));
  const failing = lanes.map((one, i) => (i < 2 ? { ...one, retrying: 3, last_failure: '503' } : one));
  const [down503] = alertsFor({ lanes: failing });
  assert.equal(down503?.message, 'crm is failing: 503. 10 changes of 2 brands are waiting.');
  assert.deepEqual(kinds({ lanes: failing }), ['destination_failing']);
  assert.deepEqual(kinds({ lanes }), ['deliveries_behind']);
});

test('an alert that many brands share is in the health of each of them, without the names of the others', async () => {
  const skewed = async () => {
    const [health] = await healthOf(node.runtime, ['grand']);
    return health?.findings
      .filter(({ kind }) => kind === 'clock_skew')
      .map(({ state, message }) => ({ state, message }));
  };
  assert.deepEqual(await skewed(), []);
  await query(`insert into events (integration, seq, endpoint_id, event_id, event, occurred_at, received_at, body_hash, state)
    select name, 100 + n, 'ahead', name || '.' || n, 'reservation.updated', now() + interval '2 minutes', now(), '', 'done'
      from unnest(array['grand'] || array(select 'a-' || n from generate_series(1, 24) n)) as name, generate_series(1, 60) n`);
  await watchOnce(node.runtime);
  assert.deepEqual(
    (await open()).filter(({ kind }) => kind === 'clock_skew'),
    [{ kind: 'clock_skew', integration: '', subject: '' }],
  );
  assert.deepEqual(await skewed(), [
    { state: 'attention', message: 'An alert is open for 25 brands at once: clock skew.' },
  ]);
  const listed = async (integration: string) => {
    const { body } = await node.call('GET', '/alerts', await node.token('viewer', [integration]));
    return body.items.filter(({ kind }: { kind: string }) => kind === 'clock_skew');
  };
  const [shared] = await listed('grand');
  assert.equal(shared.message, 'An alert is open for 25 brands at once: clock skew.');
  assert.deepEqual(shared.detail, { brands: 25 });
  assert.deepEqual(await listed('other'), []);
  await query(`delete from events where endpoint_id = 'ahead' and integration = 'grand'`);
  await watchOnce(node.runtime);
  assert.deepEqual(await skewed(), []);
  const alerts = async () => (await open()).filter(({ kind }) => kind === 'clock_skew').length;
  const leave = (brands: number) =>
    query(`delete from events where integration in (select 'a-' || n from generate_series(${brands + 1}, 24) n)`);
  await leave(15);
  await watchOnce(node.runtime);
  assert.equal(await alerts(), 1, 'far from few: still one');
  await leave(9);
  await watchOnce(node.runtime);
  assert.equal(await alerts(), 9);
  await query(`delete from events where endpoint_id = 'ahead'`);
  await watchOnce(node.runtime);
});

const day = 86_400_000;
const kept = { rawMs: 30 * day, deadLettersMs: 90 * day, runsMs: 90 * day, auditMs: 400 * day, historyMs: 400 * day };

test('deletes what is past its retention, but never the newest state or open work', async () => {
  await node.take('other', reservation('OLD'), { id: 'DEAD' });
  await query(`update history set at = at - interval '31 days'`);
  await query(
    `insert into sightings values ('other', now() - interval '8 days', 'r', '{OLD}'), ('other', now(), 'r', '{OLD}')`,
  );
  await query(
    `update runs set queued_at = queued_at - interval '91 days', finished_at = finished_at - interval '91 days'`,
  );
  await query(`insert into audit (at, actor, action) values (now() - interval '401 days', 'x', 'y')`);
  await query(`insert into drift (integration, field, value, first_at, last_at) values
    ('other', 'status', 'once', now() - interval '31 days', now() - interval '31 days'),
    ('other', 'status', 'still', now() - interval '31 days', now())`);
  const forgotten = await pruneStore(node.runtime.pool, kept);
  assert.equal(forgotten.raw_payloads, 2);
  assert.deepEqual((await query(`select value from drift where field = 'status'`)).rows, [{ value: 'still' }]);
  assert.equal(forgotten.sightings, 1);
  assert.equal(forgotten.runs, 3);
  assert.equal(forgotten.audit, 1);
  assert.equal(forgotten.dead_letters, 0);
  const { rows } = await query(`select (select count(*)::int from records where version > 0) as records,
    (select count(*)::int from dead_letters) as dead, (select count(*)::int from outbox where due_at is not null) as waiting`);
  assert.deepEqual(rows, [{ records: 1, dead: 1, waiting: 2 }]);
  assert.ok((await countActivity(node.runtime.pool)) >= 0);
});

test('retention does not read runs that it keeps', async () => {
  await query(`insert into runs (integration, run_id, sync, kind, state, requested_by, queued_at, finished_at)
               select 'grand', 'run_' || n, 'stay', 'scheduled', 'complete', 'test', now(), now() from generate_series(1, 20000) n`);
  await query('analyze runs');
  const one = openSibling(node.runtime.pool, { applicationName: 'test', maxConnections: 1 });
  const read = async () => {
    await one.query('select pg_stat_force_next_flush()');
    const { rows } = await one.query<{ read: number }>(
      `select seq_tup_read + coalesce(idx_tup_fetch, 0) as read from pg_stat_user_tables where relname = 'runs'`,
    );
    return rows[0]?.read ?? 0;
  };
  try {
    const before = await read();
    await pruneStore(one, kept);
    const rows = (await read()) - before;
    assert.ok(rows < 1_000, `${rows} runs were read`);
  } finally {
    await one.end();
  }
});
