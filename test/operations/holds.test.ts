import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { applyDocument } from '../../src/operations/edit-documents.ts';
import { eraseGuest } from '../../src/operations/erase-guest.ts';
import { watchOnce } from '../../src/operations/watch-once.ts';
import { transaction } from '../../src/store/db/pool.ts';
import { endHolds } from '../../src/store/operate/holds.ts';
import { pruneStore } from '../../src/store/operate/retention.ts';
import { applyPrepared } from '../../src/store/records/apply.ts';
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
    integration.path.prepare({ key: String((value as JsonObject).id), value }, arrival),
  );
  await transaction(runtime.pool, (tx) => applyPrepared(tx, integration.target, prepared));
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
  assert.match(String(hold.message), /lost guests\.email in 25 of 25 rows/);
  await watchOnce(node.runtime);
  await watchOnce(node.runtime);
  const alerts = (await node.call('GET', '/alerts', operator)).body.items;
  assert.equal(alerts.filter(({ kind }: { kind: string }) => kind === 'rows_held').length, 1);
  assert.deepEqual(
    (await node.call('GET', '/dead-letters', operator)).body.items,
    [],
    'a held row is not a dead letter',
  );
  const preview = (await node.call('GET', `/holds/${hold.id}/preview`, operator)).body;
  assert.deepEqual(preview.remedy, { connector: 'hotel', path: 'guests.email', from: 'guests.mail' });
  assert.equal(preview.rows.length, 20);
  assert.ok(preview.rows[0].preview.diff.some(({ path }: { path: string }) => path === 'guests[0].email'));
  assert.deepEqual(await stored(prefix), before, 'a preview changes nothing');

  await poll(...rows(prefix));
  await node.runtime.pool.query(
    `update dead_letters set state = 'dropped', closed_by = 'run', closed_at = now() where code = 'record.held'`,
  );
  await endHolds(node.runtime.pool);
  await watchOnce(node.runtime);
  assert.deepEqual((await node.call('GET', '/holds?state=open', operator)).body.items, []);
  const after = (await node.call('GET', '/alerts', operator)).body.items;
  assert.equal(after.filter(({ kind }: { kind: string }) => kind === 'rows_held').length, 0);
});

test('the timeline of a booking says what was held', async () => {
  const { prefix } = await accident(cents);
  const { body } = await node.call('GET', `/integrations/grand/reservations/${prefix}1`, operator);
  assert.match(JSON.stringify(body), /total_amount changed by the factor 100 in 25 of \d+ rows/);
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
  assert.deepEqual([all.body.released, all.body.failed, all.body.hold.state], [24, 0, 'released']);
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
  assert.ok(held >= 10, `only ${held} of 25 were held`);
  const hold = await openHold();
  assert.equal(hold.integration, 'other');
  const { body } = await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  assert.equal(body.released, held);
});

test('a corrected mapping reads the held rows, and the hold ends', async () => {
  const { prefix, before } = await accident(renamed);
  const hold = await openHold();
  const map = 'map: { guests: { from: guests, fields: { email: { first: [mail, email] } } } }\n';
  const applied = await applyDocument(
    node.runtime,
    { kind: 'connector', name: 'hotel', text: hotelConnector(map) },
    'test',
  );
  assert.equal(applied.kind, 'applied', JSON.stringify(applied));
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

test('retention deletes held rows that were decided, never those that wait', async () => {
  const { runtime } = node;
  const { prefix } = await accident(times(5));
  await runtime.pool.query(`update dead_letters set at = at - interval '2 years', last_at = last_at - interval '2 years',
                                   closed_at = closed_at - interval '2 years' where code = 'record.held'`);
  const day = 86_400_000;
  const prune = () =>
    pruneStore(
      runtime.pool,
      { rawMs: day, deadLettersMs: day, runsMs: day, auditMs: day, historyMs: day },
      async () => {},
    );
  const left = async () =>
    (
      await runtime.pool.query<{ state: string; raw: Json }>(
        `select state, raw from dead_letters where code = 'record.held' and id like $1`,
        [`${prefix}%`],
      )
    ).rows;
  await prune();
  assert.equal((await left()).filter(({ state, raw }) => state === 'open' && raw !== null).length, 25);
  const hold = await openHold();
  await node.call('POST', `/holds/${hold.id}/refuse`, operator, {});
  await runtime.pool.query(`update dead_letters set closed_at = now() - interval '2 days' where code = 'record.held'`);
  await prune();
  assert.deepEqual(await left(), []);
});

test('an erased guest is not in held rows, neither kept nor released', async () => {
  const prefix = `H${++brands}-`;
  const guests = (n: number) => [
    { first_name: 'Ana', last_name: `Prad${'o'.repeat(1 + n)}`, email: `${prefix}${n}@mail.example`.toLowerCase() },
  ];
  const own = rows(prefix, (one, n) => ({ ...one, guests: guests(n) }));
  await poll(...own);
  await poll(...own.map((one) => times(7)(one as JsonObject)));
  const hold = await openHold();
  const email = `${prefix}7@mail.example`.toLowerCase();
  const inLetters = async () =>
    (await node.runtime.pool.query(`select from dead_letters where raw::text like $1`, [`%${email}%`])).rowCount;
  assert.equal(await inLetters(), 1);
  await eraseGuest(node.runtime, { email }, 'officer');
  assert.equal(await inLetters(), 0);
  const { body } = await node.call('POST', `/holds/${hold.id}/release`, operator, {});
  assert.equal(body.failed, 0, JSON.stringify(body));
  assert.doesNotMatch(JSON.stringify(await stored(prefix)), new RegExp(email));
});
