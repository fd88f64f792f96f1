import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { withoutErasedGuests } from '../../src/core/persons/erased-guests.ts';
import { sharedAmong, withoutRepeated } from '../../src/core/persons/identifiers.ts';
import { kindOf } from '../../src/core/persons/names.ts';
import { type Between, type Mention, samePerson } from '../../src/core/persons/same-person.ts';

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
const krone: Mention = { last_name: 'Krone GmbH', email: 'krone@company.example' };
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
    'no name at one place with another birth date',
    { date_of_birth: '2008-02-03' },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'different',
    'birth_date',
  ],
  [
    'no name at one place with another document',
    { document_type: 'PP', document_number: 'X9' },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'different',
    'document',
  ],
  [
    'no name at one place with another id',
    { guest_id: '2' },
    { ...joao, guest_id: '1' },
    { isOneReservation: true, isOnePlace: true },
    'different',
    'guest_id',
  ],
  [
    'a name at one place with another last name',
    { first_name: 'João', last_name: 'Moura' },
    { first_name: 'João', last_name: 'Costa' },
    { isOneReservation: true, isOnePlace: true },
    'unknown',
    'other_last_name',
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
    'an equal id under a company and a person',
    { guest_id: '1', last_name: 'Krone GmbH' },
    { ...joao, guest_id: '1' },
    {},
    'different',
    'names',
  ],
  [
    'an equal id where only the first name is another',
    { guest_id: '1', first_name: 'Zed', last_name: 'Costa' },
    { ...joao, guest_id: '1' },
    {},
    'same',
    'guest_id',
  ],
  ['a company and its traveller', { ...krone, email: joao.email }, joao, {}, 'different', 'first_name'],
  [
    'a company and its traveller at one place of the list',
    { ...krone, phone: joao.phone },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'different',
    'first_name',
  ],
  ['a company in two bookings', krone, { ...krone, last_name: 'KRONE GMBH' }, {}, 'same', 'email'],
  [
    'a company in two bookings, whose address travellers share',
    krone,
    { ...krone },
    { isShared: (_, kind) => kind !== 'company' },
    'same',
    'email',
  ],
  ['two companies', krone, { ...krone, last_name: 'Sunny Travel' }, {}, 'unknown', 'other_last_name'],
  [
    'two companies at one place of the list',
    { last_name: 'Krone GmbH' },
    { last_name: 'Sunny Travel' },
    { isOneReservation: true, isOnePlace: true },
    'unknown',
    'other_last_name',
  ],
  [
    'a name in another order and spelling',
    { first_name: 'Juergen', last_name: 'Mueller', email: joao.email },
    { first_name: 'Müller', last_name: 'Jürgen', email: joao.email },
    {},
    'same',
    'email',
  ],
  [
    'a name in another order and spelling, in one booking',
    { first_name: 'Juergen', last_name: 'Mueller' },
    { first_name: 'Müller', last_name: 'Jürgen' },
    { isOneReservation: true },
    'same',
    'name_in_reservation',
  ],
  [
    'Herr and Frau with one address',
    { title: 'Herr', last_name: 'Weber', email: joao.email },
    { title: 'Frau', last_name: 'Weber', email: joao.email },
    {},
    'different',
    'title',
  ],
  [
    'Mr and Mrs in the place of the first name',
    { first_name: 'Mr', last_name: 'Weber', email: joao.email },
    { first_name: 'Mrs.', last_name: 'Weber', email: joao.email },
    { isOneReservation: true, isOnePlace: true },
    'different',
    'title',
  ],
  [
    'Herr and Dr. with one address',
    { title: 'Herr', last_name: 'Weber', email: joao.email },
    { first_name: 'Dr.', last_name: 'Weber', email: joao.email },
    {},
    'same',
    'email',
  ],
  [
    'Herr und Frau together',
    { last_name: 'Herr und Frau Weber', email: joao.email },
    { title: 'Frau', last_name: 'Weber', email: joao.email },
    {},
    'same',
    'email',
  ],
  [
    'an equal id under Herr and Frau',
    { guest_id: '1', title: 'Herr', last_name: 'Weber' },
    { guest_id: '1', title: 'Frau', last_name: 'Weber' },
    {},
    'same',
    'guest_id',
  ],
  [
    'one first name under two titles',
    { ...joao, first_name: 'Herr João' },
    { ...joao, first_name: 'Frau João' },
    {},
    'same',
    'email',
  ],
  [
    'one alias in one booking',
    { last_name: 'Costa', email: 'a@alias.example', email_proxy: true },
    { ...maria, email: 'a@alias.example', email_proxy: true },
    { isOneReservation: true },
    'same',
    'email',
  ],
  [
    'no name at one place with another number',
    { phone: '+351922222222' },
    joao,
    { isOneReservation: true, isOnePlace: true },
    'unknown',
    'no_evidence',
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
    title: fc.constantFrom('Herr', 'Frau'),
    first_name: fc.constantFrom('João', 'J.', 'Maria', 'Guest', 'Costa', 'Juergen'),
    last_name: fc.constantFrom('Costa', 'Moura', 'Jürgen', 'João Costa', 'Krone GmbH', 'Costa Tours'),
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

test('a company does not make the address of its one traveller a shared one, but a nameless guest may be either', () => {
  const rui = { first_name: 'Rui', last_name: 'Pinto', email: krone.email };
  const isShared = sharedAmong([krone, rui, { ...rui, phone: '+351911111111' }]);
  assert.equal(samePerson(rui, { ...rui }, { isShared }).is, 'same');
  assert.equal(samePerson(krone, { ...krone }, { isShared }).is, 'same');
  assert.equal(samePerson({ email: krone.email }, rui, { isShared }).is, 'unknown');
  assert.equal(samePerson({ email: krone.email }, krone, { isShared }).is, 'unknown');
  assert.equal(samePerson({ email: krone.email }, krone, { isShared: sharedAmong([krone]) }).is, 'same');
});

test('property: a company and a person are never the same', () => {
  const isCompany = (one: Mention) => kindOf(one) === 'company';
  fc.assert(
    fc.property(mention, mention, fc.boolean(), (a, b, isOnePlace) => {
      if (isCompany(a) === isCompany(b) || kindOf(a) === undefined || kindOf(b) === undefined) return;
      assert.equal(samePerson(a, b, { isOneReservation: true, isOnePlace }).is, 'different');
    }),
  );
});

const ana = { first_name: 'Ana', last_name: 'Costa', email: 'ana@guests.example' };
const mentionedTwice: readonly (readonly [what: string, list: Guest[], persons: Guest[]])[] = [
  ['a booker repeated for every room', [ana, ana, ana], [ana]],
  [
    'a booker with a number in one room and a consent in another',
    [
      { ...ana, phone: '+351911111111' },
      { ...ana, marketing_consent: false },
    ],
    [{ ...ana, phone: '+351911111111', marketing_consent: false }],
  ],
  [
    'a booker written in two ways, with a child between',
    [ana, { first_name: 'Rui', last_name: 'Costa' }, { ...ana, first_name: 'COSTA', last_name: 'Dr. Ana' }],
    [ana, { first_name: 'Rui', last_name: 'Costa' }],
  ],
  [
    'a booker by the phone, and by the address',
    [{ ...ana, email: undefined, phone: '1' }, { ...ana, phone: '1' }, ana].map(stated),
    [{ ...ana, phone: '1' }],
  ],
  ...(
    [
      ['consents', { marketing_consent: true }, { marketing_consent: false }],
      ['numbers', { phone: '1' }, { phone: '2' }],
      ['birth dates', { date_of_birth: '1950-01-02' }, { date_of_birth: '1980-01-02' }],
      ['ids', { guest_id: '1' }, { guest_id: '2' }],
      ['extra fields', { extra: { tier: 'A' } }, { extra: { tier: 'B', room: 1 } }],
      ['generations', {}, { last_name: 'Costa Jr' }],
    ] as const
  ).map(([what, a, b]) => {
    const list = [a, b].map((one) => ({ ...ana, ...one }));
    return [`namesakes with two ${what}`, list, list] as const;
  }),
  [
    'namesakes without an address',
    [{ ...ana, email: undefined }, ana].map(stated),
    [{ ...ana, email: undefined }, ana].map(stated),
  ],
  [
    'a repeated booker beside a namesake',
    [
      { ...ana, phone: '1' },
      { ...ana, phone: '1', nationality: 'PT' },
      { ...ana, phone: '2' },
    ],
    [
      { ...ana, phone: '1', nationality: 'PT' },
      { ...ana, phone: '2' },
    ],
  ],
  ['a couple with one address', [ana, { ...ana, first_name: 'Rui' }], [ana, { ...ana, first_name: 'Rui' }]],
  ['an initial', [ana, { ...ana, first_name: 'A.' }], [ana, { ...ana, first_name: 'A.' }]],
  ['nameless guests', [{ email: ana.email }, { email: ana.email }], [{ email: ana.email }, { email: ana.email }]],
  [
    'one who may be either of two',
    [{ ...ana, phone: '1' }, ana, { ...ana, phone: '2' }],
    [{ ...ana, phone: '1' }, ana, { ...ana, phone: '2' }],
  ],
];
function stated({ email, ...guest }: Guest & { readonly email?: string | undefined }): Guest {
  return email === undefined ? guest : { ...guest, email };
}

for (const [what, list, persons] of mentionedTwice) {
  test(`in one list, ${what}: ${persons.length} of ${list.length}`, () => {
    assert.deepEqual(withoutRepeated(list), persons);
    const isShared = sharedAmong(list, {}, [new Set(list)]);
    if (persons.length === 1) assert.equal(isShared(ana.email), false);
    if (persons.length === list.length) assert.equal(withoutRepeated(list), list);
  });
}

test('property: two elements of one list become one only if nothing that both state differs', () => {
  fc.assert(
    fc.property(fc.array(mention, { maxLength: 4 }), (list) => {
      const guests = withoutRepeated(list);
      assert.deepEqual(withoutRepeated(guests), guests);
      for (const one of list) {
        const { first_name: _, last_name: __, ...rest } = one;
        const isKept = guests.some((guest) =>
          Object.entries(rest).every(([field, value]) => guest[field as 'email'] === value),
        );
        assert.ok(isKept, JSON.stringify([one, guests]));
      }
    }),
  );
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
