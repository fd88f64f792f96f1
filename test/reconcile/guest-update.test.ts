import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { guestKeys, newProfileId } from '../../src/core/persons/identifiers.ts';
import { findProfile } from '../../src/core/persons/profile-match.ts';
import { mergeGuest, planGuestUpdate } from '../../src/core/reconcile/guest-update.ts';

const guests = fc.record<Guest>(
  {
    guest_id: fc.constantFrom('G-1', 'G-2', ''),
    first_name: fc.constantFrom('Ana', 'Rui'),
    email: fc.constantFrom('a@mail.example', 'b@mail.example'),
    email_proxy: fc.constant(true as const),
    phone: fc.constantFrom('+351911111111', '+351922222222'),
  },
  { requiredKeys: [] },
) as fc.Arbitrary<Guest>;

test('keys are ordered strongest first; aliases and empty texts are not keys', () => {
  assert.deepEqual(guestKeys({ phone: '+1', email: 'a@mail.example', guest_id: 'G' }), [
    { kind: 'guest_id', value: 'G' },
    { kind: 'email', value: 'a@mail.example' },
    { kind: 'phone', value: '+1' },
  ]);
  assert.deepEqual(guestKeys({ guest_id: '', email: 'x@guest.booking.com', email_proxy: true }), []);
});

test('property: the same candidates give the same profile in any order', () => {
  const candidates = fc.array(fc.record({ id: fc.string({ minLength: 1 }), guest: guests }), { maxLength: 6 });
  fc.assert(
    fc.property(guests, candidates, (guest, list) => {
      const one = findProfile(guest, list, () => ({}));
      const other = findProfile(guest, [...list].reverse(), () => ({}));
      assert.equal(one?.profile.id, other?.profile.id);
      assert.equal(one?.because, other?.because);
    }),
  );
});

test('property: guests with different ids never match', () => {
  fc.assert(
    fc.property(guests, guests, (a, b) => {
      const other = { id: 'p', guest: { ...b, guest_id: 'G-2' } };
      assert.equal(
        findProfile({ ...a, guest_id: 'G-1' }, [other], () => ({})),
        undefined,
      );
    }),
  );
});

test("a profile's id does not reveal its key, differs between brands, and is not given twice", () => {
  const digest = (text: string) => hash('sha256', text);
  const idOf = (brand: string, guest: Guest, taken: readonly string[] = []) =>
    newProfileId(brand, guest, (id) => taken.includes(id), digest);
  const guest = { email: 'x@mail.example' };
  const first = idOf('a', guest) ?? '';
  assert.equal(idOf('a', { first_name: 'Ana' }), undefined);
  assert.equal(idOf('a', guest), first);
  assert.equal(first.includes('x@mail'), false);
  assert.notEqual(idOf('b', guest), first);
  assert.notEqual(idOf('a', { ...guest, first_name: 'Mary', last_name: 'Jones' }), first);
  assert.notEqual(idOf('a', guest, [first]), first);
});

test('property: merging twice equals merging once, and fields that were not sent stay', () => {
  fc.assert(
    fc.property(guests, guests, (known, guest) => {
      const present = new Set(Object.keys(guest));
      const once = mergeGuest(known, { guest, present });
      assert.deepEqual(mergeGuest(once, { guest, present }), once);
      for (const field of ['first_name', 'phone', 'guest_id'] as const) {
        assert.equal(once[field], present.has(field) ? guest[field] : known[field]);
      }
    }),
  );
});

test('a new address removes the flags of the old one', () => {
  const merged = mergeGuest(
    { email: 'x@guest.booking.com', email_proxy: true, phone_raw: '12' },
    { guest: { email: 'a@mail.example' }, present: new Set(['email']) },
  );
  assert.deepEqual(merged, { email: 'a@mail.example', phone_raw: '12' });
});

const reservation = (more: Partial<Reservation>): Reservation => ({
  id: 'R',
  check_in: '2026-12-01',
  check_out: '2026-12-03',
  status: 'confirmed',
  guests: [{ first_name: 'Ana', email: 'a@mail.example' }],
  rooms: [],
  charges: [],
  ...more,
});

for (const [what, more, changes] of [
  ['to come', {}, true],
  ['leaving today', { check_in: '2026-11-10', check_out: '2026-11-15' }, true],
  ['in house past its time', { status: 'checked_in', check_in: '2026-11-01', check_out: '2026-11-10' }, true],
  ['over', { check_in: '2026-11-01', check_out: '2026-11-14' }, false],
  ['checked out', { status: 'checked_out' }, false],
  // It counts if the booking is reinstated.
  ['cancelled', { status: 'cancelled' }, true],
  ['cancelled and over', { status: 'cancelled', check_out: '2026-11-14', check_in: '2026-11-01' }, false],
] as [string, Partial<Reservation>, boolean][]) {
  test(`a reservation that is ${what} ${changes ? 'changes' : 'stays'}`, () => {
    const update = { guest: { email: 'a@mail.example', phone: '+351911111111' }, present: new Set(['email', 'phone']) };
    const plan = planGuestUpdate(update, { profiles: [], reservations: [reservation(more)] }, '2026-11-15');
    assert.equal(plan.kind === 'person' && plan.reservations.length, changes ? 1 : 0);
  });
}

const agent = 'agent@travel.example';
const john: Guest = { first_name: 'John', last_name: 'Smith', email: agent, document_number: 'P1' };
const mary: Guest = { first_name: 'Mary', last_name: 'Jones', email: agent };
const plan = (
  guest: Guest,
  known: { profiles?: { id: string; guest: Guest }[]; reservations?: Reservation[] },
  reservationId?: string,
) =>
  planGuestUpdate(
    { guest, present: new Set(Object.keys(guest)), ...(reservationId !== undefined && { reservationId }) },
    { profiles: known.profiles ?? [], reservations: known.reservations ?? [] },
    '2026-11-15',
  );

test('an update under a travel agent’s address changes nobody else', () => {
  const known = {
    profiles: [{ id: 'p-john', guest: john }],
    reservations: [reservation({ guests: [john] }), reservation({ id: 'S', guests: [{ ...john, first_name: 'Jim' }] })],
  };
  const made = plan({ ...mary, phone: '+351911111111', marketing_consent: false }, known);
  assert.deepEqual(made, {
    kind: 'person',
    profile: { guest: { ...mary, phone: '+351911111111', marketing_consent: false } },
    reservations: [],
  });
});

test('an update that names one reservation changes the guest of that name there only', () => {
  const known = {
    reservations: [
      reservation({ id: 'A', guests: [john] }),
      reservation({ id: 'B', guests: [mary, john] }),
      reservation({ id: 'C', guests: [mary] }),
    ],
  };
  const made = plan({ ...mary, marketing_consent: false }, known, 'B');
  assert.deepEqual(
    made.kind === 'person' &&
      made.reservations.map(({ record }) => [record.id, record.guests.map((one) => one.marketing_consent)]),
    [['B', [false, undefined]]],
  );
});

test('an update without a name for a booking with two guests is ambiguous, and names the places', () => {
  const known = { reservations: [reservation({ guests: [john, mary] })] };
  assert.deepEqual(plan({ phone: '+351911111111' }, known, 'R'), {
    kind: 'ambiguous',
    candidates: [
      { reservation: 'R', place: 0 },
      { reservation: 'R', place: 1 },
    ],
  });
});

test('an operator’s assignment decides an ambiguous update', () => {
  const known = { profiles: [], reservations: [reservation({ guests: [john, mary] })] };
  const update = { guest: { phone: '+351911111111' }, present: new Set(['phone']), reservationId: 'R' };
  const made = planGuestUpdate(update, known, '2026-11-15', { reservation: 'R', place: 1 });
  assert.deepEqual(made.kind === 'person' && made.reservations[0]?.record.guests, [
    john,
    { ...mary, phone: '+351911111111' },
  ]);
});

test('a new e-mail address with the guest id reaches every booking of that guest', () => {
  const known = {
    profiles: [{ id: 'p', guest: { ...mary, guest_id: 'G' } }],
    reservations: [reservation({ guests: [{ ...mary, guest_id: 'G' }] }), reservation({ id: 'S', guests: [john] })],
  };
  const made = plan({ guest_id: 'G', email: 'mary@guests.example' }, known);
  assert.deepEqual(made.kind === 'person' && made.reservations.map(({ record }) => record.id), ['R']);
  assert.equal(made.kind === 'person' && made.profile.guest.email, 'mary@guests.example');
});
