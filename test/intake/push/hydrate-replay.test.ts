import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { eventWorkerPorts, hydratorPorts } from '../../../src/composition/push.ts';
import { type ReplayResult, replayDeadLetters } from '../../../src/core/deliver/replay.ts';
import { hydrateOnce } from '../../../src/core/intake/push/hydrate.ts';
import { drainEvents } from '../../../src/core/intake/push/worker.ts';
import { appendEvents } from '../../../src/core/store/events/append.ts';
import { addressFor } from '../../../src/operator/operations/endpoints.ts';
import { openRuntime } from '../../../src/operator/operations/open-runtime.ts';
import { replayPorts } from '../../../src/operator/operations/replay-dead-letters.ts';
import { listDeadLetters } from '../../../src/operator/store/dead-letters.ts';
import type { EndpointId, IntegrationName } from '../../../src/terms.ts';
import { testDatabase } from '../../support/database.ts';
import { brandId, integration, reservationData } from './support.ts';

test('the dead letter of a thin event is replayed by fetching its reservation again', async (t) => {
  let answer: { status: number; json: unknown } = { status: 404, json: {} };
  const partner = createServer((_request, response) => {
    response.writeHead(answer.status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer.json));
  });
  partner.listen(0, '127.0.0.1');
  await once(partner, 'listening');
  const dir = await mkdtemp(path.join(os.tmpdir(), 'innbound-thin-'));
  const files = {
    'innbound.yaml': 'network: { allow_private: true }\n',
    'connectors/acme-pms.yaml': `connector: acme-pms
pull:
  request: { method: GET, path: /r, query: { from: "{window.from}", to: "{window.to}" } }
  single: { path: "/r/{id}" }
map: { id: reservation_id, rooms: { from: stays } }
push: { thin: { id: booking.ref } }
`,
    [`integrations/${integration}.yaml`]: `integration: ${integration}
connector: acme-pms
brand_id: ${brandId}
timezone: Europe/Lisbon
pull:
  base_url: http://127.0.0.1:${(partner.address() as AddressInfo).port}
  auth: { type: bearer, token: none }
push: { enabled: true }
`,
  };
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(dir, file)), { recursive: true });
    await writeFile(path.join(dir, file), text);
  }
  const env = { DATABASE_URL: (await testDatabase()).url };
  const runtime = await openRuntime({ env, workspaceDir: dir, purpose: 'command', describe: 'test', apply: 'always' });
  t.after(async () => {
    await runtime.close();
    partner.close();
    await rm(dir, { recursive: true, force: true });
  });

  const { endpoint_id } = await addressFor(runtime, integration);
  const data = { booking: { ref: 'R-1001' } };
  const [stored] = await appendEvents(runtime.pool, [
    {
      integration: integration as IntegrationName,
      endpointId: endpoint_id as EndpointId,
      secretNo: 1,
      eventId: 'ev-1',
      event: 'reservation.updated',
      occurredAt: Date.now(),
      rawBody: Buffer.from(JSON.stringify({ event: 'reservation.updated', brand_id: brandId, data })),
    },
  ]);
  assert.equal(stored?.kind, 'stored');
  const processAll = async () => {
    await drainEvents(eventWorkerPorts(runtime));
    await hydrateOnce(hydratorPorts(runtime));
    await drainEvents(eventWorkerPorts(runtime));
  };
  await processAll();
  const replayed = async () => {
    const letters = await listDeadLetters(runtime.pool, {});
    assert.deepEqual(
      letters.map(({ kind, code, record_id }) => [kind, code, record_id]),
      [['event', 'push.not_hydrated', 'R-1001']],
    );
    const results: ReplayResult[] = [];
    await replayDeadLetters(replayPorts(runtime), letters, {
      by: 'test',
      perSecond: 100,
      onEach: (result) => results.push(result),
    });
    assert.deepEqual(results, [{ id: letters[0]?.id, result: 'replayed' }]);
    await processAll();
  };
  // A search that finds another reservation must not count as the one that the event names.
  answer = { status: 200, json: reservationData({ reservation_id: 'R-10011' }) };
  await replayed();
  answer = { status: 200, json: [] };
  await replayed();
  answer = { status: 200, json: reservationData() };
  await replayed();
  const { rows } = await runtime.pool.query(`select id, version from records where type = 'reservation'`);
  assert.deepEqual(rows, [{ id: 'R-1001', version: 1 }]);
});
