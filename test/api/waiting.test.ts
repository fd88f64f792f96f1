import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, beforeEach, describe, test } from 'node:test';
import { startDue } from '../../src/core/store/runs/schedules.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from './node.ts';

/** Whatever waits can be tried now, and a corrected address or credential frees what waits for it. */
describe('what waits', () => {
  let node: ApiNode;
  let admin: string;
  let accepts = false;
  const asked: string[] = [];
  const partner = createServer((request, response) => {
    asked.push(request.headers.authorization ?? '');
    response.writeHead(accepts ? 200 : 401, { 'content-type': 'application/json' });
    response.end(accepts ? '{"reservations":[]}' : '{"error":"unknown key"}');
  });
  const grand = (base: string) => `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
pull:
  base_url: ${base}
  auth: { type: bearer, token: "\${secret:grand-token}" }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +7d] }
deliver: [lake]
`;
  const away = 'http://127.0.0.1:1';
  let here: string;

  before(async () => {
    await new Promise<void>((ready) => partner.listen(0, '127.0.0.1', ready));
    here = `http://127.0.0.1:${(partner.address() as AddressInfo).port}`;
    node = await apiNode('', { 'integrations/grand.yaml': grand(away), 'connectors/hotel.yaml': hotelConnector() });
    admin = await node.token('admin');
    await put('first');
  });
  after(async () => {
    partner.close();
    await node.stop();
  });
  beforeEach(async () => {
    accepts = false;
    await query('delete from runs');
    await query('delete from remotes');
    await query('delete from partner_accounts');
    await query('delete from syncs');
    await query(
      `insert into syncs (integration, sync, every_ms, phase_ms, next_at) values ('grand', 'pre_stay', 900000, 0, now() + interval '14 minutes')`,
    );
  });

  const query = (sql: string, values: unknown[] = []) => node.runtime.pool.query(sql, values);
  const post = (at: string, body = {}) => node.call('POST', at, admin, body);
  const put = (value: string) => node.call('PUT', '/secrets/grand-token', admin, { value });
  const apply = async (base: string) => {
    const { version } = (await node.call('GET', '/documents/integration/grand', admin)).body;
    const put = { text: grand(base), replaces: version };
    assert.equal((await node.call('PUT', '/documents/integration/grand', admin, put)).status, 200);
  };
  const waitingRun = (waiting: string) =>
    query(
      `insert into runs (integration, run_id, sync, kind, state, requested_by, waiting, due_at)
       values ('grand', 'run_1', 'pre_stay', 'scheduled', 'queued', 'schedule', $1, now() + interval '15 minutes')`,
      [waiting],
    );
  const openCircuit = (name: string, kind = 'partner') =>
    query(
      `insert into remotes (kind, name, state, failures, away, last_failure, opened_at, probe_at)
       values ($1, $2, 'open', 5, true, 'pull.server_error', now(), now() + interval '15 minutes')`,
      [kind, name],
    );
  const refuseCredentials = () =>
    query(
      `insert into partner_accounts (integration, auth_failed_at, auth_failed_version, auth_message)
       select 'grand', now(), version, 'It answered 401.' from documents where kind = 'integration' and name = 'grand' and in_force`,
    );
  const isDue = async (table: 'runs' | 'syncs') => {
    const column = table === 'runs' ? 'due_at' : 'next_at';
    return (await query(`select from ${table} where integration = 'grand' and ${column} <= now()`)).rowCount === 1;
  };
  const state = async () => (await node.call('GET', '/integrations/grand', admin)).body;

  test('a changed address frees the runs that wait for the old one', async () => {
    for (const waiting of ['breaker', 'backoff', 'retry_after']) {
      await query('delete from runs');
      await waitingRun(waiting);
      await query(`insert into partner_accounts (integration, retry_at) values ('grand', now() + interval '1 hour')
                   on conflict (integration) do update set retry_at = excluded.retry_at`);
      await openCircuit(away).catch(() => {});
      await apply(`${here}/${waiting}`);
      assert.ok(await isDue('runs'), waiting);
      assert.equal((await query('select from partner_accounts where retry_at > now()')).rowCount, 0);
      await apply(away);
    }
  });

  test('a corrected credential ends the pause and starts the sync at once, not in 14 minutes', async () => {
    await refuseCredentials();
    assert.equal((await state()).state, 'auth_failed');
    await put('second');
    assert.notEqual((await state()).state, 'auth_failed');
    assert.ok(await isDue('syncs'));
  });

  test('a pause by an operator outlives a changed document', async () => {
    await post('/integrations/grand/pause');
    await apply(here);
    assert.equal((await state()).paused, true);
  });

  test('Test and resume: what the partner still refuses stays paused, with its answer; what works starts now', async () => {
    await apply(here);
    await query('delete from syncs');
    await query(
      `insert into syncs (integration, sync, every_ms, phase_ms, next_at) values ('grand', 'pre_stay', 900000, 0, now() + interval '14 minutes')`,
    );
    await refuseCredentials();
    await openCircuit(here);
    const refused = await post('/integrations/grand/resume', { test: true });
    assert.equal(refused.status, 409);
    assert.equal(refused.body.code, 'pull.auth_failed');
    assert.equal((await state()).state, 'auth_failed');
    accepts = true;
    const resumed = await post('/integrations/grand/resume', { test: true });
    assert.equal(resumed.status, 200, JSON.stringify(resumed.body));
    assert.equal((await state()).paused, false);
    assert.ok(await isDue('syncs'));
    assert.equal(asked.at(-1), 'Bearer second');
    await apply(away);
  });

  test('Try now: the circuit of a partner is probed at once and its runs are due', async () => {
    await openCircuit(away);
    await waitingRun('breaker');
    assert.deepEqual((await post('/integrations/grand/try-now')).body, { runs: 1 });
    assert.ok(await isDue('runs'));
    assert.equal((await query('select from remotes where probe_at <= now()')).rowCount, 1);
    assert.equal((await post('/integrations/nowhere/try-now')).status, 404);
  });

  test('Try now, and a new credential: a sync that failed last starts again at once', async () => {
    const lastRun = (state: string, ago: string) =>
      query(
        `insert into runs (integration, run_id, sync, kind, state, requested_by, queued_at, error_code, finished_at)
         values ('grand', $1, 'pre_stay', 'scheduled', $1, 'schedule', now() - $2::interval, 'documents.secret_missing', now())`,
        [state, ago],
      );
    await lastRun('failed', '1 hour');
    assert.deepEqual((await post('/integrations/grand/try-now')).body, { runs: 1 });
    assert.ok(await isDue('syncs'));
    await query(`update syncs set next_at = now() + interval '14 minutes'`);
    await put('third');
    assert.ok(await isDue('syncs'));
    await query(`update syncs set next_at = now() + interval '14 minutes'`);
    await lastRun('complete', '1 minute');
    assert.deepEqual((await post('/integrations/grand/try-now')).body, { runs: 0 });
  });

  test('Try now: a destination is probed at once, and retries do not wait', async () => {
    await node.take('grand', reservation('W1'));
    await openCircuit('lake', 'destination');
    await query(`update remotes set paused_until = now() + interval '1 hour'`);
    await query(`update outbox set attempt = 3, due_at = now() + interval '1 hour' where destination = 'lake'`);
    assert.equal((await post('/destinations/lake/try-now')).status, 200);
    assert.equal((await query(`select from outbox where destination = 'lake' and due_at > now()`)).rowCount, 0);
    assert.equal((await query('select from remotes where probe_at <= now() and paused_until is null')).rowCount, 1);
    assert.equal((await post('/destinations/nowhere/try-now')).status, 404);
    const other = await node.token('operator', ['nobody']);
    assert.equal((await node.call('POST', '/destinations/lake/try-now', other, {})).status, 404);
  });

  test('a changed document of a destination frees its retries', async () => {
    await query(`update outbox set attempt = 3, due_at = now() + interval '1 hour' where destination = 'lake'`);
    const { version } = (await node.call('GET', '/documents/destination/lake', admin)).body;
    const text = 'destination: lake\ntype: files\npath: elsewhere\nreceives: [reservation, guest]\n';
    await node.call('PUT', '/documents/destination/lake', admin, { text, replaces: version });
    assert.equal((await query(`select from outbox where destination = 'lake' and due_at > now()`)).rowCount, 0);
  });

  test('a start that a pause prevented is not counted as one that found a run still active', async () => {
    const { pool } = node.runtime;
    const skipped = async () => (await query('select skipped from syncs')).rows[0].skipped;
    await refuseCredentials();
    await query('update syncs set next_at = now()');
    assert.deepEqual(await startDue(pool, 10), { started: 0, seen: 1 });
    assert.equal(await skipped(), 0);
    await query('delete from partner_accounts');
    await waitingRun('backoff');
    await query('update syncs set next_at = now()');
    await startDue(pool, 10);
    assert.equal(await skipped(), 1);
  });
});
