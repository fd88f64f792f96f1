import assert from 'node:assert/strict';
import { test } from 'node:test';
import { executeRun } from '../../../src/core/intake/pull/run/execution.ts';
import { openPartnerStore } from '../../../src/core/store/runs/partner-accounts.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { jumpingClock } from './support/clock.ts';
import { bookings, type Reply } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { setUpPulls } from './support/set-up.ts';

const { runtime, partnerOf } = setUpPulls();

const day = { from: '2026-03-01', to: '2026-03-01' };
const list: Reply = { json: { reservations: bookings(3, '2026-03-01') } };
const none = { pull: { pagination: { type: 'none' } } };
const asking = { rate: undefined, hasWaited: false, mostMs: 30_000 };

test('five failures in a row open the circuit for all; a manual sync reports it without a request', async () => {
  let broken = true;
  const partner = await partnerOf(() => (broken ? { status: 500, json: {} } : list));
  const one = runtime.ports({ integration: 'b1', baseUrl: partner.url, connector: none });
  const two = runtime.ports({ integration: 'b2', baseUrl: partner.url, connector: none });
  assert.equal((await sync(one, 'b1', day)).error?.code, 'pull.server_error');
  assert.equal(partner.requests.length, 5);
  const refused = await sync(two, 'b2', day);
  assert.equal(refused.error?.code, 'pull.breaker_open');
  assert.match(refused.error?.message ?? '', /again in (60|5\d) s/);
  assert.equal(partner.requests.length, 5, 'no request was sent while the circuit was open');
  broken = false;
  await runtime.pool.query(`update remotes set probe_at = now() where name = $1`, [partner.url]);
  assert.equal((await sync(two, 'b2', day)).state, 'complete');
  const { rows } = await runtime.pool.query('select state, failures from remotes where name = $1', [partner.url]);
  assert.deepEqual(rows[0], { state: 'closed', failures: 0 });
});

test('one probe at a time over all nodes; a failed probe doubles the cooldown, up to 15 minutes', async () => {
  const store = openPartnerStore(runtime.pool);
  const api = 'https://probe.example';
  for (let i = 0; i < 5; i++) await store.failed(api, 60_000, 'down');
  const integration = 'probing' as IntegrationName;
  const waits: number[] = [];
  for (let i = 0; i < 6; i++) {
    const closed = await store.admit(api, integration, asking);
    assert.ok(closed.kind === 'wait' && closed.reason === 'breaker');
    waits.push(Math.round(closed.ms / 1000));
    await runtime.pool.query('update remotes set probe_at = now() where name = $1', [api]);
    const admitted = await Promise.all(Array.from({ length: 8 }, () => store.admit(api, integration, asking)));
    assert.equal(admitted.filter(({ kind }) => kind === 'go').length, 1);
    await store.failed(api, 60_000, 'still down');
  }
  assert.deepEqual(waits, [60, 120, 240, 480, 900, 900]);
});

test('refusals and 429 do not count as failures and reset the count', async () => {
  const store = openPartnerStore(runtime.pool);
  const api = 'https://row.example';
  const integration = 'row' as IntegrationName;
  for (let i = 0; i < 4; i++) await store.failed(api, 60_000, 'down');
  await store.succeeded(api);
  for (let i = 0; i < 4; i++) await store.failed(api, 60_000, 'down');
  assert.deepEqual(await store.admit(api, integration, asking), { kind: 'go', clean: false });
  const partner = await partnerOf(() => ({ status: 422, json: {} }));
  for (let i = 0; i < 7; i++) {
    const ports = runtime.ports({ integration: 'refused', baseUrl: partner.url, connector: none });
    assert.equal((await sync(ports, 'refused', day)).error?.code, 'pull.refused');
  }
  assert.equal(partner.requests.length, 7);
});

test('Retry-After survives the process: the next run waits for the rest of it', async () => {
  let limited = true;
  const partner = await partnerOf(() =>
    limited ? { status: 429, headers: { 'retry-after': '120' }, json: {} } : list,
  );
  const documents = { integration: 'later', baseUrl: partner.url, connector: none };
  const first = runtime.ports(documents, { node: 'first' });
  const queued = await first.runs.queue(
    { integration: 'later' as IntegrationName, kind: 'backfill', requestedBy: 'test', ...day },
    { node: 'first', leaseMs: 60_000 },
  );
  assert.ok(queued.kind === 'queued');
  const parked = await executeRun(first, queued.run, { parkable: true });
  assert.deepEqual(parked, { kind: 'parked', ms: 120_000, reason: 'retry_after' });
  assert.equal(partner.requests.length, 1);
  const { rows } = await runtime.pool.query<{ state: string; waiting: string; ms: number }>(
    `select state, waiting, extract(epoch from due_at - now())::float8 * 1000 as ms from runs where run_id = $1`,
    [queued.run.runId],
  );
  assert.deepEqual([rows[0]?.state, rows[0]?.waiting], ['queued', 'retry_after']);
  assert.ok((rows[0]?.ms ?? 0) > 110_000, 'no node claims it before its time');
  assert.equal((await first.runs.claimDue(1, 'other', 60_000))[0], undefined);

  limited = false;
  const clock = jumpingClock();
  const second = runtime.ports(documents, { node: 'second', clock });
  const result = await sync(second, 'later', day);
  assert.equal(result.state, 'complete');
  assert.ok((clock.waits[0] ?? 0) > 100_000, JSON.stringify(clock.waits));
});

/** Executes a run as nodes do, one after the other: each time it is parked, the wait is over at once. */
async function workedOn(name: string, baseUrl: string, connector: Record<string, unknown>) {
  const integration = name as IntegrationName;
  const ports = runtime.ports({ integration: name, baseUrl, connector });
  const queued = await ports.runs.queue({ integration, kind: 'backfill', requestedBy: 'test', ...day });
  assert.ok(queued.kind === 'queued');
  for (let parked = 0; ; parked++) {
    const run = await ports.runs.claim(integration, queued.run.runId, `node ${parked}`, 60_000);
    assert.ok(run);
    const outcome = await executeRun(ports, run, { parkable: true });
    if (outcome.kind === 'finished') return { parked, end: outcome.end, counters: outcome.counters };
    assert.equal(outcome.kind, 'parked');
    await runtime.pool.query('update partner_accounts set retry_at = null where integration = $1', [name]);
  }
}

const comeBack = (seconds: number): Reply => ({ status: 429, headers: { 'retry-after': `${seconds}` }, json: {} });

test('a run ends after ten waits for a partner that keeps answering 429, parked or not', async () => {
  const hourly = await partnerOf(() => comeBack(3_600));
  const slow = await workedOn('hourly', hourly.url, none);
  assert.deepEqual([slow.end.state, slow.end.code, slow.parked], ['failed', 'pull.rate_limited', 6]);
  assert.match(slow.end.message ?? '', /no page after waiting 6 hours/);
  const minutely = await partnerOf(() => comeBack(60));
  const quick = await workedOn('minutely', minutely.url, none);
  assert.deepEqual([quick.end.state, quick.end.code, quick.parked], ['failed', 'pull.rate_limited', 10]);
  assert.equal(minutely.requests.length, 11, 'ten waits in a row, on whichever node');
});

test('waits count against one page only: a slow backfill continues', async () => {
  const book = bookings(75, '2026-03-01', 100);
  const refused = new Set<string>();
  const partner = await partnerOf(({ pathQuery, query }) => {
    if (!refused.has(pathQuery)) {
      refused.add(pathQuery);
      return comeBack(3_600);
    }
    const at = Number(query.get('cursor') ?? 0);
    return { json: { reservations: book.slice(at, at + 10), next_cursor: at + 10 < book.length ? at + 10 : null } };
  });
  const paging = { pagination: { type: 'cursor', next: 'next_cursor', cursor: 'query.cursor' } };
  const { parked, end, counters } = await workedOn('long', partner.url, { pull: paging });
  assert.deepEqual([end.state, parked, counters.fetched], ['complete', 8, 75]);
  assert.equal(counters.waitedMs, 8 * 3_600_000);
});

test('our own rate is kept over all nodes: a burst, then evenly', async () => {
  const store = openPartnerStore(runtime.pool);
  const api = 'https://rate.example';
  // One request per 1,000 seconds: the time that the calls take does not matter.
  const rate = { everyMs: 1_000_000, burst: 3 };
  const patient = { ...asking, rate, mostMs: 60_000_000 };
  const admitted = await Promise.all(
    Array.from({ length: 8 }, (_, i) => store.admit(api, `rated${i}` as IntegrationName, patient)),
  );
  const waits = admitted.map((one) => (one.kind === 'go' ? 0 : one.ms)).sort((a, b) => a - b);
  assert.deepEqual(waits.slice(0, 3), [0, 0, 0]);
  assert.deepEqual(
    waits.slice(3).map((ms) => Math.round(ms / 1_000_000)),
    [1, 2, 3, 4, 5],
  );
  const far = await store.admit(api, 'rated' as IntegrationName, { ...asking, rate, mostMs: 2_000_000 });
  assert.ok(far.kind === 'wait' && far.ms > 2_000_000);
  const again = await store.admit(api, 'rated' as IntegrationName, { ...asking, rate, mostMs: 2_000_000 });
  assert.ok(again.kind === 'wait' && again.ms <= far.ms, 'a slot that is too far away is not reserved');
});

test('a rate in the documents spaces the requests of a run', async () => {
  const partner = await partnerOf(() => list);
  const clock = jumpingClock();
  const ports = runtime.ports(
    {
      integration: 'paced',
      baseUrl: partner.url,
      connector: none,
      pull: { rate: { requests: 1, per: '10s', burst: 1 } },
    },
    { clock },
  );
  const result = await sync(ports, 'paced', { from: '2026-03-01', to: '2026-03-21' });
  assert.equal(result.state, 'complete');
  assert.equal(partner.requests.length, 3);
  assert.equal(clock.waits.length, 2);
  assert.ok(
    clock.waits.every((ms) => ms > 5_000),
    JSON.stringify(clock.waits),
  );
});

test('a manual sync does not change the parked run of the service while the circuit is open', async () => {
  let broken = true;
  const partner = await partnerOf(() => (broken ? { status: 500, json: {} } : list));
  const other = runtime.ports({ integration: 'opens', baseUrl: partner.url, connector: none });
  await sync(other, 'opens', day);
  const ports = runtime.ports({ integration: 'parked', baseUrl: partner.url, connector: none });
  const integration = 'parked' as IntegrationName;
  const queued = await ports.runs.queue(
    { integration, kind: 'backfill', requestedBy: 'schedule', ...day },
    { node: 'service', leaseMs: 60_000 },
  );
  assert.ok(queued.kind === 'queued');
  assert.equal((await executeRun(ports, queued.run, { parkable: true })).kind, 'parked');
  const before = partner.requests.length;

  const refused = await sync(ports, 'parked', day);
  assert.deepEqual([refused.state, refused.error?.code], ['failed', 'pull.breaker_open']);
  assert.equal(refused.runId, queued.run.runId);
  assert.equal(partner.requests.length, before, 'no request was sent');
  assert.deepEqual(await stateOf(queued.run.runId), { state: 'queued', waiting: 'breaker', error_code: null });

  const missing = { kind: 'unavailable', code: 'documents.secret_missing', message: 'needs a secret' } as const;
  const lacking = { ...ports, plan: async () => missing };
  await assert.rejects(sync(lacking, 'parked', day), { code: 'documents.secret_missing' });
  assert.deepEqual(await stateOf(queued.run.runId), { state: 'queued', waiting: 'breaker', error_code: null });
  await assert.rejects(sync(lacking, 'parked', { sync: 'pre_stay' }), { code: 'documents.secret_missing' });
  const { rows } = await runtime.pool.query('select run_id from runs where integration = $1', ['parked']);
  assert.deepEqual(rows, [{ run_id: queued.run.runId }], 'a sync that cannot start records no run');

  broken = false;
  await runtime.pool.query('update remotes set probe_at = now() where name = $1', [partner.url]);
  const done = await sync(ports, 'parked', day);
  assert.deepEqual([done.runId, done.state], [queued.run.runId, 'complete']);
});

async function stateOf(runId: string): Promise<unknown> {
  const { rows } = await runtime.pool.query('select state, waiting, error_code from runs where run_id = $1', [runId]);
  return rows[0];
}
