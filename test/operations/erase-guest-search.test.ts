import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { exportGuest } from '../../src/operator/operations/export-guest.ts';
import type { Json } from '../../src/terms.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { storedVersions } from '../support/versions.ts';
import { identifiersOf, state, tablesWith } from './erase-support.ts';

/** What erasures and access requests find of a person, and what of others they leave. */

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

test('an id that a partner sends as null names nobody: other guests stay', async () => {
  const ana = { guest_id: null, first_name: 'Ana', last_name: 'Reis', email: 'ana.reis@mail.example', phone: null };
  const rui = { guest_id: null, first_name: 'Rui', last_name: 'Lopes', email: 'rui.lopes@mail.example', phone: null };
  await node.take('grand', reservation('Q1', { guests: [ana, rui] }), reservation('Q2', { guests: [rui] }));
  await state(node, 'push', { reservation_id: 'Q1', guests: [ana, rui] });
  const erased = await eraseGuest(node.runtime, { email: ana.email }, 'officer');
  assert.equal(erased.removed.records, 1);
  assert.deepEqual(await tablesWith(node, ana.email), []);
  const { rows } = await node.runtime.pool.query(
    `select id, data, claims::text as claims from records where integration = 'grand' and id in ('Q1', 'Q2') order by id`,
  );
  assert.deepEqual(
    rows.map(({ data }) => data.guests.map((guest: { last_name?: string }) => guest.last_name ?? '')),
    [['', 'Lopes'], ['Lopes']],
  );
  assert.equal(rows[0].claims.split(rui.email).length, 3, 'both sources still name the companion');
});

test('two companions erased one after the other, before any destination was notified, both leave every version', async () => {
  const ida = { first_name: 'Ida', last_name: 'Falk', email: 'ida.falk@mail.example' };
  const jon = { first_name: 'Jon', last_name: 'Wirt', email: 'jon.wirt@mail.example' };
  await node.take('grand', reservation('T1', { guests: [ida, jon] }));
  await eraseGuest(node.runtime, { email: ida.email }, 'officer');
  await eraseGuest(node.runtime, { email: jon.email }, 'officer');
  const versions = await storedVersions(node.runtime.pool, `c.integration = 'grand' and c.id = 'T1'`);
  assert.deepEqual(
    versions.map(({ text }) => text.includes('Falk') || text.includes('Wirt')),
    [false, false, false],
  );
  const [first, second] = (await identifiersOf(node, 'T1')).map((one) => JSON.stringify(one));
  assert.ok(first?.includes(ida.email), 'the destinations are still notified of the first');
  assert.ok(second?.includes(jon.email));
});

test('a number that only one source states, and that no version shows, is found and erased', async () => {
  const eli = { first_name: 'Eli', last_name: 'Brandt', email: 'eli.brandt@mail.example' };
  const stay = reservation('U1') as { [field: string]: Json };
  await state(node, 'push', { ...stay, reservation_id: 'U1', guests: [{ ...eli, phone: '+351914000222' }] });
  await state(node, 'pull', { ...stay, guests: [{ ...eli, phone: '+351915000333' }] }, 60_000);
  const kept = () => node.runtime.pool.query(`select claims::text as claims from records where id = 'U1'`);
  assert.match((await kept()).rows[0].claims, /915000333/);
  const exported = await exportGuest(node.runtime, { phone: '+351915000333' });
  assert.match(JSON.stringify(exported.records), /915000333/, 'an access request shows it too');
  const erased = await eraseGuest(node.runtime, { phone: '+351915000333' }, 'officer');
  assert.equal(erased.removed.records, 1);
  assert.doesNotMatch((await kept()).rows[0].claims, /Brandt/);
});

test('an access request shows everything about the person, and nothing of others', async () => {
  const pia = { guest_id: 'p1', first_name: 'Pia', last_name: 'Holm', email: 'pia.holm@mail.example' };
  const omar = { guest_id: 'g8', first_name: 'Omar', last_name: 'Saad', email: 'omar@mail.example' };
  const more = {
    address: { street: 'Elm 1' },
    clubs: [{ tier: 'gold' }],
    agent: { name: 'Noor', mail: 'noor@mail.example' },
  };
  const { email: _, ...unaddressed } = pia;
  await node.take(
    'other',
    reservation('V1', { guests: [{ ...pia, ...more }, omar], booker: pia.email, copies: [pia.email, omar.email] }),
    reservation('V2', { guests: [omar], guest_name: 'Omar Saad', booker: pia.email, remark: 'late arrival' }),
    reservation('V3', { guests: [{ ...unaddressed, diet: 'vegan' }, omar] }),
    reservation('V4', {
      guests: [{ ...omar, agent: { mail: pia.email } }],
      by_address: { [pia.email]: { seat: 'window' } },
    }),
    { id: 'BAD', row: { booker_email: pia.email, email: omar.email, last_name: 'Saad' } },
  );
  const exported = await exportGuest(node.runtime, { email: pia.email });
  const text = JSON.stringify(exported);
  for (const own of ['Elm 1', 'gold', 'booker', 'copies', 'late arrival', 'vegan', 'window', 'booker_email']) {
    assert.ok(text.includes(own), own);
  }
  assert.doesNotMatch(text, /omar|saad|noor/i);
});

test('an address from before a guest event, which no version shows any more, is found and erased', async () => {
  const before = { guest_id: 'g21', first_name: 'Lea', last_name: 'Strand', email: 'lea.old@mail.example' };
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed' };
  await node.send('grand', 'reservation.created', { reservation_id: 'W1', ...stay, guests: [before] });
  await node.send('grand', 'guest.updated', { guest_id: 'g21', email: 'lea.new@mail.example' });
  const { pool } = node.runtime;
  await pool.query(
    `delete from history c using records r where c.id = r.id and c.id = 'W1' and c.version <= r.version`,
  );
  const erased = await eraseGuest(node.runtime, { email: before.email }, 'officer');
  assert.ok((erased.removed.records ?? 0) > 0);
  assert.deepEqual(await tablesWith(node, 'lea.old@'), []);
});

test('texts that name the person are erased, under any of the addresses, and in bookings of other guests', async () => {
  const kaya = { guest_id: 'g-kaya', first_name: 'Kaya', last_name: 'Brandt', email: 'kaya.brandt@mail.example' };
  const tor = { first_name: 'Tor', last_name: 'Aune', email: 'tor.aune@mail.example' };
  const call = { charges: [{ code: 'TRF', description: 'Call 914 000 777', amount: 30 }] };
  await node.take('grand', reservation('W1', { guests: [{ ...kaya, phone: '+351914000777' }] }));
  await node.take('grand', reservation('W2', { guests: [{ guest_id: 'g-kaya' }, tor], source: kaya.email, ...call }));
  await node.take('grand', reservation('W3', { guests: [tor], source: `by ${kaya.email}`, channel: 'web' }));
  await node.take('grand', reservation('W3', { guests: [tor], channel: 'web' }));
  const erased = await eraseGuest(node.runtime, { email: kaya.email }, 'officer');
  assert.equal(erased.removed.records, 3);
  const versions = await storedVersions(node.runtime.pool, `c.integration = 'grand' and c.id like 'W_'`);
  for (const { id, text, diff } of versions) assert.doesNotMatch(text + JSON.stringify(diff), /kaya|914 000 777/i, id);
  const last = versions.findLast(({ id }) => id === 'W3')?.data as unknown as Reservation;
  assert.equal(last.channel, 'web');
  assert.equal(last.guests[0]?.last_name, 'Aune');
  const [w3] = await identifiersOf(node, 'W3');
  assert.deepEqual(w3, [{ email_raw: kaya.email }], 'tells destinations which texts to erase, and no guest');
  const [w2] = await identifiersOf(node, 'W2');
  assert.ok(w2?.some((one) => (one as { phone_raw?: string }).phone_raw === '+351914000777'));
  assert.deepEqual(await tablesWith(node, kaya.email), []);
});

test('a booking whose history is past its retention is searched too', async () => {
  const email = 'nobody@holm.example';
  const tor = { first_name: 'Tor', last_name: 'Aune', email: 'tor.aune@mail.example' };
  await node.take(
    'grand',
    reservation('H1', { guests: [tor], source: `by ${email}` }),
    reservation('H2', { guests: [{ last_name: 'Holm', email: 'Nobody@holm.example' }] }),
  );
  await node.runtime.pool.query(`delete from history where integration = 'grand' and id in ('H1', 'H2')`);
  const found = await exportGuest(node.runtime, { email });
  assert.deepEqual(
    found.records.map(({ id }) => id),
    ['H2'],
  );
  const erased = await eraseGuest(node.runtime, { email }, 'officer');
  assert.equal(erased.removed.records, 2);
  assert.deepEqual(await tablesWith(node, email), []);
});
