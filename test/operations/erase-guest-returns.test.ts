import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { eraseGuest } from '../../src/operator/operations/erase-guest.ts';
import { type ApiNode, apiNode, reservation } from '../api/node.ts';
import { state, tablesWith } from './erase-support.ts';

/** Messages about a guest who was erased before. */

let node: ApiNode;
before(async () => {
  node = await apiNode();
});
after(() => node.stop());

test('later payloads that name an erased person outside the guests are not kept', async () => {
  const kai = { first_name: 'Kai', last_name: 'Lund', email: 'kai.lund@mail.example' };
  const liv = { first_name: 'Liv', last_name: 'Moe', email: 'liv.moe@mail.example' };
  await node.take('grand', reservation('X1', { guests: [kai] }));
  await eraseGuest(node.runtime, { email: kai.email }, 'officer');
  const booker = { booker: { name: 'Kai Lund', email: 'Kai.Lund@mail.example' } };
  await node.take('grand', reservation('X2', { guests: [liv], source: `by ${kai.email}`, ...booker }));
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed' };
  await node.send('grand', 'reservation.created', { reservation_id: 'X3', ...stay, guests: [liv], ...booker });
  await node.send('grand', 'guest.updated', { ...liv, nationality: 'NO', ...booker });
  assert.deepEqual(await tablesWith(node, kai.email), []);
  const { rows } = await node.runtime.pool.query(`select data from records where id in ('X2', 'X3') order by id`);
  assert.deepEqual(
    rows.map(({ data }) => [data.guests[0].last_name, data.source]),
    [
      ['Moe', undefined],
      ['Moe', undefined],
    ],
  );
});

test('keys that arrive with an erased guest after the erasure are recognised too', async () => {
  const una = { first_name: 'Una', last_name: 'Solberg', email: 'una.solberg@mail.example' };
  await node.take('grand', reservation('Q1', { guests: [una] }));
  await eraseGuest(node.runtime, { email: una.email }, 'officer');
  // One page: the second row shows whose id the first row has.
  const byId = { guest_id: 'g-una', first_name: 'Una', last_name: 'Solberg-Lie' };
  await node.take('grand', reservation('Q2', { guests: [byId] }), reservation('Q3', { guests: [{ ...byId, ...una }] }));
  await state(node, 'push', { reservation_id: 'Q3', guests: [{ first_name: 'Una', last_name: 'Solberg' }] });
  await node.send('grand', 'guest.updated', { guest_id: 'g-una', first_name: 'Una', phone: '+351914000888' });
  await node.take('other', reservation('Q4', { guests: [byId] }));
  const { rows } = await node.runtime.pool.query(`select id, data from records where id like 'Q_' order by id`);
  assert.deepEqual(
    rows.map(({ data }) => data.guests[0].last_name),
    [undefined, undefined, undefined, 'Solberg-Lie'],
    'guest ids of another brand are other people',
  );
  assert.ok(!(await tablesWith(node, '914000888')).length);
});

test('a later payload that cannot become a record is not kept if its guest was erased, whatever identifies the guest', async () => {
  const ebbe = { guest_id: 'ebbe', first_name: 'Ebbe', last_name: 'Krogh', email: 'ebbe.krogh@mail.example' };
  await node.take('grand', reservation('K1', { guests: [ebbe] }));
  await eraseGuest(node.runtime, { email: ebbe.email }, 'officer');
  const guests = [{ guest_id: 'ebbe', first_name: 'Ebbe', last_name: 'Krogh-Dahl' }];
  await node.take('grand', { id: 'K2', check_in: 'someday', guests });
  await state(node, 'push', { reservation_id: 'K3', check_in: 'someday', guests });
  assert.deepEqual(await tablesWith(node, 'krogh-dahl'), []);
});

test('a dead letter with the document number, or with the name and the reservation, is erased and not stored again', async () => {
  const pia = { first_name: 'Pia', last_name: 'Hovde', document_number: 'NX4711882' };
  await node.send('grand', 'guest.updated', { ...pia });
  await node.send('grand', 'guest.updated', { first_name: 'Pia', last_name: 'Hovde', reservation_id: 'Y1' });
  await node.send('grand', 'guest.updated', { first_name: 'Pia', last_name: 'Hovde', reservation_id: 'Y9' });
  // By the guest id, in a booking that never became a record.
  const event = { reservation_id: 'Y2', check_in: 'someday', guests: [{ guest_id: 'g-pia', ...pia }] };
  await node.send('grand', 'reservation.updated', {
    ...event,
    guests: [{ ...event.guests[0], document_number: null }],
  });
  await node.take(
    'grand',
    reservation('Y1', { guests: [{ guest_id: 'g-pia', ...pia, email: 'pia.hovde@mail.example' }] }),
  );
  const left = async () => {
    const { rows } = await node.runtime.pool.query(
      `select coalesce(raw ->> 'reservation_id', raw ->> 'key') as id from dead_letters where raw::text like '%Hovde%'
       union all select 'event' from events where convert_from(body, 'UTF8') like '%Hovde%'`,
    );
    return rows.map(({ id }) => id);
  };
  assert.deepEqual(await left(), [null, 'Y1', 'Y9', 'Y2', 'event', 'event', 'event', 'event']);
  await eraseGuest(node.runtime, { email: 'pia.hovde@mail.example' }, 'officer');
  assert.deepEqual(await left(), ['Y9', 'event'], 'in another booking it may be somebody else of that name');
  await node.send('grand', 'guest.updated', { ...pia });
  assert.deepEqual(await left(), ['Y9', 'event']);
});

test('a guest of whom the newest row has the last name only is erased, and does not come back', async () => {
  const una = { first_name: 'Una', last_name: 'Skei', email: 'una.skei@mail.example' };
  const bo = { first_name: 'Bo', last_name: 'Lien', email: 'bo.lien@mail.example' };
  await node.take('grand', reservation('Z1', { guests: [una, bo] }));
  await node.take('grand', reservation('Z1', { guests: [{ last_name: 'Skei' }, bo] }));
  await node.take('grand', reservation('Z2', { guests: [{ last_name: 'Skei' }] }));
  await eraseGuest(node.runtime, { email: una.email }, 'officer');
  await node.take('grand', reservation('Z1', { guests: [{ last_name: 'Skei' }, bo], channel: 'web' }));
  const { rows } = await node.runtime.pool.query(`select id, data from records where id in ('Z1', 'Z2') order by id`);
  const names = rows.map(({ data }) => data.guests.map((guest: { last_name?: string }) => guest.last_name));
  assert.deepEqual(names, [[undefined, 'Lien'], ['Skei']], 'in another booking it may be somebody else');
});

test('an erased guest does not come back with a message that has the name only, or a new alias of a booking site', async () => {
  const alias = (id: string) => `${id}@guest.booking.com`;
  const mia = { first_name: 'Mia', last_name: 'Torne', email: alias('mtorne.1234') };
  const ole = { first_name: 'Ole', last_name: 'Haug', email: 'ole.haug@mail.example' };
  await node.take('grand', reservation('V1', { guests: [mia, ole] }));
  await eraseGuest(node.runtime, { email: mia.email }, 'officer');
  await state(node, 'push', { reservation_id: 'V1', guests: [{ first_name: 'MIA', last_name: 'TORNE' }, ole] });
  await node.take('grand', reservation('V1', { guests: [{ ...mia, email: alias('mtorne.5678') }, ole] }));
  const { rows } = await node.runtime.pool.query(
    `select data, claims::text as claims from records where integration = 'grand' and id = 'V1'`,
  );
  assert.deepEqual(rows[0].data.guests[0], {});
  assert.equal(rows[0].data.guests[1].last_name, 'Haug');
  assert.doesNotMatch(rows[0].claims, /torne/i);
  assert.ok(!(await tablesWith(node, 'torne')).includes('history'));
});

test('an erased guest does not come back with ü written as ue and the names in the other order', async () => {
  const born = { date_of_birth: '1971-05-06' };
  const email = 'juergen.schroeder@mail.example';
  await node.take(
    'grand',
    reservation('U1', { guests: [{ first_name: 'Jürgen', last_name: 'Schröder', email, ...born }] }),
  );
  await eraseGuest(node.runtime, { email }, 'officer');
  await node.take('grand', reservation('U1', { guests: [{ first_name: 'Schroeder', last_name: 'Juergen' }] }));
  await node.take('grand', reservation('U2', { guests: [{ first_name: 'Juergen', last_name: 'Schroeder', ...born }] }));
  const { rows } = await node.runtime.pool.query(
    `select data -> 'guests' as guests from records where id in ('U1', 'U2')`,
  );
  assert.deepEqual(rows, [{ guests: [{}] }, { guests: [{}] }]);
});

test('an erased guest does not come back under another spelling of the name, or with the name and the birth date', async () => {
  const jose = { first_name: 'José', last_name: 'Núñez', date_of_birth: '1970-05-06' };
  const [email, phone] = ['jose.nunez@mail.example', '+351912340077'];
  await node.take('grand', reservation('Y1', { guests: [{ ...jose, email, phone }] }));
  await eraseGuest(node.runtime, { email }, 'officer');
  await node.take('grand', reservation('Y1', { guests: [{ first_name: 'JOSE', last_name: 'NUNEZ' }] }));
  await node.take('grand', reservation('Y2', { guests: [{ first_name: 'Nunez', last_name: 'Dr. José', phone }] }));
  await node.take('grand', reservation('Y3', { guests: [jose] }));
  await node.take('grand', reservation('Y4', { guests: [{ ...jose, date_of_birth: '1999-05-06' }] }));
  const { rows } = await node.runtime.pool.query(
    `select data from records where id in ('Y1', 'Y2', 'Y3', 'Y4') order by id`,
  );
  const years = rows.map(({ data }) => data.guests.map((guest: { date_of_birth?: string }) => guest.date_of_birth));
  assert.deepEqual(years, [[undefined], [undefined], [undefined], ['1999-05-06']]);
  const [senior, junior] = ['Ruiz', 'Ruiz Jr'].map((last_name) => ({ first_name: 'Luis', last_name, phone }));
  assert.ok(senior && junior);
  await node.take('grand', reservation('Y5', { guests: [{ ...junior, email: 'luis.ruiz@mail.example' }] }));
  await eraseGuest(node.runtime, { email: 'luis.ruiz@mail.example' }, 'officer');
  await node.take('grand', reservation('Y6', { guests: [senior, junior] }));
  const { rows: ruiz } = await node.runtime.pool.query(
    `select data -> 'guests' as guests from records where id = 'Y6'`,
  );
  assert.deepEqual(ruiz[0].guests, [senior, {}]);
  assert.deepEqual(
    rows.map(({ data }) => Object.keys(data.guests[0]).length),
    [0, 0, 0, 3],
  );
});
