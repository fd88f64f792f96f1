import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { withoutErasedGuests } from '../../src/persons/erased-guests.ts';
import { type Between, type Mention, samePerson } from '../../src/persons/same-person.ts';
import { sharedAmong } from '../../src/persons/shared.ts';

const joao: Mention = {
  first_name: 'João',
  last_name: 'Costa',
  email: 'joao@guests.example',
  phone: '+351911111111',
  date_of_birth: '1980-02-03',
  document_type: 'PP',
  document_number: 'N123',
};
const maria: Mention = { first_name: 'Maria', last_name: 'Costa', email: 'maria@guests.example' };
const shared: Between = { isShared: (text) => /[@+]/.test(text) };

const cases: readonly (readonly [
  what: string,
  a: Mention,
  b: Mention,
  between: Between,
  is: string,
  because: string,
])[] = [
  ['two guest ids', { ...joao, guest_id: '1' }, { ...joao, guest_id: '2' }, {}, 'different', 'guest_id'],
  [
    'an equal id with a corrected name',
    { guest_id: '1', first_name: 'Jon', last_name: 'Costa' },
    { ...joao, guest_id: '1' },
    {},
    'same',
    'guest_id',
  ],
  [
    'an equal id with another birth date',
    { ...joao, guest_id: '1', date_of_birth: '1980-03-02' },
    { ...joao, guest_id: '1' },
    {},
    'same',
    'guest_id',
  ],
  [
    'an equal id under two other names',
    { guest_id: '1', first_name: 'Zed', last_name: 'Moura' },
    { ...joao, guest_id: '1' },
    {},
    'different',
    'names',
  ],
  [
    'ids of two systems',
    { ...joao, guest_id: '1' },
    { ...joao, guest_id: '2' },
    { areTwoSystems: true },
    'same',
    'email',
  ],
  ['two birth dates', joao, { ...joao, date_of_birth: '2008-02-03' }, {}, 'different', 'birth_date'],
  ['two passports', joao, { ...joao, document_number: 'X9' }, {}, 'different', 'document'],
  ['a passport written in another way', joao, { ...joao, document_number: 'n-123' }, {}, 'same', 'email'],
  ['two kinds of documents', joao, { ...joao, document_type: 'ID', document_number: 'X9' }, {}, 'same', 'email'],
  ['relatives with one address', joao, { ...maria, email: joao.email }, {}, 'different', 'first_name'],
  [
    'relatives at one place of the list',
    joao,
    maria,
    { isOneReservation: true, isOnePlace: true },
    'different',
    'first_name',
  ],
  [
    'one address under compatible names',
    { email: joao.email, first_name: 'J.', last_name: 'Costa' },
    joao,
    {},
    'same',
    'email',
  ],
  ['one address without a name', { email: joao.email }, joao, {}, 'same', 'email'],
  ['one phone under compatible names', { phone: joao.phone, last_name: 'Costa' }, joao, {}, 'same', 'phone'],
  [
    'a changed surname with the address',
    { email: joao.email, first_name: 'João', last_name: 'Moura' },
    joao,
    {},
    'same',
    'email',
  ],
  [
    'father and son with one address',
    { email: joao.email, first_name: 'João', last_name: 'Costa' },
    { email: joao.email, first_name: 'João', last_name: 'Costa Júnior' },
    {},
    'unknown',
    'other_last_name',
  ],
  [
    'a son written without Jr in his booking',
    { email: joao.email, first_name: 'João', last_name: 'Costa' },
    { email: joao.email, first_name: 'João', last_name: 'Costa Jr' },
    { isOneReservation: true },
    'same',
    'email',
  ],
  [
    'relatives with one address and swapped names',
    { email: joao.email, first_name: 'Bäcker', last_name: 'Raj' },
    { email: joao.email, first_name: 'Bäcker', last_name: 'François' },
    {},
    'unknown',
    'other_last_name',
  ],
  [
    'a changed surname with the phone',
    { phone: joao.phone, first_name: 'João', last_name: 'Moura' },
    joao,
    {},
    'unknown',
    'other_last_name',
  ],
  [
    'a shared address',
    { email: joao.email, first_name: 'João', last_name: 'Costa' },
    joao,
    shared,
    'unknown',
    'shared_address',
  ],
  [
    'a shared address in one booking',
    { email: joao.email, first_name: 'João', last_name: 'Costa' },
    joao,
    { ...shared, isOneReservation: true },
    'same',
    'name_in_reservation',
  ],
  [
    'one name in one booking',
    { first_name: 'Joao', last_name: 'COSTA' },
    joao,
    { isOneReservation: true },
    'same',
    'name_in_reservation',
  ],
  ['one name in two bookings', { first_name: 'João', last_name: 'Costa' }, joao, {}, 'unknown', 'no_evidence'],
  [
    'one name and birth date anywhere',
    { first_name: 'João', last_name: 'Costa', date_of_birth: '1980-02-03' },
    joao,
    {},
    'same',
    'name_and_birth_date',
  ],
  [
    'no name at one place',
    { phone: joao.phone },
    { first_name: 'João', last_name: 'Costa' },
    { isOneReservation: true, isOnePlace: true },
    'same',
    'place',
  ],
  [
    'no name at one place with another address',
    { email: 'x@guests.example' },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'unknown',
    'no_evidence',
  ],
  [
    'a placeholder at one place',
    { first_name: 'Guest', last_name: 'TBA' },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'same',
    'place',
  ],
  [
    'one alias in two bookings',
    { ...maria, email: 'a@alias.example', email_proxy: true },
    { ...maria, email: 'a@alias.example', email_proxy: true },
    {},
    'unknown',
    'shared_address',
  ],
];

for (const [what, a, b, between, is, because] of cases) {
  test(`${what}: ${is}`, () => {
    assert.deepEqual(samePerson(a, b, between), { is, because });
    assert.deepEqual(samePerson(b, a, between), { is, because });
  });
}

const mention = fc.record<Mention>(
  {
    guest_id: fc.constantFrom('1', '2', ''),
    first_name: fc.constantFrom('João', 'J.', 'Maria', 'Guest'),
    last_name: fc.constantFrom('Costa', 'Moura'),
    email: fc.constantFrom('a@guests.example', 'b@guests.example'),
    email_proxy: fc.constant(true as const),
    phone: fc.constantFrom('+351911111111', '+351922222222'),
    date_of_birth: fc.constantFrom('1980-02-03', '2008-02-03'),
    document_number: fc.constantFrom('N1', 'N2'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Mention>;

test('property: the decision is symmetric, and nobody is different from themselves', () => {
  fc.assert(
    fc.property(
      mention,
      mention,
      fc.boolean(),
      fc.boolean(),
      fc.boolean(),
      (a, b, isOneReservation, isOnePlace, all) => {
        const between = { isOneReservation, isOnePlace, isShared: () => all };
        assert.deepEqual(samePerson(a, b, between), samePerson(b, a, between));
        assert.notEqual(samePerson(a, { ...a }, between).is, 'different');
      },
    ),
  );
});

test('property: knowing that an address is shared never makes two mentions the same person', () => {
  fc.assert(
    fc.property(mention, mention, (a, b) => {
      const [private_, public_] = [samePerson(a, b).is, samePerson(a, b, shared).is];
      assert.ok(private_ === public_ || (private_ === 'same' && public_ === 'unknown'));
    }),
  );
});

test('an address is shared as soon as different persons have it, and no longer when they do not', () => {
  const agent = 'agent@travel.example';
  const [john, mary] = [
    { first_name: 'John', last_name: 'Smith', email: agent },
    { first_name: 'Mary', last_name: 'Jones', email: agent },
  ];
  assert.equal(sharedAmong([john, mary])(agent), true);
  assert.equal(sharedAmong([john, { ...john, first_name: 'J.' }])(agent), false);
  assert.equal(sharedAmong([john])(agent), false);
  const [weber, other] = ['Ana', 'Rui'].map((name) => ({ first_name: 'Weber', last_name: name, email: agent }));
  assert.equal(sharedAmong([weber as Mention, other as Mention])(agent), true, 'no compatible name explains it');
});

test('an erasure takes the person in every spelling, and no relative with the same phone', () => {
  const phone = '+351911111111';
  const ana = { first_name: 'Ana', last_name: 'Costa', email: 'ana@guests.example', phone };
  const rui = { first_name: 'Rui', last_name: 'Costa', phone };
  const guests = [
    { first_name: 'A.', last_name: 'Costa', phone },
    rui,
    { phone },
    { first_name: 'Ana', last_name: 'Costa' },
    {},
  ];
  assert.deepEqual(withoutErasedGuests(guests, [ana, { phone }]), [rui, {}]);
});
