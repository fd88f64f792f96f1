import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Guest } from '../../src/canonical/reservation.ts';
import { drainOnce } from '../../src/deliver/deliveries.ts';
import type { IntegrationName, JsonObject } from '../../src/terms.ts';
import { deliverPorts } from '../../src/wiring/deliver.ts';
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
