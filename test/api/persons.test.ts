import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { deliverPorts } from '../../src/composition/deliver.ts';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { drainOnce } from '../../src/core/deliver/deliveries.ts';
import type { IntegrationName, JsonObject } from '../../src/terms.ts';
import { innbound } from '../support/process.ts';
import { type ApiNode, apiNode, reservation } from './node.ts';

/** What an operator decides about persons: whom an event means, who is the same, and who is not. */
let node: ApiNode;
let operator: string;
let viewer: string;
before(async () => {
  node = await apiNode();
  operator = await node.token('operator', ['grand']);
  viewer = await node.token('viewer');
});
after(() => node.stop());

/** Stores a booking of a coming stay with these guests, and updates the profiles. */
async function book(id: string, ...guests: Guest[]): Promise<void> {
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04' };
  await node.take('grand', reservation(id, { ...stay, guests: guests as JsonObject[] }));
  await drainOnce(await deliverPorts(node.runtime), { integration: 'grand' as IntegrationName });
}

async function profileId(where: Partial<Guest>): Promise<string> {
  const { rows } = await node.runtime.pool.query<{ id: string }>(
    `select id from records where integration = 'grand' and type = 'guest' and data::jsonb @> $1::jsonb`,
    [JSON.stringify(where)],
  );
  assert.equal(rows.length, 1, JSON.stringify(where));
  return rows[0]?.id ?? '';
}

async function guestsOf(id: string): Promise<Guest[]> {
  const { rows } = await node.runtime.pool.query<{ guests: Guest[] }>(
    `select data -> 'guests' as guests from records where type = 'reservation' and id = $1`,
    [id],
  );
  return rows[0]?.guests ?? [];
}

async function audited(action: string): Promise<number> {
  const { body } = await node.call('GET', `/audit?action=${action}`, await node.token('admin'));
  return body.items.length;
}

const agent = 'desk@agency.example';
const john: Guest = { first_name: 'John', last_name: 'Smith', email: agent };
const mary: Guest = { first_name: 'Mary', last_name: 'Jones', email: agent };

test('an operator assigns an ambiguous guest event: that person changes everywhere, and nobody else', async () => {
  await book('A1', john);
  await book('A2', mary);
  await node.send('grand', 'guest.updated', { ...john, phone: '+351912000111' } as JsonObject);
  const { body: list } = await node.call('GET', '/dead-letters?code=push.guest_ambiguous', operator);
  const { id } = list.items[0];
  const { body } = await node.call('GET', `/dead-letters/${id}/candidates`, operator);
  const profile = await profileId(john);
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed' };
  assert.deepEqual(body.items, [
    { at: { profile }, person: john },
    { at: { reservation: 'A1', place: 0 }, person: john, stay },
  ]);
  assert.equal(await audited('dead_letters.candidates'), 1);
  const masked = await node.call('GET', `/dead-letters/${id}/candidates`, viewer);
  assert.ok(!JSON.stringify(masked.body).includes('Smith'), 'a viewer sees no names');
  assert.equal((await node.call('POST', `/dead-letters/${id}/assign`, viewer, { to: { profile } })).status, 403);

  const stranger = await node.call('POST', `/dead-letters/${id}/assign`, operator, {
    to: { reservation: 'A2', place: 0 },
  });
  assert.deepEqual([stranger.status, stranger.body.code], [409, 'operate.conflict'], 'Mary is not a candidate');
  const done = await node.call('POST', `/dead-letters/${id}/assign`, operator, { to: { profile } });
  assert.deepEqual([done.status, done.body], [200, { result: 'assigned' }]);
  assert.equal(await profileId({ ...john, phone: '+351912000111' }), profile);
  assert.deepEqual(await guestsOf('A1'), [{ ...john, phone: '+351912000111' }], 'his booking follows');
  assert.deepEqual(await guestsOf('A2'), [mary]);
  const letter = await node.call('GET', `/dead-letters/${id}`, operator);
  assert.deepEqual([letter.body.state, letter.body.closed_reason], ['replayed', `assigned to ${profile}`]);
  const event = await node.call('GET', `/integrations/grand/events/${letter.body.cause_id}`, operator);
  assert.equal(event.body.state, 'done');
  const twice = await node.call('POST', `/dead-letters/${id}/assign`, operator, { to: { profile } });
  assert.equal(twice.status, 409);
});

test('an event stays open if another person is at the place by now', async () => {
  await book('B1', { first_name: 'Rui', last_name: 'Costa' }, { first_name: 'Eva', last_name: 'Costa' });
  await node.send('grand', 'guest.updated', { reservation_id: 'B1', first_name: 'Rui', phone: '+351912000222' });
  const { body: list } = await node.call('GET', '/dead-letters?code=push.guest_ambiguous', operator);
  const { id } = list.items[0];
  await book('B1', { first_name: 'Eva', last_name: 'Costa' }, { first_name: 'Rui', last_name: 'Costa' });
  const to = { reservation: 'B1', place: 0 };
  const done = await node.call('POST', `/dead-letters/${id}/assign`, operator, { to });
  assert.equal(done.body.result, 'still_open', JSON.stringify(done.body));
  assert.match(done.body.message, /guest 2 of reservation B1/, 'it names the place where he is now');
  assert.equal(JSON.stringify(await guestsOf('B1')).includes('912000222'), false);
  const again = await node.call('POST', `/dead-letters/${id}/assign`, operator, { to: { ...to, place: 1 } });
  assert.equal(again.body.result, 'assigned');
  assert.equal((await guestsOf('B1'))[1]?.phone, '+351912000222');
});

test('of an event with several guests, each uncertain one is assigned by itself', async () => {
  const [ana, leo] = [
    { first_name: 'Ana', last_name: 'Prado', email: 'desk@trips.example' },
    { first_name: 'Leo', last_name: 'Nunes', email: 'desk@trips.example' },
  ];
  await book('C1', ana);
  await book('C2', leo);
  const guests = [
    { ...ana, phone: '+351912000333' },
    { ...leo, phone: '+351912000444' },
  ];
  await node.send('grand', 'guest.updated', reservation('C3', { guests }));
  const { body: list } = await node.call('GET', '/dead-letters?code=push.guest_ambiguous', operator);
  const { id } = list.items[0];
  const first = await node.call('POST', `/dead-letters/${id}/assign`, operator, {
    to: { profile: await profileId(ana) },
  });
  assert.equal(first.body.result, 'still_open', 'the second guest is not certain either');
  assert.equal((await guestsOf('C1'))[0]?.phone, '+351912000333');
  const second = await node.call('POST', `/dead-letters/${id}/assign`, operator, {
    to: { profile: await profileId(leo) },
  });
  assert.equal(second.body.result, 'assigned');
  assert.equal((await guestsOf('C2'))[0]?.phone, '+351912000444');
  assert.equal((await guestsOf('C1'))[0]?.phone, '+351912000333');
});

interface Pair {
  readonly evidence: string;
  readonly reason: string;
  readonly profiles: readonly { readonly id: string; readonly bookings: number; readonly person: Guest }[];
}

async function pairs(token = operator): Promise<readonly Pair[]> {
  return (await node.call('GET', '/integrations/grand/guest-pairs', token)).body.items;
}

const named = (all: readonly Pair[], lastName: string) =>
  all.filter(({ profiles }) => profiles.some(({ person }) => person.last_name === lastName));

test('pairs that may be one person are listed by bookings, and “not the same” is remembered', async () => {
  const email = 'desk@holidays.example';
  const pia = { first_name: 'Pia', last_name: 'Lund', email };
  const ole = { first_name: 'Ole', last_name: 'Berg', email };
  await book('D1', { ...pia, marketing_consent: true });
  await book('D2', ole);
  await book('D3', { ...pia, nationality: 'DK' });
  await book('D4', { ...ole, nationality: 'NO' });
  // A second booking that certainly belongs to the first Ole.
  await book('D5', { ...ole, date_of_birth: '1980-01-02' });
  const { body } = await node.call('GET', '/integrations/grand/guest-pairs?limit=100', operator);
  const all: readonly Pair[] = body.items;
  const values = all.map(({ profiles }) => profiles.reduce((sum, { bookings }) => sum + bookings, 0));
  assert.deepEqual(
    values,
    values.toSorted((a, b) => b - a),
    'the most valuable first',
  );
  const [pair, ...more] = named(all, 'Lund');
  assert.deepEqual(more, []);
  assert.equal(pair?.evidence, 'shared_address');
  assert.match(pair?.reason ?? '', /other people have it as well/);
  assert.deepEqual(
    new Set(pair?.profiles.map(({ person }) => JSON.stringify(person))),
    new Set([JSON.stringify({ ...pia, marketing_consent: true }), JSON.stringify({ ...pia, nationality: 'DK' })]),
  );
  assert.ok(!JSON.stringify(await pairs(viewer)).includes('Lund'), 'a viewer sees no names');

  const [a, b] = pair?.profiles.map(({ id }) => id) ?? [];
  const decided = await node.call('POST', `/integrations/grand/guests/${a}/not-same`, operator, { as: b ?? '' });
  assert.deepEqual(decided.body, { remembered: true });
  assert.deepEqual(named(await pairs(), 'Lund'), []);
  await book('D3', { ...pia, nationality: 'DK', phone: '+351912000555' });
  assert.deepEqual(named(await pairs(), 'Lund'), [], 'it is not proposed again');
  const again = await node.call('POST', `/integrations/grand/guests/${a}/not-same`, operator, { as: b ?? '' });
  assert.equal(again.status, 404);
  assert.equal(await audited('guests.not_same'), 2);
});

test('a pair leaves the list when it is merged, or when the data decides it', async () => {
  const email = 'desk@tours.example';
  const kim = { first_name: 'Kim', last_name: 'Dahl', email };
  await book('E1', kim);
  await book('E2', { first_name: 'Bo', last_name: 'Roth', email });
  await book('E3', { ...kim, nationality: 'SE' });
  await book('E4', { ...kim, nationality: 'FI' });
  const all = named(await pairs(), 'Dahl');
  assert.equal(all.length, 3);
  const from = (nationality?: string) =>
    all.flatMap(({ profiles }) => profiles).find(({ person }) => person.nationality === nationality)?.id ?? '';
  const [first, second, third] = [from(), from('SE'), from('FI')];
  const merged = await node.call('POST', `/integrations/grand/guests/${second}/merge`, operator, { into: first });
  assert.equal(merged.status, 200);
  const left = named(await pairs(), 'Dahl').map(({ profiles }) => profiles.map(({ id, bookings }) => [id, bookings]));
  assert.deepEqual(
    left,
    [
      [
        [first, 2],
        [third, 1],
      ],
    ],
    'with the bookings of the merged profile',
  );
  const { body } = await node.call('GET', `/integrations/grand/guests/${first}/stays`, operator);
  assert.equal(body.items.length, 2);
  await book('E2', { first_name: 'Bo', last_name: 'Roth', email: 'bo@roth.example' });
  assert.deepEqual(named(await pairs(), 'Dahl'), [], 'nobody else has the address by now: they are the same person');
});

test('addresses that different persons have are listed, and leave the list when that ends', async () => {
  const shared = async (token = operator) =>
    (await node.call('GET', '/integrations/grand/shared-addresses', token)).body.items as { email?: string }[];
  const email = 'desk@sails.example';
  await book('F1', { first_name: 'Ada', last_name: 'Falk', email });
  await book('F2', { first_name: 'Per', last_name: 'Holm', email, phone: '+351912000666' });
  const entry = { email, persons: 2, bookings: 2 };
  assert.deepEqual(
    (await shared()).filter((one) => one.email === email),
    [entry],
  );
  assert.ok(!JSON.stringify(await shared(viewer)).includes('sails'), 'a viewer sees no address');
  await book('F2', { first_name: 'Per', last_name: 'Holm', email: 'per@holm.example', phone: '+351912000666' });
  assert.deepEqual(
    (await shared()).filter((one) => one.email === email),
    [],
  );
});

test('the stays of a guest are listed, exported, and forgotten with the guest', async () => {
  const tove = { first_name: 'Tove', last_name: 'Lind', email: 'tove@lind.example' };
  await book('G1', tove);
  await book('G2', tove);
  const id = await profileId({ email: tove.email });
  const { body } = await node.call('GET', `/integrations/grand/guests/${id}/stays`, viewer);
  const stay = { check_in: '2099-12-01', check_out: '2099-12-04', status: 'confirmed' };
  assert.deepEqual(body.items, [
    { id: 'G1', ...stay },
    { id: 'G2', ...stay },
  ]);
  const admin = await node.token('admin');
  const exported = await node.call('POST', '/privacy/exports', admin, { email: tove.email });
  const { records } = exported.body;
  assert.deepEqual(records.find((one: { id: string }) => one.id === id).stays, ['G1', 'G2']);
  await node.runtime.pool.query(
    `insert into profile_pairs (integration, one, other, evidence) values ('grand', $1, 'gst_zzz', 'shared_address')`,
    [id],
  );
  assert.equal((await node.call('POST', '/privacy/erasures', admin, { email: tove.email })).status, 201);
  const { rows } = await node.runtime.pool.query(
    `select profile_id from profile_bookings where profile_id = $1 union all select one from profile_pairs where one = $1`,
    [id],
  );
  assert.deepEqual(rows, []);
});

test('the commands list pairs and shared addresses, tell two persons apart, and assign an event', async () => {
  const email = 'desk@rails.example';
  const una = { first_name: 'Una', last_name: 'Vale', email };
  await book('H1', una);
  await book('H2', { first_name: 'Max', last_name: 'Wirth', email });
  await book('H3', { ...una, nationality: 'IE' });
  const command = (...args: string[]) =>
    innbound([...args, '-w', node.runtime.workspaceDir, '--json'], { env: node.env });
  const shared = (await command('profile', 'shared', '-i', 'grand')).json();
  assert.deepEqual(
    shared.filter((one) => one.email === email),
    [{ email, persons: 3, bookings: 3 }],
  );
  const listed = (await command('profile', 'pairs', '-i', 'grand')).json() as unknown as Pair[];
  const [a, b] = named(listed, 'Vale')[0]?.profiles.map(({ id }) => id) ?? [];
  const decided = await command('profile', 'not-same', String(a), String(b), '-i', 'grand');
  assert.deepEqual(decided.json(), [{ remembered: true }]);
  assert.equal((await command('profile', 'not-same', String(a), String(b), '-i', 'grand')).code, 1);
  await node.send('grand', 'guest.updated', { ...una, phone: '+351912000777' });
  const { body } = await node.call('GET', '/dead-letters?code=push.guest_ambiguous', operator);
  const { id } = body.items.at(-1);
  const wrong = await command('dead-letters', 'assign', id, '--to', 'gst_1');
  assert.match(`${wrong.code} ${wrong.stdout}${wrong.stderr}`, /^1 .*--to takes one of/s);
  const done = await command('dead-letters', 'assign', id, '--to', 'H3:1');
  assert.deepEqual(done.json(), [{ result: 'assigned' }]);
  assert.equal((await guestsOf('H3'))[0]?.phone, '+351912000777');
  assert.equal((await guestsOf('H1'))[0]?.phone, undefined, 'the other Una Vale is another person');
});
