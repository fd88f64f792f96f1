import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { writeRejections } from '../../src/core/store/events/rejections.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { applyDocument } from '../../src/operator/operations/edit-documents.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { watchOnce } from '../../src/operator/operations/watch-once.ts';
import { endHolds } from '../../src/operator/store/holds.ts';
import { pruneStore } from '../../src/operator/store/retention.ts';
import type { Json, JsonObject } from '../../src/terms.ts';
import { type ApiNode, apiNode, hotelConnector, reservation } from '../api/node.ts';

/** What an operator sees of a partner's accident, and what they can do about it. */
let node: ApiNode;
let operator: string;
before(async () => {
  node = await apiNode();
  operator = await node.token('operator');
});
after(() => node.stop());

let brands = 0;
const rows = (from: string, make: (one: JsonObject, n: number) => Json = (one) => one) =>
  Array.from({ length: 25 }, (_, n) =>
    make(reservation(`${from}${n}`, { total_amount: 100 + n, ...stay(n) }) as JsonObject, n),
  );
/** Bookings of different days: those of one day would be a group. */
const stay = (n: number) => ({ check_in: `2027-03-${10 + (n % 15)}`, check_out: `2027-03-${12 + (n % 15)}` });
const renamed = (one: JsonObject): Json => ({
  ...one,
  guests: (one.guests as JsonObject[]).map(({ email = null, ...rest }) => ({ ...rest, mail: email })),
});
const cents = (one: JsonObject): Json => ({ ...one, total_amount: Number(one.total_amount) * 100 });

async function stored(prefix: string): Promise<JsonObject[]> {
  const { rows: found } = await node.runtime.pool.query<{ data: JsonObject }>(
    `select data from records where integration = 'grand' and type = 'reservation' and id like $1 and version > 0 order by id`,
    [`${prefix}%`],
  );
  return found.map(({ data }) => data);
}
const amounts = async (prefix: string) => (await stored(prefix)).map(({ total_amount }) => Number(total_amount));
const emails = async (prefix: string) =>
  (await stored(prefix)).map(({ guests }) => (guests as { email?: string }[])[0]?.email);

/** A page of a run of its own. */
async function poll(...reservations: Json[]): Promise<void> {
  const { runtime } = node;
  const integration = runtime.active().integrations.get('grand');
  assert.ok(integration);
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: `run_${++runs}` } as const;
  const prepared = reservations.map((value) =>
    read(integration, { key: String((value as JsonObject).id), value }, arrival),
  );
  await transaction(runtime.pool, (tx) => ingest(tx, integration, prepared));
}
let runs = 0;

async function openHold(): Promise<{ id: string; [key: string]: Json }> {
  const { body } = await node.call('GET', '/holds?state=open', operator);
  assert.equal(body.items.length, 1, JSON.stringify(body));
  return body.items[0];
}

/** Rows of one test, and a clean slate for the next: nothing of it stays open. */
async function accident(make: (one: JsonObject, n: number) => Json): Promise<{ prefix: string; before: Json[] }> {
  const prefix = `H${++brands}-`;
  await poll(...rows(prefix));
  const before = await stored(prefix);
  await poll(...rows(prefix, make));
  return { prefix, before };
}

test('a hold raises one alert, is listed with its shares, and names the likely remedy', async () => {
  const { prefix, before } = await accident(renamed);
  assert.deepEqual(await stored(prefix), before);
  const hold = await openHold();
  assert.deepEqual(
    [hold.kind, hold.path, hold.share_before, hold.share_now, hold.rows, hold.waiting],
    ['cleared', 'guests.email', 1, 0, 25, 25],
  );
  assert.match(String(hold.message), /lost guests\.email in 25 of 25 bookings/);
  await watchOnce(node.runtime);
  await watchOnce(node.runtime);
  const alerts = (await node.call('GET', '/alerts', operator)).body.items;
  assert.equal(alerts.filter(({ kind }: { kind: string }) => kind === 'rows_held').length, 1);
  assert.deepEqual(
    (await node.call('GET', '/dead-letters', operator)).body.items,
    [],
    'a held value is not a dead letter',
  );
  const preview = (await node.call('GET', `/holds/${hold.id}/preview`, operator)).body;
  const { sample, ...remedy } = preview.remedy;
  assert.deepEqual(remedy, { connector: 'hotel', path: 'guests.email', from: 'guests.mail' });
  assert.equal(sample.guests[0].email, undefined);
  assert.equal(preview.rows.length, 25);
  assert.ok(preview.rows[0].diff.some(({ path }: { path: string }) => path === 'guests[0].email'));
  assert.deepEqual(await stored(prefix), before, 'a preview changes nothing');

  await poll(...rows(prefix));
  await endHolds(node.runtime.pool);
  await watchOnce(node.runtime);
  assert.deepEqual((await node.call('GET', '/holds?state=open', operator)).body.items, []);
  const after = (await node.call('GET', '/alerts', operator)).body.items;
  assert.equal(after.filter(({ kind }: { kind: string }) => kind === 'rows_held').length, 0);
});

test('the timeline of a booking says what was held', async () => {
  const { prefix } = await accident(cents);
  const { body } = await node.call('GET', `/integrations/grand/reservations/${prefix}1`, operator);
  assert.match(JSON.stringify(body), /amounts are 100 times higher in 25 of \d+ bookings/);
  const hold = await openHold();
  await node.call('POST', `/holds/${hold.id}/refuse`, operator, {});
});

test('refused: the stored values stay, also when the partner repeats the rows, without a new hold', async () => {
  const tenth = (one: JsonObject): Json => ({ ...one, total_amount: Number(one.total_amount) / 10 });
  const { prefix } = await accident(tenth);
  const before = await amounts(prefix);
  const hold = await openHold();
  const { body } = await node.call('POST', `/holds/${hold.id}/refuse`, operator, {});
  assert.equal(body.refused, 25);
  assert.equal(body.hold.state, 'refused');
  await poll(...rows(prefix, tenth));
  assert.deepEqual(await amounts(prefix), before);
  assert.deepEqual((await node.call('GET', '/holds?state=open', operator)).body.items, []);
});

test('some rows are released, then all; the same change is normal from then on', async () => {
  const dearer = (one: JsonObject): Json => ({ ...one, total_amount: Number(one.total_amount) * 2 });
  const { prefix } = await accident(dearer);
  const hold = await openHold();
  const some = await node.call('POST', `/holds/${hold.id}/release`, operator, { reservations: [`${prefix}3`] });
  assert.equal(some.body.released, 1);
  assert.equal((await amounts(prefix)).filter((amount) => amount >= 200).length, 1);
  const all = await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  assert.deepEqual([all.body.released, all.body.hold.state], [24, 'released']);
  assert.ok((await amounts(prefix)).every((amount) => amount >= 200));
  const { prefix: next } = await accident(dearer);
  assert.ok(
    (await amounts(next)).every((amount) => amount >= 200),
    'learnt',
  );
});

test('rows that an operator released under one hold do not keep another one open', async () => {
  const late = (date: Json | undefined) => String(date).replace('2027', '2028');
  const { prefix } = await accident((one) => ({
    ...one,
    check_in: late(one.check_in),
    check_out: late(one.check_out),
  }));
  const open = async () => (await node.call('GET', '/holds?state=open', operator)).body.items;
  const holds: { id: string; path: string }[] = await open();
  assert.deepEqual(holds.map(({ path }) => path).sort(), ['check_in', 'check_out']);
  await node.call('POST', `/holds/${holds[0]?.id}/release`, operator, {});
  assert.ok((await stored(prefix)).every(({ check_out }) => String(check_out).startsWith('2028')));
  await watchOnce(node.runtime);
  assert.deepEqual(await open(), []);
});

test('events count as rows do, and are released as they came', async () => {
  const now = Date.now();
  const early = rows('E');
  for (const [n, one] of early.entries()) {
    await node.send('other', 'reservation.created', { ...(one as JsonObject), reservation_id: `E${n}` }, now - 9e6 + n);
  }
  for (const [n, one] of early.entries()) {
    const data = { ...(cents(one as JsonObject) as JsonObject), reservation_id: `E${n}` };
    await node.send('other', 'reservation.updated', data, now - 8e6 + n * 300_000);
  }
  const { rows: found } = await node.runtime.pool.query<{ held: boolean }>(
    `select (data ->> 'total_amount')::numeric < 1000 as held from records where integration = 'other' and type = 'reservation'`,
  );
  const held = found.filter((one) => one.held).length;
  assert.equal(held, 21, 'four pass before the hold');
  const hold = await openHold();
  assert.equal(hold.integration, 'other');
  const { body } = await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  assert.equal(body.released, held);
});

test('a corrected mapping reads the held rows, and the hold ends', async () => {
  const { prefix, before } = await accident(renamed);
  const hold = await openHold();
  const map = 'map: { guests: { from: guests, fields: { email: { first: [mail, email] } } } }\n';
  await applyDocument(node.runtime, { kind: 'connector', name: 'hotel', text: hotelConnector(map) }, 'test');
  await watchOnce(node.runtime);
  assert.deepEqual(await stored(prefix), before);
  assert.deepEqual(
    await emails(prefix),
    before.map((one) => ((one as JsonObject).guests as { email: string }[])[0]?.email),
  );
  const { body } = await node.call('GET', '/holds', operator);
  const ended = body.items.find(({ id }: { id: string }) => id === hold.id);
  assert.deepEqual([ended.state, ended.waiting], ['ended', 0]);
});

const times =
  (factor: number) =>
  (one: JsonObject): Json => ({ ...one, total_amount: Number(one.total_amount) * factor });

test('what is held waits, whatever its retention; a refused value is a line in the timeline', async () => {
  const { runtime } = node;
  const { prefix } = await accident(times(5));
  const day = 86_400_000;
  const kept = { rawMs: day, deadLettersMs: day, runsMs: day, auditMs: day, historyMs: day };
  await runtime.pool.query(`update history set at = at - interval '2 years' where id like $1`, [`${prefix}%`]);
  await pruneStore(runtime.pool, kept, async () => {});
  const hold = await openHold();
  assert.equal(hold.waiting, 25);
  await node.call('POST', `/holds/${hold.id}/refuse`, operator, {});
  const { body } = await node.call('GET', `/integrations/grand/reservations/${prefix}1`, operator);
  assert.match(JSON.stringify(body), /refused the held value of total_amount/);
});

test('a hold is about values: what else a held row says passes, and a refusal swallows nothing later', async () => {
  const guests = (one: JsonObject, more: JsonObject): Json => [{ ...(one.guests as JsonObject[])[0], ...more }];
  const prefix = `H${++brands}-`;
  const agreed = (one: JsonObject): Json => ({ ...one, guests: guests(one, { marketing_consent: true }) });
  await poll(...rows(prefix, agreed));
  // Prices times 1000, and in the same rows a cancellation, a withdrawal and a new day.
  const wrong = (one: JsonObject, n: number): Json => ({
    ...(agreed(one) as JsonObject),
    total_amount: Number(one.total_amount) * 1000,
    ...(n === 1 && { status: 'cancelled' }),
    ...(n === 2 && { guests: guests(one, { marketing_consent: false }) }),
    ...(n === 3 && { check_out: '2027-04-20' }),
  });
  await poll(...rows(prefix, wrong));
  const at = async (n: number) => (await stored(prefix)).find(({ id }) => id === `${prefix}${n}`) as JsonObject;
  assert.equal((await at(1)).status, 'cancelled');
  assert.equal(((await at(2)).guests as JsonObject[])[0]?.marketing_consent, false);
  assert.equal((await at(3)).check_out, '2027-04-20');
  assert.ok((await amounts(prefix)).every((amount) => amount < 1000));
  const hold = await openHold();
  await node.call('POST', `/holds/${hold.id}/refuse`, operator, {});
  // Refused; then the partner repeats the price, and something genuine changes.
  const later = (one: JsonObject, n: number): Json => ({
    ...(wrong(one, n) as JsonObject),
    ...(n === 5 && { status: 'cancelled' }),
    ...(n === 6 && { total_amount: 77 }),
  });
  await poll(...rows(prefix, later));
  assert.equal((await at(5)).status, 'cancelled');
  assert.equal((await at(6)).total_amount, 77, 'the next different value is judged afresh');
  assert.ok((await amounts(prefix)).every((amount) => amount < 1000));
  assert.deepEqual((await node.call('GET', '/holds?state=open', operator)).body.items, []);
});

test('a later event about other fields does not discard what is held; a newer value of the field does', async () => {
  const now = Date.now();
  const own = Array.from(
    { length: 12 },
    (_, n) => reservation(`P${n}`, { total_amount: 100 + n, ...stay(n) }) as JsonObject,
  );
  const send = (data: JsonObject, ms: number) => node.send('other', 'reservation.updated', data, now - 4e6 + ms);
  for (const [n, one] of own.entries()) await send({ ...one, reservation_id: `P${n}` }, n);
  for (const [n, one] of own.entries()) await send({ ...one, reservation_id: `P${n}`, status: 'cancelled' }, 1e6 + n);
  const hold = await openHold();
  assert.deepEqual([hold.kind, hold.path, hold.waiting], ['status', 'status', 8], 'four pass, and no more');
  await send(
    { reservation_id: 'P10', guests: [{ first_name: 'Rosa', last_name: 'Prado', email: 'rosa@mail.example' }] },
    2e6,
  );
  await send({ reservation_id: 'P11', status: 'checked_in' }, 2e6);
  await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  const { rows: found } = await node.runtime.pool.query<{ id: string; status: string }>(
    `select id, data ->> 'status' as status from records where integration = 'other' and id in ('P9', 'P10', 'P11') order by id`,
  );
  assert.deepEqual(found, [
    { id: 'P10', status: 'cancelled' },
    { id: 'P11', status: 'checked_in' },
    { id: 'P9', status: 'cancelled' },
  ]);
});

test('nearly all guests withdraw: it counts at once, and somebody is told', async () => {
  const prefix = `H${++brands}-`;
  const said = (marketing_consent: boolean) => (one: JsonObject) => ({
    ...one,
    guests: [{ ...(one.guests as JsonObject[])[0], marketing_consent }] as Json,
  });
  await poll(...rows(prefix, said(true)));
  await poll(...rows(prefix, said(false)));
  assert.ok((await stored(prefix)).every(({ guests }) => (guests as JsonObject[])[0]?.marketing_consent === false));
  assert.deepEqual((await node.call('GET', '/holds?state=open', operator)).body.items, []);
  await watchOnce(node.runtime);
  const alerts: { kind: string; message: string }[] = (await node.call('GET', '/alerts', operator)).body.items;
  const told = alerts.filter(({ kind }) => kind === 'rows_unusual').map(({ message }) => message);
  assert.ok(
    told.some((message) => /withdrew their consent .* in 25 of/.test(message)),
    told.join('\n'),
  );
});

test('event ids that come again with other contents are told once, with their number', async () => {
  const reused = { integration: 'other', endpointId: 'whe_1', code: 'push.event_id_reused', reason: 'event_id_reused' };
  const told = async (count: number) => {
    await writeRejections(node.runtime.pool, [{ ...reused, count, newest: [] }]);
    await watchOnce(node.runtime);
    const { items } = (await node.call('GET', '/alerts', operator)).body;
    return items.filter(({ subject }: { subject: string }) => subject === 'reused');
  };
  assert.deepEqual(await told(2), [], 'a retry of a sender that writes its body again');
  const [alert, ...others] = await told(10);
  assert.deepEqual([alert?.kind, alert?.integration, others.length], ['rows_unusual', 'other', 0]);
  assert.match(alert.message, /^Unusual: 12 events had the id of an earlier event/);
});

test('an erased guest is not in held values, neither kept nor released', async () => {
  const prefix = `H${++brands}-`;
  const guests = (n: number) => [
    { first_name: 'Ana', last_name: `Prad${'o'.repeat(1 + n)}`, email: `${prefix}${n}@mail.example`.toLowerCase() },
  ];
  const own = rows(prefix, (one, n) => ({ ...one, guests: guests(n) }));
  await poll(...own);
  await poll(...own.map((one) => times(7)(one as JsonObject)));
  const hold = await openHold();
  const email = `${prefix}7@mail.example`.toLowerCase();
  await eraseGuest(node.runtime, { email }, 'officer');
  const left = async () =>
    (await node.runtime.pool.query(`select from records where data::text || claims::text like $1`, [`%${email}%`]))
      .rowCount;
  assert.equal(await left(), 0);
  await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  assert.equal(await left(), 0);
});

test('an erased guest leaves nothing in a booking that is held as a whole', async () => {
  const { pool } = node.runtime;
  const email = 'held.whole@mail.example';
  await pool.query(
    `insert into records (integration, type, id, version, effective_at, seq, data, claims, held, keys)
     values ('grand', 'reservation', 'W1', 0, now(), 1, '{}', $1, '{hld_w}', $2::tsvector)`,
    [
      JSON.stringify({
        aside: [{ hold: 'hld_w', path: '', says: { values: {}, lists: { guests: [{ values: { email } }] } } }],
      }),
      `'reservation email:${email}'`,
    ],
  );
  await eraseGuest(node.runtime, { email }, 'officer');
  assert.equal((await pool.query(`select from records where id = 'W1'`)).rowCount, 0);
});
