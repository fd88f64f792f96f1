import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { takeRequest } from '../../src/core/store/remotes.ts';
import { setUpPeople } from './people/set-up.ts';
import { reservation, takeIn } from './support.ts';
import { klaviyoAccount } from './vendors/klaviyo.ts';
import { limited } from './vendors/limited.ts';

const guests = 100;
const bookings = Array.from({ length: guests }, (_, i) => {
  const phone = `+35191${String(i).padStart(7, '0')}`;
  const guest: Guest = { first_name: 'Ana', last_name: `Exemplo ${i}`, email: `g${i}@guests.example`, phone };
  return reservation(`r${i}`, {
    status: 'checked_out',
    booking_date: '2024-01-01',
    guests: [{ ...guest, marketing_consent: true }],
  });
});

test('klaviyo: the requests of a first send stay within the limits of each endpoint', async (t) => {
  const vendor = limited(klaviyoAccount, [
    { requests: 75, perMs: 1_000 },
    { requests: 700, perMs: 60_000 },
  ]);
  const { pool, name, drainAll, account } = await setUpPeople(vendor.make, (one) => ({
    takeRequest: (from) => takeRequest(one.pool, one.name, from),
  }))(t);
  await takeIn(pool, bookings, [name], { integration: name });
  await drainAll();
  assert.equal(vendor.refused(), 0);
  assert.equal(account.people().filter(({ subscribed }) => subscribed).length, guests);
});

// A call that was refused once began again: the first requests ate the allowance, and no guest was ever complete.
test('klaviyo: what it accepted before a 429 is not sent again, and the rest follows after the pause', async (t) => {
  const vendor = limited(klaviyoAccount, [{ requests: 20, perMs: 1_000 }]);
  const { pool, name, drain, account } = await setUpPeople(vendor.make)(t);
  await takeIn(pool, bookings, [name], { integration: name });
  for (let delivered = 0; delivered < guests; ) delivered += (await drain()).delivered;
  assert.ok(vendor.refused() > 0, 'the limit was met');
  assert.equal(account.people().filter(({ subscribed }) => subscribed).length, guests);
  assert.equal(vendor.accepted('/api/profile-import'), guests);
});
