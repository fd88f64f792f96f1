import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { refuseHold } from '../../src/operator/operations/holds.ts';
import { reprocess } from '../../src/operator/operations/reprocess.ts';
import { listHolds } from '../../src/operator/store/holds.ts';
import type { IntegrationName, Json, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation as reservationOf } from '../api/node.ts';
import { cancelledForTest } from './what-counts-support.ts';

/** What a partner said last, by lists, events and guests' own events, is what a running service has: each scene was once wrong. */
let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

/** Far ahead: guests' own events change bookings that have not ended. */
const reservation: typeof reservationOf = (id, more) =>
  reservationOf(id, { check_in: '2036-12-01', check_out: '2036-12-04', ...more });

const now = Date.now() - 3_600_000;
let runs = 0;
/** A page of a run of its own, requested `seconds` after the beginning. */
async function list(seconds: number, ...rows: Json[]): Promise<void> {
  const brand = node.runtime.active().integrations.get('grand') ?? assert.fail();
  const arrival = { mode: 'pull', effectiveAt: now + seconds * 1_000, cause: 'run', causeId: `run_${++runs}` } as const;
  const statements = rows.map((value) => read(brand, { key: String((value as JsonObject).id), value }, arrival));
  await transaction(node.runtime.pool, (tx) => ingest(tx, brand, statements));
}
const event = (seconds: number, data: Json, kind: 'reservation' | 'guest' = 'reservation') =>
  node.send('grand', `${kind}.updated`, data, now + seconds * 1_000);
const settle = async () => drainOnce(await deliverPorts(node.runtime), { integration: 'grand' as IntegrationName });

async function stored(id: string): Promise<JsonObject> {
  const { rows } = await node.runtime.pool.query<{ data: JsonObject }>(
    `select data from records where integration = 'grand' and type = 'reservation' and id = $1 and version > 0`,
    [id],
  );
  return rows[0]?.data ?? assert.fail(`no ${id}`);
}
const guestOf = async (id: string, place = 0) => ((await stored(id)).guests as JsonObject[])[place] ?? {};
const consentOf = async (id: string) => (await guestOf(id)).marketing_consent;

async function profileConsent(email: string): Promise<Json | undefined> {
  const { rows } = await node.runtime.pool.query<{ data: JsonObject }>(
    `select data from records where integration = 'grand' and type = 'guest' and data ->> 'email' = $1 and version > 0`,
    [email],
  );
  return rows[0]?.data.marketing_consent;
}

const days = (n: number) => ({ check_in: `2027-03-${10 + (n % 15)}`, check_out: `2027-03-${12 + (n % 15)}` });
const booking = (id: string, more: JsonObject = {}, guest: JsonObject = {}): JsonObject => {
  const one = reservation(id) as JsonObject;
  const [first] = one.guests as JsonObject[];
  return { ...one, ...more, guests: [{ ...first, ...guest }] };
};
const asEvent = ({ id, ...rest }: JsonObject): Json => ({ reservation_id: id as Json, ...rest });

async function refuseAll(): Promise<void> {
  for (const { id } of await listHolds(node.runtime.pool, { state: 'open' }))
    await refuseHold(node.runtime, id, 'test');
}
const openHolds = async () => (await listHolds(node.runtime.pool, { state: 'open' })).map(({ sign }) => sign);

test('a refused consent does not come back with a new price, by another door, or in a reprocess', async () => {
  const rows = (consent: boolean, more: JsonObject = {}) =>
    Array.from({ length: 30 }, (_, n) =>
      booking(`C${n}`, { ...days(n), ...more }, { marketing_consent: consent, last_name: `Reis${n}` }),
    );
  await list(1, ...rows(false));
  await list(2, ...rows(true));
  assert.deepEqual(await openHolds(), ['granted guests.marketing_consent']);
  await refuseAll();
  await list(3, rows(true, { total_amount: 999 })[0] as Json);
  assert.equal(await consentOf('C0'), false, 'a new price');
  assert.equal(Number((await stored('C0')).total_amount), 999);
  await event(4, asEvent(rows(true)[1] as JsonObject));
  assert.equal(await consentOf('C1'), false, 'by an event');
  await reprocess(node.runtime, { integration: 'grand', preview: false });
  for (let n = 0; n < 30; n++) assert.equal(await consentOf(`C${n}`), false, `reprocessed ${n}`);
  const { rows: lines } = await node.runtime.pool.query(
    `select from history h, json_array_elements(h.notes) n where h.id = any('{C0,C1}') and n ->> 0 = 'refused'`,
  );
  assert.ok(lines.length >= 2, 'each repetition that is dropped says so');
});

test('a repeated yes in another booking subscribes nobody after a no', async () => {
  const guest = { guest_id: 'P-1', first_name: 'Ida', last_name: 'Krog', email: 'ida@krog.example' };
  const of = (id: string, marketing_consent: boolean, more: JsonObject = {}) =>
    booking(id, more, { ...guest, marketing_consent });
  for (const way of ['list', 'event'] as const) {
    const email = `ida.${way}@krog.example`;
    const make = (id: string, consent: boolean, more: JsonObject = {}) => {
      const one = of(`${way}-${id}`, consent, more);
      return { ...one, guests: [{ ...(one.guests as JsonObject[])[0], guest_id: `P-${way}`, email }] } as JsonObject;
    };
    const say = (at: number, one: JsonObject) => (way === 'list' ? list(at, one) : event(at, asEvent(one)));
    await say(10, make('R1', true));
    await say(11, make('R2', true));
    await settle();
    assert.equal(await profileConsent(email), true);
    await say(12, make('R1', false));
    await settle();
    assert.equal(await profileConsent(email), false);
    await say(13, make('R2', true, { total_amount: 77 }));
    await settle();
    assert.equal(await profileConsent(email), false, way);
    assert.equal(await consentOf(`${way}-R2`), false, 'a booking shows the decision about its person');
  }
});

test('nulls of a feed that never stated the field are held like any other value', async () => {
  const rows = Array.from({ length: 40 }, (_, n) => booking(`N${n}`, days(n), { email: `n${n}@mail.example` }));
  await list(20, ...rows);
  for (const [n, row] of rows.entries())
    await event(21 + n / 100, asEvent({ ...row, guests: [{ ...(row.guests as JsonObject[])[0], email: null }] }));
  const emails = async () => Promise.all(rows.map(async (_, n) => (await guestOf(`N${n}`)).email));
  const lost = (await emails()).filter((one) => one === undefined).length;
  // A tenth of the brand's bookings passes before events are held.
  assert.ok(lost <= 8, `${lost} of 40 lost`);
  assert.deepEqual(await openHolds(), ['cleared guests.email']);
  await refuseAll();
  assert.ok((await emails()).filter((one) => one === undefined).length <= 8);
});

test('who leaves a booking leaves it, whatever a guest’s own event says in between', async () => {
  const ana = { guest_id: 'A-1', first_name: 'Ana', last_name: 'Vale', email: 'ana@vale.example' };
  const bob = { guest_id: 'B-1', first_name: 'Bob', last_name: 'Kern', email: 'bob@kern.example' };
  const of = (guest: JsonObject) => asEvent({ ...booking('S1'), guests: [guest] });
  await event(30, of(ana));
  await event(31, { ...ana, phone: '+351912345678' }, 'guest');
  await event(32, of(bob));
  assert.deepEqual(
    ((await stored('S1')).guests as JsonObject[]).map(({ first_name }) => first_name),
    ['Bob'],
  );
  await event(33, of(ana));
  assert.equal((await guestOf('S1')).phone, '+351912345678', 'what was said of her counts when she is back');
});

test('a no that was said before a guest left counts when the guest is back', async () => {
  const rui = { first_name: 'Rui', last_name: 'Melo', email: 'rui@melo.example' };
  const ana = { first_name: 'Ana', last_name: 'Paz', email: 'ana@paz.example' };
  const of = (guest: JsonObject) => asEvent({ ...booking('L1'), guests: [guest] });
  await event(40, of({ ...rui, marketing_consent: false }));
  await event(41, of(ana));
  await event(42, of(rui));
  await list(43, { ...booking('L1'), guests: [{ ...rui, marketing_consent: true }] } as Json);
  assert.equal(await consentOf('L1'), false);
});

test('a genuine cancellation after a refused one is dropped with a line that says refused', async () => {
  const rows = (status: string) => Array.from({ length: 20 }, (_, n) => booking(`X${n}`, { ...days(n), status }));
  await list(50, ...rows('confirmed'));
  await list(51, ...rows('cancelled'));
  await refuseAll();
  await event(52, asEvent(booking('X3', { ...days(3), status: 'cancelled', total_amount: 12 })));
  assert.equal((await stored('X3')).status, 'confirmed');
  const { body } = await node.call('GET', '/integrations/grand/reservations/X3', await node.token('operator'));
  assert.match(JSON.stringify(body.timeline.at(-1)), /refused/);
});

test('a guest’s own event that is late after a cancellation counts when the booking is reinstated', async () => {
  const guest = { guest_id: 'Z-1', first_name: 'Zoe', last_name: 'Lund', email: 'zoe@lund.example' };
  const of = (status: string) => asEvent({ ...booking('Z1', { status }), guests: [guest] });
  await event(60, of('confirmed'));
  await event(61, of('cancelled'));
  await event(62, { ...guest, phone: '+351911222333' }, 'guest');
  assert.equal((await guestOf('Z1')).phone, undefined);
  await event(63, of('confirmed'));
  assert.equal((await guestOf('Z1')).phone, '+351911222333');
});

test('the order of elements does not depend on the order of arrival, and late statements count at their time', async () => {
  const [one, two] = ['T1', 'T2'];
  const amounts = [100, 200, 300];
  for (const n of [0, 1, 2]) await event(70 + n, asEvent(booking(one, { total_amount: amounts[n] as Json })));
  for (const n of [2, 0, 1]) await event(70 + n, asEvent(booking(two, { total_amount: amounts[n] as Json })));
  assert.deepEqual([(await stored(one)).total_amount, (await stored(two)).total_amount].map(Number), [300, 300]);
});

test('a profile takes a field from a guest’s own event that is late, as the booking does', async () => {
  const guest = { guest_id: 'Q-1', first_name: 'Quim', last_name: 'Sousa', email: 'quim@sousa.example' };
  await event(90, asEvent({ ...booking('Q1'), guests: [guest] }));
  await settle();
  await event(93, { ...guest, phone: '+351912345000' }, 'guest');
  await event(92, { ...guest, nationality: 'PT', phone: '+351912345999' }, 'guest');
  await settle();
  const { rows } = await node.runtime.pool.query<{ data: JsonObject }>(
    `select data from records where integration = 'grand' and type = 'guest' and data ->> 'guest_id' = 'Q-1'`,
  );
  const { nationality, phone } = rows[0]?.data ?? {};
  assert.deepEqual([nationality, phone], ['PT', '+351912345000']);
  const own = await guestOf('Q1');
  assert.deepEqual([own.nationality, own.phone], ['PT', '+351912345000']);
});

test('the last third of a list that is missing is held, not taken for a group', async () => {
  const { runtime } = node;
  const brand = runtime.active().integrations.get('grand') ?? assert.fail();
  const ids = Array.from({ length: 30 }, (_, n) => `G${n}`);
  await list(
    80,
    ...ids.map((id, n) =>
      booking(
        id,
        { check_in: `2027-05-0${1 + (n % 2)}`, check_out: '2027-05-05' },
        { email: `${id}@g.example`, phone: null },
      ),
    ),
  );
  const statements = ids.map((id) => cancelledForTest(id, now + 81_000, 'run_gone'));
  await transaction(runtime.pool, (tx) => ingest(tx, brand, statements, { unchanged: 0, of: 90 }));
  assert.equal((await stored('G3')).status, 'confirmed');
  assert.deepEqual(await openHolds(), ['gone']);
  await refuseAll();
});
