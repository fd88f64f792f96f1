import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eventWorkerPorts, hydratorPorts } from '../../src/composition/push.ts';
import { hydrateOnce } from '../../src/core/intake/push/hydrate.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { appendEvents } from '../../src/core/store/events/append.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { reprocess as reprocessBrand } from '../../src/operator/operations/reprocess.ts';
import type { EndpointId, IntegrationName, Json, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from '../api/node.ts';
import { startPartner } from '../intake/pull/support/partner.ts';

let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode('', { 'connectors/hotel.yaml': hotelConnector('') });
  operator = await node.token('operator');
});
after(() => node.stop());

const reprocess = ({ preview = true, integration = 'grand' } = {}) =>
  reprocessBrand(node.runtime, { integration, preview });
const stored = async (id: string) => {
  const { rows } = await node.runtime.pool.query<{ version: number; data: { [field: string]: Json } }>(
    `select version, data from records where integration = 'grand' and type = 'reservation' and id = $1`,
    [id],
  );
  return rows[0];
};
async function event(data: Json): Promise<void> {
  const { endpoint_id: endpointId } = await addressFor(node.runtime, 'grand');
  const occurredAt = Date.now();
  const body = { event: 'reservation.created', timestamp: new Date(occurredAt).toISOString(), brand_id: 'LIS01', data };
  await appendEvents(node.runtime.pool, [
    {
      integration: 'grand' as IntegrationName,
      endpointId: endpointId as EndpointId,
      secretNo: 1,
      eventId: 'ev-1',
      event: 'reservation.created',
      occurredAt,
      rawBody: Buffer.from(JSON.stringify(body)),
    },
  ]);
  await drainEvents(eventWorkerPorts(node.runtime));
}

test('after a change of the mapping, stored payloads of pull and push are previewed, then applied', async () => {
  await node.take('grand', reservation('R1', { agent: 'BDC' }), reservation('R2', { agent: 'WEB' }), reservation('R3'));
  await event({ ...(reservation('E1') as object), reservation_id: 'E1', agent: 'APP' } as Json);
  await applyDocument(
    node.runtime,
    { kind: 'connector', name: 'hotel', text: hotelConnector('map: { channel: { first: [agent, channel] } }\n') },
    'test',
  );

  const preview = await reprocess({});
  assert.equal(preview.records, 4);
  assert.equal(preview.changed, 3, JSON.stringify(preview));
  assert.ok(preview.samples.some(({ diff }) => (diff as { path: string }[]).some(({ path }) => path === 'channel')));
  assert.equal((await stored('R1'))?.version, 1, 'a preview changes nothing');

  const done = await reprocess({ preview: false });
  assert.deepEqual([done.changed, done.unchanged, done.refused], [3, 1, 0]);
  assert.equal((await stored('R1'))?.data.channel, 'BDC');
  assert.equal((await stored('E1'))?.data.channel, 'APP');
  assert.equal((await stored('R3'))?.version, 1);
  assert.deepEqual((await reprocess({ preview: false })).changed, 0, 'a second time there is nothing to do');

  const { body } = await node.call('GET', '/integrations/grand/reservations/R1', await node.token('admin'));
  const last = body.timeline.findLast((entry: { version?: number }) => entry.version === 2);
  assert.equal(last.cause, 'reprocess');
  assert.match(last.cause_id, /^connector 2, integration \d+$/);
});

test('newer data stays, and reservations that the documents refuse do not change', async () => {
  await node.take('grand', reservation('R4', { agent: 'OLD' }));
  await node.take('grand', reservation('R4', { agent: 'NEW' }));
  const text = hotelConnector('map: { check_in: arrival_day }\n');
  await applyDocument(node.runtime, { kind: 'connector', name: 'hotel', text }, 'test');
  const refused = await reprocess({ preview: false });
  // The pulled rows would not be reservations any more. What the mapping no longer reads of the event is gone.
  assert.deepEqual([refused.changed, refused.unchanged, refused.refused], [1, 0, 4]);
  assert.equal((await stored('E1'))?.data.channel, undefined);
  assert.equal((await stored('R4'))?.data.channel, 'NEW');
  const letters = await node.runtime.pool.query(`select from dead_letters where integration = 'grand'`);
  assert.equal(letters.rows.length, 0);
});

test('an answer for one reservation is read again by its own mapping, also from a dead letter', async () => {
  const apply = async (map: string) => {
    const text = hotelConnector('').replace('  pagination', `  single: { path: "/r/{id}", map: ${map} }\n  pagination`);
    await applyDocument(node.runtime, { kind: 'connector', name: 'hotel', text }, 'test');
  };
  const answer = async (id: string, more: JsonObject) => {
    const { channel: _, ...rest } = reservation(id) as JsonObject;
    const brand = node.runtime.active().integrations.get('grand') ?? assert.fail();
    const arrival = { mode: 'single', effectiveAt: Date.now(), cause: 'run', causeId: 'run_single' } as const;
    const prepared = read(brand, { key: id, value: { ...rest, ...more } }, arrival);
    await transaction(node.runtime.pool, (tx) => ingest(tx, brand, [prepared]));
  };
  await apply('{ channel: via.code }');
  await node.take('grand', reservation('R6', { channel: 'LIST' }));
  await answer('R6', { via: { code: 'SINGLE' } });
  await answer('R7', { via: { code: 'SINGLE' }, check_in: 'soon', arrival: '2026-12-02' });
  assert.equal((await stored('R6'))?.data.channel, 'SINGLE');
  await reprocess({ preview: false });
  assert.equal((await stored('R6'))?.data.channel, 'SINGLE');

  await apply('{ channel: via.code, check_in: arrival }');
  const { body } = await node.call('GET', '/dead-letters?integration=grand', operator);
  const replayed = await node.call('POST', `/dead-letters/${body.items.at(-1).id}/replay`, operator, {});
  assert.equal(replayed.status, 200, JSON.stringify(replayed.body));
  assert.deepEqual([(await stored('R7'))?.data.check_in, (await stored('R7'))?.data.channel], ['2026-12-02', 'SINGLE']);
});

test('every event of a booking is read again, also one that changed nothing', async () => {
  const apply = async (map: string) => {
    const text = hotelConnector(map);
    await applyDocument(node.runtime, { kind: 'connector', name: 'hotel', text }, 'test');
  };
  await apply('');
  const at = Date.now() - 60_000;
  await node.send('grand', 'reservation.created', { ...(reservation('E2') as object), agent: 'APP' } as Json, at);
  await node.send('grand', 'reservation.updated', { id: 'E2', status: 'confirmed', desk: 'NORTH' }, at + 1_000);
  await node.send('grand', 'reservation.updated', { id: 'E2', status: 'checked_in' }, at + 2_000);
  await apply('map: { channel: { first: [agent, channel] }, source: desk }\n');
  const done = await reprocess({ preview: false });
  const shown = done.samples.filter(({ id }) => id === 'R1');
  assert.equal(shown.length, 1, 'samples are of this reprocessing, not of earlier ones');
  const { channel, source, status } = (await stored('E2'))?.data ?? {};
  assert.deepEqual([channel, source, status], ['APP', 'NORTH', 'checked_in']);
});

test('an answer for a thin event is read again where it has an envelope', async (t) => {
  const answer = { json: { booking: reservation('T1', { agent: 'TEL' }) } };
  const partner = await startPartner(() => answer);
  t.after(() => partner.close());
  const apply = async (kind: 'connector' | 'integration', name: string, text: string) => {
    await applyDocument(node.runtime, { kind, name, text }, 'test');
  };
  const connector = (map: string) => `connector: thin
pull: { single: { path: "/r/{id}" } }
shape: { single_path: booking }
push: { thin: { id: ref } }
${map}`;
  const thin = `integration: thin
connector: thin
brand_id: THIN
timezone: Europe/Lisbon
pull: { base_url: "${partner.url}", auth: { type: none } }
push: { enabled: true }
`;
  await apply('connector', 'thin', connector(''));
  await apply('integration', 'thin', thin);
  await node.send('thin', 'reservation.updated', { ref: 'T1' });
  await hydrateOnce(hydratorPorts(node.runtime));
  await drainEvents(eventWorkerPorts(node.runtime));
  await apply('connector', 'thin', connector('map: { channel: agent }\n'));
  const { changed, refused } = await reprocess({ integration: 'thin', preview: false });
  assert.deepEqual([changed, refused], [1, 0]);
});

test('an unknown brand is a clear error', async () => {
  await assert.rejects(reprocess({ integration: 'nowhere' }), { code: 'documents.unknown_name' });
});
