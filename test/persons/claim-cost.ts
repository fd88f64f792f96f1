import assert from 'node:assert/strict';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import type { Pool } from '../../src/core/store/db/pool.ts';
import { outboxStore } from '../../src/core/store/outbox/settle.ts';
import { assembleProfiles } from '../../src/core/store/persons/profiles.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { reservation, takeIn } from '../deliver/support.ts';
import { testBrand } from '../support/brand.ts';

/** Processor time in µs for each of this many guests of a new brand: one claim, and all that a destination with people asks about them. */
export async function claimCost(
  pool: Pool,
  brand: string,
  count: number,
  keysOf: (i: number) => Partial<Guest>,
): Promise<number> {
  const integration = brand as IntegrationName;
  const target = testBrand(brand);
  for (let at = 0; at < count; at += 200) {
    const bookings = Array.from({ length: Math.min(200, count - at) }, (_, i) => {
      const guest = { first_name: `Ana ${at + i}`, last_name: `Exemplo ${at + i}`, marketing_consent: true };
      return reservation(`${brand}${at + i}`, { guests: [{ ...guest, ...keysOf(at + i) }] });
    });
    await takeIn(pool, bookings, ['crm'], { integration });
    const versions = bookings.map(({ id, guests }) => ({ id, version: 1, guests }));
    await assembleProfiles(pool, target, versions);
  }
  await pool.query('analyze');
  const before = process.cpuUsage();
  const options = { withDelivered: true, withMentions: true };
  const claims = await outboxStore(pool).claim('crm', [integration], count, 60_000, options);
  assert.equal(claims.length, count);
  for (const { change, persons } of claims) {
    const record = change?.record();
    for (const guest of record && 'guests' in record ? record.guests : []) {
      persons?.mentions(guest);
      persons?.isOutdated(guest);
      for (const address of [guest.email, guest.phone]) if (address) persons?.isShared(address);
      if (guest.email) persons?.isAgreed(guest.email);
      if (guest.email) persons?.isOwner(guest, guest.email);
    }
  }
  return process.cpuUsage(before).user / count;
}

export const ownKeys = (i: number): Partial<Guest> => ({
  email: `g${i}@guests.example`,
  phone: `+35191${String(i).padStart(7, '0')}`,
});
export const agencyKeys = (i: number): Partial<Guest> => ({
  guest_id: `${i}`,
  email: 'desk@agency.example',
  phone: '+351210000000',
});
