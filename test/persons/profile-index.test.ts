import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { ProfileIndex } from '../../src/core/persons/profile-index.ts';
import { matchItems } from '../../src/core/reconcile/match-items.ts';
import { chooseProfile } from '../../src/core/reconcile/profile.ts';
import { countReads } from '../support/count-reads.ts';

const many = (count: number): Guest[] =>
  Array.from({ length: count }, (_, i) => ({
    last_name: `Reis ${i}`,
    email: `g${i}@mail.example`,
    phone: `+3519${i}`,
  }));

// 4,000 times 4,000 comparisons took 18 seconds.
test('the profiles of 4,000 guests are found in time that grows with their number, not its square', () => {
  const { items: guests, readsPerItem } = countReads(many(4_000));
  const profiles = new ProfileIndex(guests.map((guest, i) => ({ id: `gst_${i}`, guest })));
  for (const guest of guests) {
    assert.equal(chooseProfile(guest, profiles.sharing(guest)).kind, 'known');
  }
  assert.ok(readsPerItem() < 400, `${readsPerItem()} reads of each guest`);
});

test('two lists of 4,000 guests are matched in time that grows with their number', () => {
  const { items, readsPerItem } = countReads(many(4_000));
  const faces = items.map((values) => ({ looks: [[values as { [field: string]: string }]] }));
  const places = matchItems('guests', faces, faces.toReversed());
  assert.equal(places[0], 3_999);
  assert.ok(readsPerItem() < 400, `${readsPerItem()} reads of each guest`);
});

test('a profile is found by the keys it has now', () => {
  const profiles = new ProfileIndex([{ id: 'gst_1', guest: { email: 'a@mail.example' } }]);
  profiles.set({ id: 'gst_1', guest: { email: 'b@mail.example' } });
  assert.deepEqual(
    profiles.sharing({ email: 'b@mail.example' }).map(({ id }) => id),
    ['gst_1'],
  );
  assert.deepEqual(profiles.sharing({ email: 'c@mail.example' }), []);
});
