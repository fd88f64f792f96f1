import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { signedHeaders } from '../../packages/sender/src/sign.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { createToken } from '../../src/operator/operations/tokens.ts';
import { judgeCauses } from '../../src/operator/operations/watch-once.ts';
import { startService } from '../../src/service.ts';
import { testDatabase } from '../support/database.ts';

const files = {
  'connectors/hotel.yaml': 'connector: hotel\n',
  'integrations/grand.yaml':
    'integration: grand\nconnector: hotel\nbrand_id: LIS01\ntimezone: Europe/Lisbon\npush: { enabled: true }\ndeliver: [lake]\n',
  'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\nreceives: [reservation]\n',
};

/** A node that only receives, and a worker that was killed: its last heartbeat is a minute old. */
describe('no worker runs', () => {
  let node: Awaited<ReturnType<typeof startService>>;
  let dir: string;
  let token: string;
  before(async () => {
    dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-worker-'));
    for (const [file, text] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
      await writeFile(path.join(dir, file), text);
    }
    const env = { DATABASE_URL: (await testDatabase()).url, INNBOUND_LOG_LEVEL: 'silent' };
    node = await startService({ env, workspaceDir: dir, host: '127.0.0.1', port: 0, role: 'web' });
    ({ token } = await createToken(node.runtime, { name: 'a viewer', role: 'viewer', integrations: null, by: 'test' }));
  });
  after(async () => {
    await node.stop();
    await rm(dir, { recursive: true });
  });

  const query = (sql: string) => node.runtime.pool.query(sql);
  const get = async (at: string) => {
    const answer = await fetch(new URL(at, node.url), { headers: { authorization: `Bearer ${token}` } });
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers by name
    return (await answer.json()) as any;
  };
  const startedLongAgo = () => query(`update nodes set started_at = now() - interval '2 minutes'`);
  const worker = `insert into nodes (node, role, url, clock_ahead_ms, stalled, keys) values ('w', 'worker', '', 0, '{}', '{}')`;

  test('a worker that starts, restarts or runs is not missing', async () => {
    // The files before this one may have taken long.
    await query('update nodes set started_at = now()');
    assert.deepEqual(
      await get('/readyz'),
      { status: 'ready', role: 'web', worker: false },
      'this node has only just started',
    );
    await startedLongAgo();
    await query(`insert into marks (name, at) values ('stopped worker', now())`);
    assert.deepEqual(
      await get('/readyz'),
      { status: 'ready', role: 'web', worker: false },
      'the worker stopped a moment ago',
    );
    await query('delete from marks');
    await query(worker);
    assert.deepEqual(await get('/readyz'), { status: 'ready', role: 'web', worker: true });
    await query(`delete from nodes where node = 'w'`);
  });

  test('every place says so: readiness, brands, destinations, overview, alerts and incidents', async () => {
    await startedLongAgo();
    const { url, secret = '' } = await addressFor(node.runtime, 'grand', { rotate: true });
    const event = {
      event: 'reservation.created',
      event_id: 'e1',
      timestamp: new Date().toISOString(),
      brand_id: 'LIS01',
      data: { reservation_id: 'R1' },
    };
    const body = JSON.stringify(event);
    const headers = signedHeaders(secret, Math.floor(Date.now() / 1000), body);
    const sent = await fetch(url, { method: 'POST', body, headers });
    assert.equal(sent.status, 202, await sent.text());
    await judgeCauses(node.runtime);

    assert.deepEqual((await get('/readyz')).warnings, ['operate.no_worker']);
    const overview = await get('/api/v1/overview');
    assert.deepEqual(overview.states, { healthy: 0, new: 0, paused: 0, attention: 0, failing: 1, auth_failed: 0 });
    assert.equal(overview.totals.waiting, 1, 'the event waits');
    const [cause, ...others] = overview.causes;
    assert.deepEqual(others, []);
    assert.equal(cause.title, 'The worker nodes');
    assert.deepEqual([cause.kind, cause.severity, cause.brands], ['role_missing', 'critical', 1]);
    assert.match(cause.message, /No worker node is running: nothing is pulled, processed or delivered/);
    const brand = await get('/api/v1/integrations/grand');
    assert.deepEqual([brand.state, brand.open_alerts], ['failing', 1]);
    assert.equal(brand.findings[0].cause, cause.cause, 'the same cause');
    const { items: destinations } = await get('/api/v1/destinations');
    assert.equal(destinations[0].state, 'failing');
    await query(`insert into outbox (integration, destination, type, id, next_version, last_version, due_at)
                 values ('grand', 'lake', 'reservation', 'R1', 1, 1, now())`);
    const { items: waiting } = await get('/api/v1/deliveries');
    assert.equal(waiting[0].waits_for, 'worker', 'it is not tried now');
    const { items: alerts } = await get('/api/v1/alerts');
    assert.deepEqual(
      alerts.map(({ kind }: { kind: string }) => kind),
      ['role_missing'],
    );
    const incident = await get(`/api/v1/incidents/${cause.incident_id}`);
    assert.match(incident.advice[0], /Start a node with this role/);

    await query(worker);
    await judgeCauses(node.runtime);
    assert.deepEqual(await get('/readyz'), { status: 'ready', role: 'web', worker: true });
    assert.deepEqual((await get('/api/v1/overview')).causes, []);
    assert.deepEqual((await get('/api/v1/destinations')).items[0].state, 'new', 'it has accepted nothing yet');
  });
});
