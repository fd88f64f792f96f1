import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest } from '../../../src/canonical/reservation.ts';
import type { ClaimedByBrand } from '../../../src/deliver/ports.ts';
import { outboxStore } from '../../../src/store/outbox/outbox.ts';
import { assembleProfiles } from '../../../src/store/records/profiles.ts';
import type { IntegrationName } from '../../../src/terms.ts';
import { openStore, reservation, takeIn } from '../../deliver/support.ts';

/** Asks all that a destination with people asks about the guests of a claim. */
function askAll(claims: readonly ClaimedByBrand[]): void {
  for (const { change, persons } of claims) {
    const record = change?.record();
    for (const guest of record && 'guests' in record ? record.guests : []) {
      persons?.mentions(guest);
      persons?.isOutdated(guest);
      for (const address of [guest.email, guest.phone]) if (address) persons?.isShared(address);
      if (guest.email) persons?.isAgreed(guest.email);
    }
  }
}

const kinds: Record<string, (i: number) => Partial<Guest>> = {
  'with their own addresses': (i) => ({ email: `g${i}@guests.example`, phone: `+35191${String(i).padStart(7, '0')}` }),
  'with an agency’s address': (i) => ({ guest_id: `${i}`, email: 'desk@agency.example', phone: '+351210000000' }),
};

// 500 guests took 5.7 s for each pass over them.
for (const [kind, keysOf] of Object.entries(kinds)) {
  test(`a claim of guests ${kind} costs as much for each of 600 as for each of 60`, async (t) => {
    const { pool, close } = await openStore();
    t.after(close);
    const costOfEach = async (brand: string, count: number): Promise<number> => {
      const integration = brand as IntegrationName;
      const bookings = Array.from({ length: count }, (_, i) =>
        reservation(`${brand}${i}`, {
          guests: [{ first_name: `Ana ${i}`, last_name: `Exemplo ${i}`, marketing_consent: true, ...keysOf(i) }],
        }),
      );
      await takeIn(pool, bookings, ['crm'], { integration });
      const target = {
        integration,
        connectorVersion: 1,
        integrationVersion: 1,
        destinations: { reservation: [], guest: [] },
      };
      await assembleProfiles(
        pool,
        target,
        bookings.map(({ id, guests }) => ({ id, version: 1, guests })),
      );
      await pool.query('analyze');
      const before = process.cpuUsage();
      const options = { withDelivered: true, withMentions: true };
      const claims = await outboxStore(pool).claim('crm', [integration], count, 60_000, options);
      assert.equal(claims.length, count);
      askAll(claims);
      return process.cpuUsage(before).user / count;
    };
    await costOfEach('warm', 60);
    const [few, many] = [await costOfEach('few', 60), await costOfEach('many', 600)];
    assert.ok(many < 3 * few, `${many} µs for each of 600, ${few} µs for each of 60`);
  });
}
