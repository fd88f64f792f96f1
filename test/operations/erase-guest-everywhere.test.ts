import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { eventWorkerPorts } from '../../src/composition/push.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { parquet } from '../../src/core/deliver/lake/parquet.ts';
import type { EventType } from '../../src/core/intake/push/envelope.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { forgetDeliveredErasures } from '../../src/core/store/erasure/erased.ts';
import { appendEvents } from '../../src/core/store/events/append.ts';
import { open } from '../../src/kit/crypto.ts';
import { addressFor } from '../../src/operator/operations/endpoints.ts';
import { eraseGuest, previewErasure } from '../../src/operator/operations/erase-guest.ts';
import { exportGuest } from '../../src/operator/operations/export-guest.ts';
import type { EndpointId, IntegrationName, Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

/**
 * A person with unique marks arrives in every possible way and is then erased: no mark may be left in a dump of every table or in a file.
 * A companion with her own mark stays.
 */
const marks = {
  first: 'quillaxo',
  last: 'zembruk',
  old: 'oldmark',
  new: 'newmark',
  digits: '917733254',
  passport: 'zx99quill',
};
const old = { guest_id: 'g-quill', first_name: 'Quillaxo', last_name: 'Zembruk', email: 'oldmark@mail.example' };
const now = { ...old, email: 'newmark@mail.example', phone: '+351 917 733 254', document_number: 'ZX99QUILL' };
const bill = (text: string) => ({ charges: [{ code: 'TRF', description: text, amount: 30, quantity: 1 }] });
const companion = { guest_id: 'g-comp', first_name: 'Petra', last_name: 'Staysen', email: 'staymark@mail.example' };

let node: ApiNode;
before(async () => {
  node = await apiNode('', {
    'destinations/lake.yaml': 'destination: lake\ntype: files\npath: out\nreceives: [reservation, guest]\n',
    'destinations/columns.yaml':
      'destination: columns\ntype: files\npath: out\nformat: parquet\nreceives: [reservation, guest]\n',
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
push: { enabled: true }
deliver: [lake, columns]
`,
    'connectors/hotel.yaml': `connector: hotel
pull:
  request: { method: GET, path: /api/reservations, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } }
  pagination: { type: none }
shape: { root_path: reservations }
map: { extra: { remark: remark } }
`,
  });
  endpointId = (await addressFor(node.runtime, 'grand')).endpoint_id;
});
after(() => node.stop());

let sent = 0;
let endpointId: string;
async function event(kind: EventType, data: Json, change: (body: string) => string = (body) => body): Promise<void> {
  sent += 1;
  const body = { event: kind, timestamp: new Date().toISOString(), brand_id: 'LIS01', data };
  const [stored] = await appendEvents(node.runtime.pool, [
    {
      integration: 'grand' as IntegrationName,
      endpointId: endpointId as EndpointId,
      secretNo: 1,
      eventId: `ev-${sent}`,
      event: kind,
      occurredAt: Date.now(),
      rawBody: Buffer.from(change(JSON.stringify(body))),
    },
  ]);
  assert.equal(stored?.kind, 'stored');
  await drainEvents(eventWorkerPorts(node.runtime));
}

/** Every place in which a text is found: tables with their binary columns decoded, and files of destinations. */
async function placesOf(texts: readonly string[]): Promise<string[]> {
  const { pool, workspaceDir } = node.runtime;
  const { rows: tables } = await pool.query<{ name: string; columns: string[]; binary: string[] }>(
    `select table_name as name, array_agg(column_name::text) filter (where data_type <> 'bytea') as columns,
            coalesce(array_agg(column_name::text) filter (where data_type = 'bytea'), '{}') as binary
       from information_schema.columns where table_schema = 'innbound_service' group by 1`,
  );
  const found = new Set<string>();
  const search = (place: string, text: string) => {
    const plain = text.toLowerCase().replace(/\\\\?u0040/g, '@');
    const digits = plain.replace(/[\s().+-]/g, '');
    if (texts.some((one) => plain.includes(one) || digits.includes(one))) found.add(place);
  };
  for (const { name, columns, binary } of tables) {
    const decoded = binary.map((column) => `encode(${column}, 'escape')`);
    const { rows } = await pool.query<{ text: string }>(
      `select concat_ws(' ', ${[...columns.map((column) => `"${column}"::text`), ...decoded].join(', ')}) as text from ${name}`,
    );
    for (const { text } of rows) search(name, text);
  }
  const out = path.join(workspaceDir, 'out');
  for (const file of await readdir(out, { recursive: true }).catch(() => [])) {
    if (path.extname(file) === '') continue;
    const bytes = await readFile(path.join(out, file));
    const text = file.endsWith('.parquet')
      ? JSON.stringify(await parquet.read(bytes), (_, value) => (typeof value === 'bigint' ? String(value) : value))
      : bytes.toString('utf8');
    search(`file ${path.extname(file)}`, text);
  }
  return [...found].sort();
}

test('nothing is left of an erased person in any table or file', async () => {
  const { runtime } = node;
  const deliver = async () => drainOnce(await deliverPorts(runtime));
  // A booking whose guest changed address, phone and document; with remarks that repeat the name.
  const cot = { remark: 'Mr ZEMBRUK wants a cot', ...bill('Transfer ZEMBRUK, Quillaxo') };
  await node.take('grand', reservation('C1', { guests: [old, companion], ...cot }));
  await deliver();
  const call = { remark: 'call Zembruk', source: 'newmark@mail.example', ...bill('Transfer, 917-733-254') };
  await node.take('grand', reservation('C1', { guests: [now, companion], ...call }));
  await deliver();
  // One known by the old address only, one by name and number, one from an event only.
  await node.take('other', reservation('C2', { guests: [{ ...old, guest_id: 'other-id' }] }));
  await event('reservation.created', { ...(reservation('C3') as object), reservation_id: 'C3', guests: [now] } as Json);
  await event('guest.updated', { ...now, reservation_id: 'C3' }, (body) => body.replaceAll('@', '\\u0040'));
  // Payloads that never became a record: escaped, and with the number as the partner writes it.
  await event('reservation.updated', { note: 'ask newmark@mail.example' }, (body) => body.replaceAll('@', '\\u0040'));
  await event('reservation.updated', { phone: '00351 (917) 733-254' });
  await node.take('grand', { id: 'BAD', check_in: 'someday', guests: [now] });
  await deliver();
  await runtime.pool.query(
    `insert into runs (integration, run_id, sync, kind, state, requested_by, finished_at, error_code, error_message)
     values ('grand', 'run_canary', 'stay', 'manual', 'failed', 'test', now(), 'pull.bad_request', 'no guest newmark@mail.example')`,
  );
  // What people type and keep: a reason, and a sample with its expected record.
  const admin = await node.token('admin');
  const { rows: letters } = await runtime.pool.query<{ id: string }>(
    `select dead_letter_id as id from dead_letters where state = 'open' limit 1`,
  );
  const typed = { reason: 'newmark@mail.example called' };
  const kept = await Promise.all([
    node.call('POST', `/dead-letters/${letters[0]?.id}/drop`, admin, typed),
    node.call('POST', '/integrations/other/pause', admin, typed),
    node.call('PUT', '/connectors/hotel/cases/canary', admin, {
      text: 'connector: hotel\nshape: { root_path: reservations }\n',
      sample: JSON.stringify({ reservations: [reservation('C5', { guests: [now] })] }),
    }),
  ]);
  assert.deepEqual(
    kept.map(({ status }) => status),
    [200, 200, 200],
    JSON.stringify(kept.map(({ body }) => body)),
  );
  const filled = await placesOf([marks.old, marks.new]);
  for (const place of ['history', 'events', 'mapping_cases', 'partner_accounts', 'file .ndjson', 'file .parquet']) {
    assert.ok(filled.includes(place), `${place} in ${filled.join(', ')}`);
  }

  const request = { email: 'newmark@mail.example' };
  const before = await placesOf(Object.values(marks));
  const preview = await previewErasure(runtime, request);
  assert.deepEqual(await placesOf(Object.values(marks)), before, 'a dry run changes nothing');
  const ids = preview.records.map(
    ({ integration, type, id }) => `${integration} ${type} ${type === 'guest' ? '' : id}`,
  );
  for (const record of ['grand reservation C1', 'grand reservation C3', 'other reservation C2']) {
    assert.ok(ids.includes(record), `${record} in ${ids.join(', ')}`);
  }

  const access = await exportGuest(runtime, request);
  const text = JSON.stringify(access).toLowerCase();
  for (const mark of [marks.old, marks.new, marks.passport]) assert.ok(text.includes(mark), mark);
  assert.ok(!text.includes('staymark'), 'the export holds no data of the companion');

  const erased = await eraseGuest(runtime, request, 'officer');
  assert.deepEqual(erased.removed, preview.removed);
  const sealedOnes = await runtime.pool.query<{ sealed: Buffer; bound: string }>(
    `select sealed, 'erased ' || integration || ' ' || type || ' ' || id || ' ' || version as bound from erased_identifiers`,
  );
  const told = sealedOnes.rows.map(({ sealed, bound }) => open(runtime.keyring, sealed, bound));
  const names = told.map((one) => (one.kind === 'ok' ? one.plaintext.toString() : one.kind)).join();
  assert.ok(names.includes('oldmark@mail.example'), 'destinations learn the old address too');
  await deliver();
  await forgetDeliveredErasures(runtime.pool);
  assert.deepEqual(await placesOf(Object.values(marks)), []);
  assert.ok((await placesOf(['staymark'])).includes('records'), 'the companion stays');

  // The partner keeps sending: the same booking, a new one by name and number, another update of the profile.
  const again = { remark: 'Zembruk again', channel: 'web', ...bill('Taxi for Quillaxo Zembruk') };
  await node.take('grand', reservation('C1', { guests: [now, companion], ...again }));
  await event('reservation.updated', { reservation_id: 'C1', guests: [now, companion], ...again } as Json);
  // Payloads that cannot become a record, with an address and a number that the request did not name.
  await node.take('grand', { id: 'BAD', check_in: 'someday', guests: [old] });
  await event('reservation.updated', { phone: '00351 (917) 733-254' });
  await node.take(
    'grand',
    reservation('C9', { guests: [{ ...now, guest_id: 'new-id', email: 'third@mail.example' }] }),
  );
  await event('guest.updated', { ...now, reservation_id: 'C3' });
  await event('guest.updated', { guest_id: 'g-quill', email: 'oldmark@mail.example', last_name: 'Zembruk' }, (body) =>
    body.replaceAll('@', '\\u0040'),
  );
  await deliver();
  assert.deepEqual(await placesOf(Object.values(marks)), []);
});
