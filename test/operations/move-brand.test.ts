import assert from 'node:assert/strict';
import { readFile, stat } from 'node:fs/promises';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { pullPorts } from '../../src/composition/pull.ts';
import { eventWorkerPorts } from '../../src/composition/push.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { syncOnce } from '../../src/core/intake/pull/run/sync-once.ts';
import { drainEvents } from '../../src/core/intake/push/worker.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { moveBrand, previewMove } from '../../src/operator/operations/move-brand.ts';
import { prepareDestination } from '../../src/operator/operations/prepare-destination.ts';
import { refetchReservation } from '../../src/operator/operations/refetch.ts';
import { reprocess } from '../../src/operator/operations/reprocess.ts';
import type { IntegrationName, Json, JsonObject, SyncType } from '../../src/terms.ts';
import { type ApiNode, apiNode } from '../api/node.ts';
import { listen } from '../deliver/http-server.ts';
import { salesforceAccount } from '../deliver/vendors/salesforce.ts';
import { arriving, type Booking, type ScriptedPartner, startPartner } from '../intake/pull/support/partner.ts';
import { plainPool, type TestDatabase, testDatabase } from '../support/database.ts';

const startMs = Date.now();
/** From the day on which the file was loaded: it may end before its last test. */
const day = (days: number) => new Date(startMs + days * 86_400_000).toISOString().slice(0, 10);

/**
 * The Grand leaves one system for another. What its destinations hold afterwards: one booking for each booking, one person for each guest.
 */
const old = (id: string, arrival: number, name: string, more: object = {}): Booking =>
  ({
    id,
    confirmation_number: `C-${id}`,
    check_in: day(arrival),
    check_out: day(arrival + 3),
    status: 'confirmed',
    total_amount: 300,
    currency: 'EUR',
    guests: [
      {
        guest_id: `g${id}`,
        first_name: 'Ana',
        last_name: name,
        email: `${name.toLowerCase()}@mail.example`,
        nationality: 'PT',
      },
    ],
    rooms: [{ room_type: 'Double', adults: 2 }],
    charges: [],
    ...more,
  }) as Booking;
/** The same booking as the new system tells it: other ids, and no nationality. */
const now = (id: string, from: Booking, more: object = {}): JsonObject => ({
  number: id,
  ref: `N-${id}`,
  arrival: from.check_in,
  departure: from.check_out,
  state: from.status === 'cancelled' ? 'CXL' : 'OK',
  price: 300,
  cur: 'EUR',
  people: (from.guests as JsonObject[]).map((guest) => ({
    key: `p${id}`,
    given: guest.first_name as Json,
    family: guest.last_name as Json,
    mail: guest.email as Json,
  })),
  ...more,
});

// Prado is matched by the number, Lopes by person and dates, Reis is not in the new system, and Matos is new there.
const prado = old('1001', 5, 'Prado');
const lopes = old('1002', 6, 'Lopes');
const reis = old('1003', 8, 'Reis');
const gone = old('1004', 9, 'Duarte', { status: 'cancelled' });
const stayed = old('1005', -10, 'Serra');
// The id of Matos in the new system is that of Lopes in the old one: they are two bookings.
const matos = now('1002', old('x', 7, 'Matos'));
const serraAgain = now('77', old('x', 20, 'Serra'));
const inNew = [now('501', prado, { ref: 'C-1001' }), now('502', lopes), now('503', gone), matos, serraAgain];

let oldSystem: ScriptedPartner;
let newSystem: ScriptedPartner;
let book = inNew;
const crm = await listen(() => ({ status: 200, body: {} }));
const vendor = salesforceAccount();
const vendorServer = await listen((request) => vendor.answer(request));
const sales = `destination: sales\ntype: http\npreset: salesforce\nwith:\n  instance_url: ${vendorServer.url}\n`;
let warehouse: TestDatabase;
let node: ApiNode;
/** How many messages the CRM had when the brand moved. */
let atMove = 0;

const integration = (name: string, connector: string, url: string, deliver: string) => `# ${name}
integration: ${name}
connector: ${connector}
brand_id: LIS01
timezone: Europe/Lisbon
country: PT
pull:
  base_url: ${url}
  auth: { type: none }
  syncs:
    pre_stay: { every: 15m, range: [+1d, +60d] }
    post_stay: { every: 15m, range: [-30d, -1d] }
push: { enabled: true }
${deliver}`;

before(async () => {
  oldSystem = await startPartner((asked) => ({
    json: { reservations: arriving([prado, lopes, reis, gone, stayed], asked) },
  }));
  newSystem = await startPartner((asked) => {
    const single = /^\/bookings\/(.+)$/.exec(asked.path)?.[1];
    if (single !== undefined) {
      const found = book.find(({ number }) => number === single);
      return found ? { json: found } : { status: 404, json: {} };
    }
    const [from = '', to = ''] = [asked.query.get('from') ?? '', asked.query.get('to') ?? ''];
    return { json: { bookings: book.filter(({ arrival }) => String(arrival) >= from && String(arrival) <= to) } };
  });
  warehouse = await testDatabase({ empty: true });
  node = await apiNode('', {
    'connectors/hotel.yaml': `connector: hotel
pull: { request: { path: /list, query: { dateFrom: "{window.from}", dateTo: "{window.to}" } } }
shape: { root_path: reservations }
`,
    'connectors/newpms.yaml': `connector: newpms
pull:
  request: { path: /bookings, query: { from: "{window.from}", to: "{window.to}" } }
  single: { path: "/bookings/{id}" }
shape: { root_path: bookings }
map:
  id: number
  confirmation_number: ref
  check_in: arrival
  check_out: departure
  status: state
  total_amount: price
  currency: cur
  guests: { from: people, fields: { guest_id: key, first_name: given, last_name: family, email: mail } }
values: { status: { confirmed: [OK], cancelled: [CXL] } }
push: { thin: { id: id } }
`,
    'connectors/hooks.yaml': `connector: hooks
pull: { single: { path: "/bookings/{id}" } }
shape: { root_path: reservations }
map:
  id: number
  confirmation_number: ref
  check_in: arrival
  check_out: departure
  status: state
values: { status: { confirmed: [OK], cancelled: [CXL] } }
push: { thin: { id: id } }
`,
    'integrations/other-hooks.yaml': `integration: other-hooks
connector: hooks
brand_id: LIS02
timezone: Europe/Lisbon
pull: { base_url: "${newSystem.url}", auth: { type: none } }
push: { enabled: true }
`,
    'integrations/grand.yaml': integration('grand', 'hotel', oldSystem.url, 'deliver: [crm, dwh, sales]\n'),
    'integrations/grand-new.yaml': integration('grand-new', 'newpms', newSystem.url, ''),
    'integrations/other.yaml': integration('other', 'hotel', `${oldSystem.url}/other`, ''),
    'destinations/crm.yaml': `destination: crm\ntype: http\nurl: ${crm.url}\nreceives: [reservation, guest]\n`,
    'destinations/dwh.yaml': `destination: dwh\ntype: postgres\nurl: "${warehouse.url}"\nreceives: [reservation, guest]\n`,
    'destinations/sales.yaml': sales,
  });
  const { settings } = await prepareDestination(node.runtime, 'sales', { dryRun: false });
  const text = `${sales}${Object.entries(settings ?? {})
    .map(([name, value]) => `  ${name}: ${JSON.stringify(value)}\n`)
    .join('')}`;
  await applyDocument(node.runtime, { kind: 'destination', name: 'sales', text }, 'test');
});
after(async () => {
  await node?.stop();
  for (const server of [oldSystem, newSystem, crm, vendorServer]) await server.close();
});

async function sync(name: string, type?: SyncType, range: { from?: string; to?: string } = {}): Promise<string> {
  const request = {
    integration: name as IntegrationName,
    kind: type ? 'manual' : 'backfill',
    requestedBy: 'test',
  } as const;
  const { state } = await syncOnce(pullPorts(node.runtime), { ...request, ...(type && { sync: type }), ...range });
  return state;
}
async function deliver(): Promise<void> {
  for (let turn = 0; turn < 3; turn++)
    await drainOnce(await deliverPorts(node.runtime), { integration: 'grand' as IntegrationName });
}
const sent = (type: string, from = 0) =>
  crm.received
    .slice(from)
    .map(({ body }) => body as unknown as { type: string; event: string; data: JsonObject })
    .filter((one) => one.type === type);
async function rows(text: string): Promise<Record<string, unknown>[]> {
  const pool = plainPool(warehouse.connection);
  try {
    return (await pool.query(text)).rows;
  } finally {
    await pool.end();
  }
}

test('a preview shows what matches and why, and what is in one system only', async () => {
  for (const type of ['pre_stay', 'post_stay'] as const) assert.equal(await sync('grand', type), 'complete');
  await deliver();
  const early = await previewMove(node.runtime, 'grand', 'grand-new');
  assert.match(
    early.obstacles.join('; '),
    /pre_stay, post_stay of grand-new was not complete; grand-new has no reservations/,
  );
  for (const type of ['pre_stay', 'post_stay'] as const) assert.equal(await sync('grand-new', type), 'complete');
  const preview = await previewMove(node.runtime, 'grand', 'grand-new');
  assert.deepEqual(preview.matched.map(({ before: was, now: is, by }) => [was.id, is.id, by]).toSorted(), [
    ['1001', '501', 'number'],
    ['1002', '502', 'person'],
    ['1004', '503', 'person'],
  ]);
  assert.deepEqual(
    preview.onlyBefore.map(({ id }) => id),
    ['1003'],
  );
  assert.deepEqual(preview.onlyNow.map(({ id }) => id).toSorted(), ['1002', '77']);
  assert.deepEqual([preview.open, preview.openMatched, preview.obstacles], [3, 2, []]);
});

test('an unfinished feed, and one of another hotel, are refused, and the old feed goes on', async () => {
  book = [matos];
  await node.runtime.pool.query(`delete from records where integration = 'grand-new'`);
  assert.equal(await sync('grand-new', 'pre_stay'), 'complete');
  await assert.rejects(
    moveBrand(node.runtime, 'grand', 'grand-new', { by: 'test' }),
    /Only 0 of 3 bookings still to come/,
  );
  assert.equal(node.runtime.active().integrations.get('grand')?.connector.name, 'hotel');
  book = inNew;
  assert.equal(await sync('grand-new', 'pre_stay'), 'complete');
});

test('a move that dies before its commit has changed nothing, and one that dies after it is finished by the same command', async () => {
  const { runtime } = node;
  atMove = crm.received.length;
  const broken = { ...runtime, wake: { ...runtime.wake, signal: () => assert.fail('killed after the commit') } };
  await runtime.pool.query(`alter table guards rename to guards_away`);
  await assert.rejects(moveBrand(runtime, 'grand', 'grand-new', { by: 'test' }), /guards/);
  await runtime.pool.query(`alter table guards_away rename to guards`);
  const { rows: none } = await runtime.pool.query(`select from records where partner_id is not null`);
  assert.equal(none.length, 0);
  assert.equal(runtime.active().integrations.get('grand')?.connector.name, 'hotel');

  await assert.rejects(
    moveBrand(broken as unknown as typeof runtime, 'grand', 'grand-new', { by: 'test' }),
    /killed after the commit/,
  );
  const file = path.join(runtime.workspaceDir, 'integrations/grand.yaml');
  assert.match(await readFile(file, 'utf8'), /connector: hotel/, 'the file is not written yet');
  const { range } = await moveBrand(runtime, 'grand', 'grand-new', { by: 'test' });
  assert.deepEqual(range, { from: prado.check_in, to: day(23) }, 'the backfill of the new system waits');
  const text = await readFile(file, 'utf8');
  assert.match(text, /integration: grand\nconnector: newpms\n/);
  assert.match(text, /deliver:\s+\[ ?crm, dwh, sales ?\]/);
  await assert.rejects(stat(path.join(runtime.workspaceDir, 'integrations/grand-new.yaml')));
  assert.equal(crm.received.length, atMove, 'nothing was sent yet');
  assert.equal(await sync('grand', undefined, range), 'complete');
  await deliver();
});

test('every destination has one booking for each booking and one person for each guest', async () => {
  const bookings = await rows(
    `select id, status, total_amount::float8 as amount, check_in::text from innbound.reservations where removed_at is null order by id`,
  );
  assert.deepEqual(
    bookings.map(({ id, status }) => [id, status]),
    [
      ['1001', 'confirmed'],
      ['1002', 'confirmed'],
      ['1003', 'confirmed'],
      ['1004', 'cancelled'],
      ['1005', 'confirmed'],
      ['grand-new~1002', 'confirmed'],
      ['grand-new~77', 'confirmed'],
    ],
  );
  const guests = await rows(`select email from innbound.guests where email is not null order by email`);
  const people = [...new Set(guests.map(({ email }) => String(email)))];
  assert.deepEqual(
    people,
    ['duarte', 'lopes', 'matos', 'prado', 'reis', 'serra'].map((name) => `${name}@mail.example`),
  );
  const events = sent('reservation', atMove).map(({ event, data }) => `${data.id} ${event}`);
  assert.deepEqual(
    events.toSorted(),
    ['1001 updated', '1002 updated', '1004 updated', 'grand-new~1002 created', 'grand-new~77 created'],
    'no cancellation, and nothing is created twice',
  );
  const profiles = sent('guest').map(({ data }) => `${data.email} ${data.id}`);
  assert.equal(
    new Set(profiles).size,
    new Set(profiles.map((one) => one.split(' ')[0])).size,
    'one profile for each person',
  );
  assert.equal(vendor.people().length, 6, 'the CRM has one contact for each person');
  assert.deepEqual(
    vendor
      .stays()
      .map(({ key }) => key)
      .toSorted(),
    ['1001', '1002', '1003', '1004', '1005', 'grand-new~1002', 'grand-new~77'].map((id) => `grand:${id}`),
  );
});

test('what the new system does not mention stays, and what it says counts', async () => {
  const stored = async (id: string) =>
    (
      await node.runtime.pool.query<{ data: JsonObject }>(
        `select data from records where integration = 'grand' and type = 'reservation' and id = $1`,
        [id],
      )
    ).rows[0]?.data;
  const guestsOf = (one: JsonObject | undefined) => (one?.guests ?? []) as JsonObject[];
  const [guest] = guestsOf(await stored('1001'));
  assert.deepEqual([guest?.nationality, guest?.guest_id], ['PT', 'grand-new~p501']);
  book = book.map((one) => (one.number === '501' ? { ...one, price: 450 } : one));
  assert.equal(await sync('grand', 'pre_stay'), 'complete');
  const after = await stored('1001');
  assert.deepEqual([String(after?.total_amount), guestsOf(after)[0]?.nationality], ['450', 'PT']);
});

test('events, requests for one booking and payloads that are processed again use the right ids', async () => {
  const { runtime } = node;
  book = book.map((one) => (one.number === '502' ? { ...one, price: 512 } : one));
  assert.deepEqual((await refetchReservation(runtime, 'grand', '1002', 'test')).kind, 'applied');
  assert.deepEqual(
    (await refetchReservation(runtime, 'grand', '1003', 'test')).kind,
    'absent',
    'it is not asked for under a foreign id',
  );
  assert.equal(newSystem.requests.at(-1)?.path, '/bookings/502');
  const { changed, refused } = await reprocess(runtime, { integration: 'grand', preview: true });
  assert.deepEqual([changed, refused], [0, 0], 'payloads of the old system are left alone');
  await node.send('grand', 'guest.updated', {
    reservation_id: '502',
    given: 'Ana',
    family: 'Lopes',
    nationality: 'ES',
  });
  await drainEvents(eventWorkerPorts(runtime));
  const { rows: found } = await runtime.pool.query(
    `select data -> 'guests' -> 0 ->> 'nationality' as is, data ->> 'total_amount' as amount from records
      where integration = 'grand' and type = 'reservation' and id = '1002'`,
  );
  assert.deepEqual(found, [{ is: 'ES', amount: '512' }]);
});

test('a system without a list is not read again: its events are applied again', async () => {
  const { runtime } = node;
  assert.equal(await sync('other', 'pre_stay'), 'complete');
  await node.send('other-hooks', 'reservation.created', now('501', prado, { ref: 'C-1001' }));
  await node.send('other-hooks', 'reservation.created', now('777', prado, { arrival: day(40), departure: day(41) }));
  const { preview, range } = await moveBrand(runtime, 'other', 'other-hooks', { by: 'test', acceptUnmatched: true });
  assert.deepEqual([preview.matched.length, preview.onlyNow.length, range], [1, 1, undefined]);
  await drainEvents(eventWorkerPorts(runtime));
  const { rows: known } = await runtime.pool.query(
    `select id, partner_id, data ->> 'check_in' as "checkIn" from records
      where integration = 'other' and type = 'reservation' and id in ('1001', 'other-hooks~777') order by id`,
  );
  assert.deepEqual(known, [
    { id: '1001', partner_id: 'other-hooks~501', checkIn: prado.check_in },
    { id: 'other-hooks~777', partner_id: null, checkIn: day(40) },
  ]);
  const { rows: queued } = await runtime.pool.query(
    `select from runs where integration = 'other' and state = 'queued'`,
  );
  assert.equal(queued.length, 0);
  const token = await node.token('operator');
  const asked = await node.call('POST', '/integrations/other/backfill', token, { from: day(0), to: day(9) });
  assert.deepEqual([asked.status, asked.body.code], [409, 'pull.no_such_sync']);
});
