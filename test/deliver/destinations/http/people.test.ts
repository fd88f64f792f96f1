import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../../../src/core/canonical/reservation.ts';
import { erasedPeople, ownerOf, peopleOf } from '../../../../src/core/deliver/destinations/http/people.ts';
import type { Delivery, MessageData } from '../../../../src/core/deliver/message.ts';
import { delivery, reservation } from '../../support.ts';

const ana: Guest = { first_name: 'Ana', last_name: 'Exemplo', email: 'ana@guests.example' };
const rui: Guest = { first_name: 'Rui', last_name: 'Exemplo', email: 'rui@guests.example' };

/** A delivery of these guests after versions with those, newest first. */
const after = (now: Guest[], ...earlier: Guest[][]): Delivery => ({
  ...delivery(reservation('r', { guests: now })),
  earlier: () => earlier.map((guests): MessageData => reservation('r', { guests })),
});
const previous = (one: Delivery) => peopleOf(one).map((person) => person.previous?.key);

test('the key is the e-mail address, unless it is an alias, else the phone number', () => {
  const keys = peopleOf(
    after([
      { ...ana, phone: '+351911111111' },
      { email: 'x@alias.example', email_proxy: true, phone: '+351922222222' },
      { email: 'y@alias.example', email_proxy: true },
      { first_name: 'Nobody' },
    ]),
  ).map(({ key, own_email, phone_key }) => [key, own_email, phone_key]);
  assert.deepEqual(keys, [
    ['ana@guests.example', 'ana@guests.example', undefined],
    ['+351922222222', undefined, '+351922222222'],
    [undefined, undefined, undefined],
    [undefined, undefined, undefined],
  ]);
});

test('a guest is the same by id, by full name, or by phone where a name is missing', () => {
  const moved = { ...ana, email: 'new@guests.example' };
  assert.deepEqual(previous(after([moved], [ana])), ['ana@guests.example']);
  assert.deepEqual(previous(after([{ ...moved, first_name: 'Eva' }], [ana])), [undefined], 'another person');
  const numbered = { ...ana, guest_id: '7' };
  assert.deepEqual(previous(after([{ ...moved, guest_id: '7', first_name: 'Anna' }], [numbered])), [
    'ana@guests.example',
  ]);
  assert.deepEqual(previous(after([{ ...moved, guest_id: '8' }], [numbered])), [undefined], 'another id');
  const phone = '+351911111111';
  assert.deepEqual(previous(after([{ email: 'new@guests.example', phone }], [{ ...ana, phone }])), [
    'ana@guests.example',
  ]);
});

test('a number of two relatives moves nobody’s contact', () => {
  const phone = '+351911111111';
  const both = [
    { ...ana, phone },
    { ...rui, phone },
  ];
  assert.deepEqual(previous(after([{ email: 'new@guests.example', phone }], both)), [undefined]);
});

test('a contact under an address of several people gets the address and the consent of its guests, and nothing else', () => {
  const mary = {
    ...ana,
    email: 'agent@travel.example',
    phone: '+351911111111',
    guest_id: '7',
    marketing_consent: true,
  };
  const [person] = peopleOf({
    ...after([{ ...mary, extra: { language: 'pt' } }]),
    isShared: (address) => address === mary.email,
  });
  const { email } = mary;
  assert.deepEqual(person, {
    email,
    marketing_consent: true,
    key: email,
    own_email: email,
    is_shared: true,
    is_new: true,
  });
});

test('the newest version in which the guest has an address decides', () => {
  const moved = { ...ana, email: 'new@guests.example' };
  const { email: _, ...without } = ana;
  assert.deepEqual(previous(after([moved], [without], [ana])), ['ana@guests.example'], 'cleared in between');
  assert.deepEqual(previous(after([moved], [moved], [ana])), [undefined], 'moved already');
  assert.deepEqual(previous(after([ana, rui], [rui, ana])), [undefined, undefined], 'the order does not matter');
  assert.deepEqual(
    previous(after([moved, { ...rui, email: ana.email ?? '' }], [ana, rui])),
    [undefined, undefined],
    'in use',
  );
});

test('a guest record is about one person in all its versions', () => {
  const one = delivery(reservation('gst_1'));
  const profile: Delivery = {
    ...one,
    message: { ...one.message, type: 'guest', data: { id: 'gst_1', first_name: 'Anna', email: 'new@guests.example' } },
    earlier: () => [{ id: 'gst_1', ...ana }],
  };
  assert.deepEqual(previous(profile), ['ana@guests.example']);
});

test('only an address that no known version names is new', () => {
  const isNew = (one: Delivery) => peopleOf(one).map((person) => person.is_new === true);
  assert.deepEqual(isNew(after([ana, rui], [ana])), [false, true]);
  assert.deepEqual(isNew(after([ana], [], [ana])), [false]);
  assert.deepEqual(isNew(delivery(reservation('r', { guests: [ana] }))), [false], 'where versions are not compared');
});

test('a shared address belongs to the guest who had it in the oldest version', () => {
  const child = { ...ana, first_name: 'Zé' };
  const owner = (one: Delivery) => ownerOf(peopleOf(one), one)?.first_name;
  assert.equal(owner(after([ana, child])), 'Ana');
  assert.equal(owner(after([child, ana], [child, ana], [ana])), 'Ana');
  assert.equal(owner(after([child], [ana, child])), 'Zé', 'the owner left');
});

test('an erased guest whose address another guest has keeps it', () => {
  const one = after([rui]);
  const erasure = (erased: Guest[]): Delivery => ({ ...one, message: { ...one.message, event: 'erased' }, erased });
  const keys = (erased: Guest[]) => erasedPeople(erasure(erased)).map(({ key }) => key);
  assert.deepEqual(keys([ana, { ...ana, email: 'old@guests.example' }]), ['ana@guests.example', 'old@guests.example']);
  assert.deepEqual(keys([{ ...ana, email: rui.email ?? '' }]), []);
});
