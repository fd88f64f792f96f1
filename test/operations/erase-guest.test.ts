import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { read } from '../../src/core/pipeline.ts';
import { transaction } from '../../src/core/store/db/pool.ts';
import { erasureLock } from '../../src/core/store/erasure/erased.ts';
import { ingest } from '../../src/core/store/records/ingest.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { until } from '../support/process.ts';
import { storedVersions } from '../support/versions.ts';
import { tablesWith } from './erase-support.ts';

/** A guest who must be erased everywhere; a companion who stays. */

let node: ApiNode;
const email = 'vera.lind@mail.example';
const vera = {
  guest_id: 'g7',
  first_name: 'Vera',
  last_name: 'Lind',
  email: ` ${email.toUpperCase()}`,
  phone: '+351912345678',
};
const omar = { guest_id: 'g8', first_name: 'Omar', last_name: 'Saad', email: 'omar@mail.example' };

before(async () => {
  node = await apiNode();
  await node.take('grand', reservation('R1', { guests: [vera, omar] }), reservation('R2', { guests: [omar] }));
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'phone' }));
  // Known by the partner's id alone.
  await node.take('grand', reservation('R3', { guests: [{ guest_id: 'g7', last_name: 'Lind' }] }));
  await node.take('other', reservation('R1', { guests: [vera] }), { id: 'BAD', note: email, guests: [vera] });
});
after(() => node.stop());

test('before the erasure many tables hold the guest', async () => {
  const places = await tablesWith(node, email);
  for (const place of ['records', 'history', 'dead_letters']) assert.ok(places.includes(place));
});

test('intake continues during the search; what it stores meanwhile is erased too', async () => {
  const person = {
    ...vera,
    guest_id: 'g9',
    email: 'nils.berg@mail.example',
    phone: '+351913000111',
    last_name: 'Berg',
  };
  await node.take('grand', reservation('N1', { guests: [person] }));
  const integration = node.runtime.active().integrations.get('grand');
  if (integration === undefined) throw new TypeError('no brand');
  const rows = { reservations: [reservation('N2', { guests: [{ ...person, first_name: 'Nils' }] })] };
  const found = integration.shapers.pull.records(rows);
  assert.equal(found.kind, 'ok');
  const arrival = { mode: 'pull', effectiveAt: Date.now(), cause: 'run', causeId: 'run_test' } as const;
  const prepared = found.kind === 'ok' ? found.records.map((raw) => read(integration, raw, arrival)) : [];
  // A page that began before the erasure excludes intake is written after the erasure has searched everything.
  const erasing = await transaction(node.runtime.pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock_shared(${erasureLock})`);
    const begun = eraseGuest(node.runtime, { email: person.email }, 'officer');
    await until('the erasure waits for the page', async () => {
      const { rowCount } = await node.runtime.pool.query(
        `select from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and not granted`,
      );
      return rowCount === 1;
    });
    await ingest(tx, integration, prepared);
    return { begun };
  });
  const erased = await erasing.begun;
  assert.equal(erased.removed.records, 2);
  const left = await tablesWith(node, person.email);
  for (const place of ['records', 'history']) assert.ok(!left.includes(place), place);
});

test('an erasure returns a receipt and names the guest nowhere in clear', async () => {
  const erased = await eraseGuest(node.runtime, { email: `${email} ` }, 'officer');
  const receipt = erased;
  assert.equal(receipt.removed.records, 3);
  assert.equal(receipt.removed.dead_letters, 1);
  assert.ok(receipt.completed_at);
  const notYet = { confirmed: 0, passed_over: 0, dropped: 0, not_notified: 0, given_up: 0, confirmed_at: null };
  assert.deepEqual(receipt.notified, [
    { integration: 'grand', destination: 'lake', records: 2, ...notYet },
    { integration: 'other', destination: 'lake', records: 1, ...notYet },
  ]);
  assert.equal(receipt.confirmed_at, null);
  assert.ok(!JSON.stringify(receipt).includes('vera'));
  assert.deepEqual(await tablesWith(node, email), []);
  const rows = (await storedVersions(node.runtime.pool)).map((one) => ({ text: one.text + JSON.stringify(one.diff) }));
  assert.ok(
    !rows.some(({ text }) => text.includes(email)),
    'no version holds the guest, only the note to destinations does',
  );
});

test('a later request finds the receipt by the address alone, which is not stored', async () => {
  const find = async (whom: Json) => {
    const { status, body } = await node.call('POST', '/privacy/erasures/find', await node.token('admin'), whom);
    return status === 200 ? body.items.length : status;
  };
  assert.equal(await find({ email: email.toUpperCase() }), 1);
  assert.equal(await find({ email: omar.email }), 0);
  assert.equal(await find({ email, integration: 'grand' }), 0, 'it was asked for in all brands, not in one');
  assert.equal(await find({}), 422);
  assert.deepEqual(await tablesWith(node, email), []);
});

test('keeps the reservation and the companion, and records a change with the event erased', async () => {
  const { rows } = await node.runtime.pool.query(
    `select event, data from records where integration = 'grand' and id = 'R1'`,
  );
  assert.equal(rows[0].event, 'erased');
  assert.equal(rows[0].data.guests.length, 2);
  assert.deepEqual(rows[0].data.guests[0], {});
  assert.equal(rows[0].data.guests[1].last_name, 'Saad');
  assert.equal(rows[0].data.total_amount, 310.5);
});

test("erases guests that only the partner's id names", async () => {
  const rows = (await storedVersions(node.runtime.pool)).map((one) => ({ text: one.text + JSON.stringify(one.diff) }));
  assert.ok(!rows.some(({ text }) => text.includes('Lind')));
  assert.deepEqual(await tablesWith(node, '"Lind"'), []);
});

test('the next poll does not bring the guest back, and a poll without news makes no version', async () => {
  const versions = async () =>
    (await node.runtime.pool.query(`select id, version from records where integration = 'grand' order by id`)).rows;
  const before = await versions();
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'phone' }));
  assert.deepEqual(await versions(), before);
  await node.take('grand', reservation('R1', { guests: [vera, omar], channel: 'web' }));
  await node.take('grand', reservation('R9', { guests: [{ ...vera, guest_id: 'g99' }] }));
  await node.take('other', { id: 'BAD2', note: `call ${email}` });
  assert.deepEqual(await tablesWith(node, email), []);
  const { rows } = await node.runtime.pool.query(`select data from records where integration = 'grand' and id = 'R9'`);
  assert.deepEqual(rows[0].data.guests, [{}]);
});

test('deletes the identifiers once every destination has received the erasure', async () => {
  const { forgetDeliveredErasures } = await import('../../src/core/store/erasure/erased.ts');
  assert.equal(await forgetDeliveredErasures(node.runtime.pool), 0);
  await node.runtime.pool.query('update outbox set next_version = last_version + 1, due_at = null');
  assert.ok((await forgetDeliveredErasures(node.runtime.pool)) > 0);
  assert.deepEqual(await tablesWith(node, email), []);
});

test('erases invalid addresses that were kept as sent', async () => {
  await node.take('grand', reservation('N1', { guests: [{ last_name: 'Berg', email: 'Nobody@mail.example' }] }));
  const stored = await node.runtime.pool.query(`select data from records where id = 'N1'`);
  assert.equal(stored.rows[0].data.guests[0].email_raw, 'Nobody@mail.example');
  const erased = await eraseGuest(node.runtime, { email: 'nobody@mail.example' }, 'officer');
  assert.equal(erased.removed.records, 1);
  await node.take(
    'grand',
    reservation('N1', { guests: [{ last_name: 'Berg', email: 'Nobody@mail.example' }], source: 'x' }),
  );
  assert.deepEqual(await tablesWith(node, 'nobody@mail'), []);
  const rows = (await storedVersions(node.runtime.pool)).map((one) => ({ text: one.text + JSON.stringify(one.diff) }));
  assert.ok(!rows.some(({ text }) => text.toLowerCase().includes('nobody@mail')));
});

test('erasing in one brand leaves the others unchanged; a guest_id needs its brand; invalid input is refused', async () => {
  await node.take('grand', reservation('P1', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  await node.take('other', reservation('P1', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  const erased = await eraseGuest(node.runtime, { email: 'ito@mail.example', integration: 'grand' }, 'officer');
  assert.equal(erased.removed.records, 1);
  await node.take('other', reservation('P2', { guests: [{ last_name: 'Ito', email: 'ito@mail.example' }] }));
  const { rows } = await node.runtime.pool.query(`select data from records where integration = 'other' and id = 'P2'`);
  assert.equal(rows[0].data.guests[0].last_name, 'Ito');
  await assert.rejects(eraseGuest(node.runtime, { guest_id: 'g8' }, 'officer'), { code: 'operate.invalid_input' });
  await assert.rejects(eraseGuest(node.runtime, { email: 'no address' }, 'officer'), { code: 'operate.invalid_input' });
  await assert.rejects(eraseGuest(node.runtime, {}, 'officer'), { code: 'operate.invalid_input' });
  const byId = await eraseGuest(node.runtime, { guest_id: 'g8', integration: 'grand' }, 'officer');
  assert.equal(byId.removed.records, 2);
});
