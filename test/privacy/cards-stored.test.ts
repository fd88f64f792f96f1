import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, test } from 'node:test';
import fastify from 'fastify';
import { eventWorkerPorts, openIntake } from '../../src/composition/push.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { openHttp } from '../../src/core/outbound/http.ts';
import { systemClock } from '../../src/kit/clock.ts';
import { registerWebhooks } from '../../src/operator/api/webhooks.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { sandboxOf } from '../../src/operator/operations/sandbox.ts';
import { httpWithoutCards } from '../../src/operator/privacy/http-without-cards.ts';
import { apiNode, reservation } from '../api/node.ts';
import { postEvent } from '../intake/push/support.ts';

const pan = '4111111111111111';

test("card numbers are removed from partners' answers", async () => {
  const server = createServer((_, response) =>
    response.end(JSON.stringify({ id: 'R1', notes: `card ${pan}`, cvv: '123' })),
  );
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const http = httpWithoutCards(openHttp({ allowPrivate: true, userAgent: 'test' }));
  after(async () => {
    await http.close();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const request = { method: 'GET', url, headers: {}, deadlineMs: 20_000, idleMs: 20_000, expects: 'short' as const };
  const answered = await http.request(request);
  assert.ok(answered.kind === 'answer');
  assert.deepEqual(JSON.parse(Buffer.from(answered.bytes).toString()), {
    id: 'R1',
    notes: 'card [card 1111]',
    cvv: '[cvv]',
  });
});

test('accepts an event with card data, and no table holds the card number', async () => {
  const node = await apiNode();
  const intake = openIntake(node.runtime);
  const app = fastify();
  registerWebhooks(app, {
    clock: systemClock,
    intake,
    sandbox: sandboxOf(node.runtime, intake),
    maxBodyBytes: () => 1 << 20,
  });
  after(async () => {
    await app.close();
    await intake.close();
    await node.stop();
  });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { endpoint_id, sandbox_url, secret = '' } = await addressFor(node.runtime, 'grand');
  const body = JSON.stringify({
    event: 'reservation.created',
    event_id: 'e-1',
    brand_id: 'LIS01',
    timestamp: new Date().toISOString(),
    data: {
      ...(reservation('CARD-1') as object),
      reservation_id: 'CARD-1',
      notes: `guarantee ${pan}`,
      payment: { cardNumber: pan, cvv: '987' },
    },
  });
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  for (const endpointId of [endpoint_id, sandbox_url.split('/').at(-1) ?? '']) {
    const answer = await postEvent(url, { endpointId, secret }, body);
    assert.ok(answer.ok, `${endpointId}: ${answer.status} ${await answer.text()}`);
  }
  await drainEvents(eventWorkerPorts(node.runtime));
  const admin = await node.token('admin');
  const sample = JSON.stringify({ reservations: [{ ...(reservation('CARD-2') as object), remark: `pays by ${pan}` }] });
  const text = 'connector: hotel\nshape: { root_path: reservations }\n';
  const kept = await node.call('PUT', '/connectors/hotel/cases/with-card', admin, { text, sample });
  assert.equal(kept.status, 200, JSON.stringify(kept.body));
  const { rows: tables } = await node.runtime.pool.query<{ name: string }>(
    `select quote_ident(table_schema) || '.' || quote_ident(table_name) as name from information_schema.tables
      where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  let all = '';
  for (const { name } of tables) {
    const { rows } = await node.runtime.pool.query<{ row: object }>(`select to_jsonb(t) as row from ${name} t`);
    all += rows
      .map((row) => JSON.stringify(row))
      .join('\n')
      .replace(/\\\\x([0-9a-f]+)/g, (_, hex) => Buffer.from(hex, 'hex').toString());
  }
  assert.ok(all.includes('CARD-1'), 'the event is stored');
  assert.ok(all.includes('[card 1111]'), 'the last four digits are kept');
  assert.ok(!all.includes(pan), 'no card number is stored');
  assert.doesNotMatch(all, /cvv\W{1,8}987/);

  const { body: story } = await node.call('GET', '/integrations/grand/reservations/CARD-1', admin);
  const notes = story.timeline.flatMap((entry: { notes?: { code: string; field: string }[] }) => entry.notes ?? []);
  const removed = notes.filter(({ code }: { code: string }) => code === 'card_removed');
  assert.deepEqual(removed.map(({ field }: { field: string }) => field).toSorted(), [
    'notes',
    'payment.cardNumber',
    'payment.cvv',
  ]);
});
