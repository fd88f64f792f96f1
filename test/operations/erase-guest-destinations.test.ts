import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import { forgetDeliveredErasures } from '../../src/core/store/erasure/erased.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { dropDeadLetter } from '../../src/operator/operations/replay-dead-letters.ts';
import { resendRecords } from '../../src/operator/operations/resend.ts';
import type { ErasureReceipt } from '../../src/operator/store/erasure/erasures.ts';
import { noteConfirmations } from '../../src/operator/store/erasure/erasures.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';

/** Destinations receive an erasure: a CRM with the address under which it knows the guest, a lake without one. */

let answer = 200;
/** Runs before an answer is given. */
let meanwhile: () => Promise<unknown> = async () => {};
const calls: { path: string; body: unknown }[] = [];
const crm = createServer((request, response) => {
  let text = '';
  request.on('data', (chunk: Buffer) => (text += chunk.toString()));
  request.on('end', async () => {
    calls.push({ path: request.url ?? '', body: JSON.parse(text) });
    await meanwhile();
    const refused = JSON.stringify({ error: `Refused: ${text}` });
    response.writeHead(answer, { 'content-type': 'application/json' }).end(answer < 400 ? '{}' : refused);
  });
});
let node: ApiNode;
const vera = { first_name: 'Vera', last_name: 'Lind', email: 'vera.lind@mail.example' };
const omar = { first_name: 'Omar', last_name: 'Saad', email: 'omar@mail.example' };

before(async () => {
  await new Promise<void>((ready) => crm.listen(0, '127.0.0.1', ready));
  const url = `http://127.0.0.1:${(crm.address() as AddressInfo).port}`;
  node = await apiNode('', {
    'destinations/crm.yaml': `destination: crm
type: http
url: ${url}/contacts
each: guest
requires: [guest.email]
body: { email: "{guest.email}", name: "{guest.last_name}" }
on:
  erased: { url: "${url}/forget", body: { email: "{guest.email}" } }
`,
    'integrations/grand.yaml': `integration: grand
connector: hotel
brand_id: LIS01
timezone: Europe/Lisbon
push: { enabled: true }
deliver: [crm, lake]
`,
  });
});
after(async () => {
  await node.stop();
  crm.close();
});

const deliver = async () => drainOnce(await deliverPorts(node.runtime));

test('the CRM erases the guest and no other; the files destination gets the record id without the guest', async () => {
  await node.take('grand', reservation('R1', { guests: [vera, omar] }));
  await deliver();
  assert.deepEqual(calls.map((call) => call.path).sort(), ['/contacts', '/contacts']);
  calls.length = 0;
  await eraseGuest(node.runtime, { email: vera.email }, 'officer');
  await deliver();
  assert.deepEqual(calls, [{ path: '/forget', body: { email: vera.email } }]);
  const folder = path.join(node.runtime.workspaceDir, 'out');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ndjson'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const lines = texts.flatMap((text) => text.trim().split('\n')).map((line) => JSON.parse(line));
  const last = lines.filter(({ type }) => type === 'reservation').at(-1);
  assert.equal(last.event, 'erased');
  assert.equal(last.version, 2);
  assert.equal(last.data.guests.length, 1);
  assert.equal(last.data.guests[0].email, omar.email);
});

test('files keep no text that names the guest by document or by a number that could not be read', async () => {
  const nuno = { first_name: 'Nuno', last_name: 'Reis', email: 'nuno@mail.example', document_number: 'N5550001' };
  const charges = [
    { description: 'Copy of passport N5550001' },
    { description: 'Call to 55-50-X2' },
    { description: 'Spa' },
  ];
  await node.take('grand', reservation('R9', { guests: [{ ...nuno, phone: '55-50-X2' }], charges }));
  await deliver();
  await eraseGuest(node.runtime, { email: nuno.email }, 'officer');
  await deliver();
  const folder = path.join(node.runtime.workspaceDir, 'out');
  const files = (await readdir(folder, { recursive: true })).filter((file) => file.endsWith('.ndjson'));
  const texts = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
  const lines = texts.flatMap((text) => text.trim().split('\n')).filter((line) => line.includes('"R9"'));
  assert.ok(lines.length >= 2 && lines.some((line) => line.includes('Spa')));
  assert.deepEqual(
    lines.filter((line) => /N5550001|55-50-X2/.test(line)),
    [],
  );
});

test('the receipt shows when each destination confirmed, even after its attempts are deleted', async () => {
  const receipt = async () =>
    (await node.call('GET', '/privacy/erasures', await node.token('admin'))).body.items.at(-1) as ErasureReceipt;
  assert.equal((await receipt()).confirmed_at, null);
  await noteConfirmations(node.runtime.pool);
  await node.runtime.pool.query('delete from attempts');
  await noteConfirmations(node.runtime.pool);
  const { notified, confirmed_at: last } = await receipt();
  assert.deepEqual(
    notified
      .map(({ destination, records, confirmed, passed_over }) => [destination, records, confirmed, passed_over])
      .sort(),
    [
      ['crm', 1, 1, 0],
      ['lake', 2, 2, 0],
    ],
  );
  assert.ok(notified.every(({ confirmed_at }) => confirmed_at !== null && confirmed_at <= String(last)));
});

test('a destination that has not answered or refused is not shown as confirmed', async () => {
  const rosa = { first_name: 'Rosa', last_name: 'Vaz', email: 'rosa@mail.example' };
  await node.take('grand', reservation('R7', { guests: [rosa] }));
  await deliver();
  answer = 500;
  const erased = await eraseGuest(node.runtime, { email: rosa.email }, 'officer');
  await deliver();
  await noteConfirmations(node.runtime.pool);
  const id = erased.erasure_id;
  const read = async () =>
    (await node.call('GET', `/privacy/erasures/${id}`, await node.token('admin'))).body as ErasureReceipt;
  const before = await read();
  assert.equal(before.confirmed_at, null);
  assert.deepEqual(
    before.notified
      .map(({ destination, records, confirmed, confirmed_at }) => [
        destination,
        records,
        confirmed,
        confirmed_at !== null,
      ])
      .sort(),
    [
      ['crm', 1, 0, false],
      ['lake', 2, 2, true],
    ],
  );
  answer = 200;
  await node.runtime.pool.query('update outbox set due_at = now() where due_at is not null');
  await deliver();
  await noteConfirmations(node.runtime.pool);
  assert.ok((await read()).notified.every(({ confirmed_at }) => confirmed_at !== null));
  assert.ok((await read()).confirmed_at);
});

test('the address is deleted once all destinations have received the erasure', async () => {
  await forgetDeliveredErasures(node.runtime.pool);
  const { rows } = await node.runtime.pool.query(`select from erased_identifiers`);
  assert.equal(rows.length, 0);
});

test('queued deliveries are sent without the erased guest', async () => {
  calls.length = 0;
  const ines = { first_name: 'Inês', last_name: 'Melo', email: 'ines@mail.example' };
  await node.take('grand', reservation('R2', { guests: [ines] }));
  await eraseGuest(node.runtime, { email: ines.email }, 'officer');
  await deliver();
  assert.deepEqual(
    calls.map((call) => call.path),
    ['/forget'],
  );
});

test('a dropped erasure is never shown as confirmed', async () => {
  const { pool } = node.runtime;
  const lena = { first_name: 'Lena', last_name: 'Holm', email: 'lena@mail.example' };
  await node.take('grand', reservation('R8', { guests: [lena] }));
  await deliver();
  answer = 422;
  const erased = await eraseGuest(node.runtime, { email: lena.email }, 'officer');
  await deliver();
  answer = 200;
  const { rows } = await pool.query<{ id: string }>(
    `select dead_letter_id::text as id from dead_letters where state = 'open' and destination = 'crm' and id = 'R8'`,
  );
  await dropDeadLetter(node.runtime, rows[0]?.id ?? '', { by: 'test', reason: 'in a hurry' });
  const { erasure_id: id } = erased;
  const crmOf = async () => {
    await noteConfirmations(pool);
    const { body } = await node.call('GET', `/privacy/erasures/${id}`, await node.token('admin'));
    const notified = (body as ErasureReceipt).notified.find(({ destination }) => destination === 'crm');
    return [
      notified?.confirmed,
      notified?.passed_over,
      notified?.dropped,
      notified?.confirmed_at !== null,
      (body as ErasureReceipt).state,
    ];
  };
  assert.deepEqual(await crmOf(), [0, 0, 1, false, 'notifying']);
  await node.take('grand', reservation('R8', { guests: [omar] }));
  await deliver();
  assert.deepEqual(await crmOf(), [0, 0, 1, false, 'notifying'], 'a newer version does not replace it');
  await pool.query('delete from attempts');
  assert.deepEqual(await crmOf(), [0, 0, 1, false, 'notifying'], 'nor does the end of the retention');
});

test('a dead letter keeps no answer that quotes an erased guest: to a call during the erasure, and to the erasure', async () => {
  const { pool } = node.runtime;
  const lia = { first_name: 'Lia', last_name: 'Dahl', email: 'lia@mail.example' };
  const letters = async () =>
    (
      await pool.query<{ version: number; detail: { answer?: string } }>(
        `select version, detail from dead_letters where destination = 'crm' and id = 'R12' order by version`,
      )
    ).rows;
  await node.take('grand', reservation('R12', { guests: [lia] }));
  answer = 422;
  meanwhile = async () => {
    meanwhile = async () => {};
    await eraseGuest(node.runtime, { email: lia.email }, 'officer');
  };
  await deliver();
  const [first] = await letters();
  assert.deepEqual([first?.version, first?.detail.answer], [1, undefined]);
  await dropDeadLetter(node.runtime, (await openLetter()) ?? '', { by: 'test', reason: 'refused' });
  await deliver();
  assert.equal(calls.at(-1)?.path, '/forget');
  assert.deepEqual(
    (await letters()).map(({ version, detail }) => [version, detail.answer]),
    [
      [1, undefined],
      [2, undefined],
    ],
  );
  answer = 200;

  async function openLetter(): Promise<string | undefined> {
    const { rows } = await pool.query<{ id: string }>(
      `select dead_letter_id::text as id from dead_letters where state = 'open' and destination = 'crm' and id = 'R12'`,
    );
    return rows[0]?.id;
  }
});

test('the receipt names a destination that has the guest and is no longer delivered to', async () => {
  const { pool } = node.runtime;
  const admin = await node.token('admin');
  const timo = { first_name: 'Timo', last_name: 'Berg', email: 'timo@mail.example' };
  const { body: document } = await node.call('GET', '/documents/integration/grand', admin);
  const put = async (text: string) =>
    assert.equal((await node.call('PUT', '/documents/integration/grand', admin, { text })).status, 200);
  await node.take('grand', reservation('R13', { guests: [timo] }));
  await deliver();
  await put(document.source.replace('[crm, lake]', '[lake]'));
  const erased = await eraseGuest(node.runtime, { email: timo.email }, 'officer');
  const { erasure_id: id } = erased;
  const receipt = async () => {
    await deliver();
    await noteConfirmations(pool);
    return (await node.call('GET', `/privacy/erasures/${id}`, admin)).body as ErasureReceipt;
  };
  const { state, notified } = await receipt();
  assert.deepEqual(
    notified.map((one) => [one.destination, one.records, one.not_notified, one.confirmed_at !== null]),
    [
      ['lake', 2, 0, true],
      ['crm', 0, 1, false],
    ],
  );
  assert.equal(state, 'notifying', 'nobody has confirmed for the CRM');
  await forgetDeliveredErasures(pool);
  await put(document.source);
  await resendRecords(node.runtime, { integration: 'grand', destination: 'crm', id: 'R13' });
  // It gets the record without the guest, and with nothing that names the guest.
  assert.equal((await receipt()).state, 'notifying');
});
