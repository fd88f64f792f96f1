import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { readyDestination } from '../../../src/composition/deliver.ts';
import { startRun } from '../../../src/composition/pull.ts';
import { loadDestinationTypes } from '../../../src/core/deliver/destinations.ts';
import { type Clock, systemClock, type Timers } from '../../../src/kit/clock.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { watchOnce } from '../../../src/operator/operations/watch-once.ts';
import { listAlerts } from '../../../src/operator/store/alerts.ts';
import { type Role, type Service, startService } from '../../../src/service.ts';
import type { DestinationName } from '../../../src/terms.ts';
import { testDatabase } from '../../support/database.ts';
import { until } from '../../support/process.ts';
import { brandId, eventBody, integration, postEvent, reservationData } from './support.ts';

/** Nodes whose wall clocks are wrong, over one database: order does not depend on the clock of a node. */

const minute = 60_000;
const wrongBy = (ms: number): Clock & Timers => ({ ...systemClock, now: () => Date.now() + ms });
const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-clocks-'));
/** The check-out that the partner's API states now; undefined while it lists no reservation. */
let pulledCheckOut: string | undefined;
const partner = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  const reservations = pulledCheckOut === undefined ? [] : [reservationData({ check_out: pulledCheckOut })];
  response.end(JSON.stringify({ reservations }));
});
const services: Service[] = [];
let endpoint: { endpoint_id: string; secret?: string };

const env: NodeJS.ProcessEnv = { INNBOUND_LOG_LEVEL: 'silent' };

async function node(role: Role, wrongByMs: number): Promise<Service> {
  const service = await startService({
    env,
    workspaceDir: dir,
    host: '127.0.0.1',
    port: 0,
    role,
    nodeClock: wrongBy(wrongByMs),
  });
  services.push(service);
  return service;
}

before(async () => {
  partner.listen(0, '127.0.0.1');
  await once(partner, 'listening');
  const files = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/acme-pms.yaml': `connector: acme-pms
pull:
  request: { method: GET, path: /reservations, query: { from: "{window.from}", to: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
map: { id: reservation_id, rooms: { from: stays } }
`,
    [`integrations/${integration}.yaml`]: `integration: ${integration}
connector: acme-pms
brand_id: ${brandId}
timezone: Europe/Lisbon
pull:
  base_url: http://127.0.0.1:${(partner.address() as AddressInfo).port}
  auth: { type: bearer, token: none }
  syncs: { pre_stay: { every: 60m, range: [+1d, +60d] } }
push: { enabled: true }
`,
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  env.DATABASE_URL = (await testDatabase()).url;
});
after(async () => {
  for (const service of services) await service.stop();
  partner.close();
  await rm(dir, { recursive: true, force: true });
});

let sent = 0;
async function post(service: Service, checkOut: string): Promise<void> {
  sent += 1;
  const data = reservationData({ check_out: checkOut });
  const body = eventBody({ event: 'reservation.updated', event_id: `ev-${sent}`, data });
  const { endpoint_id: endpointId, secret = '' } = endpoint;
  const response = await postEvent(service.url, { endpointId, secret }, body);
  assert.equal(response.status, 202, await response.text());
}

const processed = (service: Service) =>
  until('every event is processed', async () => {
    const { rows } = await service.runtime.pool.query<{ n: number }>(
      `select count(*)::int as n from events where state <> 'done'`,
    );
    return rows[0]?.n === 0;
  });
const checkOut = async (service: Service) => {
  const { rows } = await service.runtime.pool.query<{ check_out: string }>(
    `select data->>'check_out' as check_out from records where type = 'reservation'`,
  );
  return rows[0]?.check_out;
};

test('a node reports a wrong clock in readiness and in an alert, and stays ready', async () => {
  const worker = await node('all', 10 * minute);
  endpoint = await addressFor(worker.runtime, integration);
  const ready = await fetch(`${worker.url}/readyz`);
  assert.equal(ready.status, 200);
  assert.deepEqual(await ready.json(), {
    status: 'ready',
    role: 'all',
    worker: true,
    warnings: ['operate.clock_off'],
  });
  await watchOnce(worker.runtime);
  const [alert] = (await listAlerts(worker.runtime.pool, { open: true, limit: 10 })).filter(
    ({ kind }) => kind === 'clock_skew',
  );
  assert.equal(alert?.subject, worker.runtime.node);
  assert.match(alert?.message ?? '', /is 600 seconds ahead of the database's/);
});

test('the later event wins, whichever clock the node has that receives it', async () => {
  const [worker] = services as [Service];
  const right = await node('web', 0);
  const behind = await node('web', -4 * minute);
  const ahead = await node('web', 10 * minute);
  const order = [right, behind, ahead, behind, right, behind];
  for (const [i, service] of order.entries()) {
    await post(service, `2036-12-${10 + i}`);
    await processed(worker);
    assert.equal(await checkOut(worker), `2036-12-${10 + i}`, `event ${i + 1}`);
  }
});

test('an event after a page wins, although the node that pulled has a clock 10 minutes ahead', async () => {
  const [worker, right] = services as [Service, Service];
  pulledCheckOut = '2036-12-20';
  await startRun(worker.runtime, integration, { sync: 'pre_stay', kind: 'manual', requestedBy: 'test' });
  await until('the run has ended', async () => {
    const { rows } = await worker.runtime.pool.query(
      `select 1 from runs where requested_by = 'test' and state = 'complete'`,
    );
    return rows.length === 1;
  });
  assert.equal(await checkOut(worker), pulledCheckOut);
  await post(right, '2036-12-21');
  await processed(worker);
  assert.equal(await checkOut(worker), '2036-12-21');
});

test('a destination gets the database’s time: receivers refuse a signature that is minutes old', async (t) => {
  const [worker] = services as [Service];
  const config = {
    name: 'crm' as DestinationName,
    type: 'webhook',
    settings: { url: 'https://crm.example/in', secret: `whsec_${Buffer.alloc(32).toString('base64')}` },
  };
  const { services: given } = await readyDestination(worker.runtime, await loadDestinationTypes(), config);
  const now = Date.now();
  t.mock.method(Date, 'now', () => now - 60 * minute);
  assert.ok(Math.abs(given.clock.now() - now) < minute, 'not the clock of the machine');
});
