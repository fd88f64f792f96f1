import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Guest, Reservation } from '../../src/canonical/reservation.ts';
import { guestKeys, matchProfile, placesIn, profileId } from '../../src/reconcile/guest-match.ts';
import { mergeGuest, planReservations } from '../../src/reconcile/guest-update.ts';

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
      const one = matchProfile(guest, list);
      const other = matchProfile(guest, [...list].reverse());
      assert.equal(one?.candidate.id, other?.candidate.id);
      assert.equal(one?.by, other?.by);
    }),
  );
});

test('property: guests with different ids never match', () => {
  fc.assert(
    fc.property(guests, guests, (a, b) => {
      const found = matchProfile({ ...a, guest_id: 'G-1' }, [{ id: 'p', guest: { ...b, guest_id: 'G-2' } }]);
      assert.equal(found, undefined);
    }),
  );
});

test("a profile's id does not reveal its key and differs between brands", () => {
  const digest = (text: string) => hash('sha256', text);
  assert.equal(profileId('a', { first_name: 'Ana' }, digest), undefined);
  assert.notEqual(
    profileId('a', { email: 'x@mail.example' }, digest),
    profileId('b', { email: 'x@mail.example' }, digest),
  );
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

test('property: a place in a reservation is one of its guests’, and found again in any of the guest’s looks', () => {
  fc.assert(
    fc.property(fc.array(guests, { maxLength: 4 }), fc.array(guests, { minLength: 1, maxLength: 2 }), (list, looks) => {
      const places = placesIn(reservation({ guests: list }), looks);
      for (const place of places) assert.ok(place >= 0 && place < list.length);
      assert.equal(new Set(places).size, places.length);
    }),
  );
});

for (const [what, more, changes] of [
  ['to come', {}, true],
  ['leaving today', { check_in: '2026-11-10', check_out: '2026-11-15' }, true],
  ['in house past its time', { status: 'checked_in', check_in: '2026-11-01', check_out: '2026-11-10' }, true],
  ['over', { check_in: '2026-11-01', check_out: '2026-11-14' }, false],
  ['checked out', { status: 'checked_out' }, false],
  ['cancelled', { status: 'cancelled' }, false],
  ['a no-show', { status: 'no_show' }, false],
] as [string, Partial<Reservation>, boolean][]) {
  test(`a reservation that is ${what} ${changes ? 'changes' : 'stays'}`, () => {
    const update = { guest: { email: 'a@mail.example', phone: '+351911111111' }, present: new Set(['email', 'phone']) };
    assert.equal(planReservations(update, undefined, [reservation(more)], '2026-11-15').length, changes ? 1 : 0);
  });
}
