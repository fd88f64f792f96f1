import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { Person } from '../../src/operator/privacy/person.ts';

const vera: Guest = { first_name: 'Vera', last_name: 'Lind', email: 'vera@mail.example', phone: '+351912345678' };
const moved: Guest = { first_name: 'Vera', last_name: 'Lind', email: 'vera@work.example' };
const child: Guest = { first_name: 'Nils', last_name: 'Lind', email: 'vera@mail.example' };
const ids = (found: Set<Guest>) => [...found].map(({ first_name, email }) => `${first_name} ${email}`).sort();

test('follows a guest through versions after the address changed', () => {
  const person = new Person({ emails: ['vera@work.example'] });
  const found = person.among([[vera], [vera, child], [moved]], 'grand');
  assert.deepEqual(ids(found), ['Vera vera@mail.example', 'Vera vera@work.example']);
});

test('a requested address names everyone who has it; a found one only the same name', () => {
  const asked = new Person({ emails: ['vera@mail.example'] });
  assert.equal(asked.isMeant(child, 'grand'), true);
  const found = new Person({ guestIds: ['g7'], integration: 'grand' });
  assert.equal(found.isMeant({ ...vera, guest_id: 'g7' }, 'grand'), true);
  found.absorb({ ...vera, guest_id: 'g7' }, 'grand');
  assert.equal(found.isMeant(vera, 'grand'), true);
  assert.equal(found.isMeant(child, 'grand'), false);
});

test('different ids are different people; a request for one brand does not affect another', () => {
  const person = new Person({ emails: ['vera@work.example'], integration: 'grand' });
  const found = person.among([[{ ...moved, guest_id: 'a' }], [{ ...vera, guest_id: 'b' }]], 'grand');
  assert.deepEqual(ids(found), ['Vera vera@work.example']);
  assert.equal(person.isMeant(moved, 'other'), false);
});

test('a guest who took over a booking is not the earlier guest', () => {
  const person = new Person({ emails: ['vera@mail.example'] });
  const omar = { first_name: 'Omar', last_name: 'Saad', email: 'omar@mail.example' };
  assert.equal(person.among([[vera], [omar]], 'grand').has(omar), false);
});

test('identities that were found are searched for too', () => {
  const person = new Person({ emails: ['vera@work.example'] });
  assert.equal(person.absorb({ ...vera, guest_id: 'g7' }, 'grand'), true);
  assert.equal(person.absorb({ ...vera, guest_id: 'g7' }, 'grand'), false, 'nothing new');
  const keys = person.lookups().map(({ key, integration }) => `${integration ?? '*'} ${key}`);
  for (const key of ['* email:vera@mail.example', '* phone:+351912345678', 'grand guest_id:g7']) {
    assert.ok(keys.includes(key), key);
  }
});

test('finds addresses and numbers in payloads however they are written', () => {
  const traces = new Person({ emails: ['vera@mail.example'], phones: ['+351912345678'] }).traces();
  for (const text of [
    'VERA@mail.EXAMPLE',
    'call 00351 912 345 678',
    '(912) 345-678',
    '912345678',
    '+351.912.345.678',
  ]) {
    assert.ok(traces.inText(text), text);
  }
  assert.ok(traces.inJson(JSON.parse('{"a":[{"b":"vera\\u0040mail.example"}]}')));
  assert.ok(traces.inJson({ phone: 351912345678 }));
  for (const text of ['vera@mail.test', '912 345 679', 'R912 345 67', '91a2345678'])
    assert.ok(!traces.inText(text), text);
  assert.ok(!new Person({ phones: ['none'] }).traces().inText('R1001'), 'not a number');
});

test('follows any number of guests of one name', () => {
  const guests = Array.from({ length: 4_000 }, (_, i) => ({ ...vera, email: `v${i}@mail.example` }));
  assert.equal(new Person({ emails: ['v7@mail.example'] }).among([guests], 'grand').size, 4_000);
});
