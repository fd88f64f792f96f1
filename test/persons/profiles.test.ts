import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { continuedBy } from '../../src/core/reconcile/separate-profile.ts';
import { assembleProfiles } from '../../src/core/store/persons/profiles.ts';
import { openStore, reservation, takeIn } from '../deliver/support.ts';
import { testBrand } from '../support/brand.ts';
import { storedVersions } from '../support/versions.ts';
import { type Booking, bookingsOf } from './bookings.ts';
import { households, Population, SaidAbout } from './population.ts';

/** Bookings of invented households in the real store, one brand per population. */

let store: Awaited<ReturnType<typeof openStore>>;
before(async () => {
  store = await openStore();
});
after(() => store.close());

const populations = Array.from({ length: 6 }, (_, seed) => seed + 1);

/** Stores the bookings in this order, some of them together, and assembles the profiles. */
async function assemble(integration: string, bookings: readonly Booking[], together: number): Promise<void> {
  const target = testBrand(integration, {});
  for (let at = 0; at < bookings.length; at += together) {
    const page = bookings
      .slice(at, at + together)
      .map(({ id, mentions }) => ({ id, version: 1, guests: mentions.map(({ guest }) => guest) }));
    const records = page.map(({ id, guests }) => reservation(id, { guests }));
    await takeIn(store.pool, records, [], { integration });
    await assembleProfiles(store.pool, target, page);
  }
}

for (const seed of populations) {
  test(`population ${seed}: a profile has no field or consent that was not stated about this person`, async () => {
    const population = new Population(seed);
    const bookings = bookingsOf(population, [...households, ...households, ...households]);
    const said = new SaidAbout();
    for (const { mentions } of bookings) for (const one of mentions) said.add(one);
    await assemble(`brand-${seed}`, bookings, population.dice.whole(1, 10));
    const versions = await storedVersions(store.pool, `c.integration = $1 and c.type = 'guest'`, [`brand-${seed}`]);
    const rows = versions.map(({ data }) => ({ data: data as Guest }));
    assert.ok(rows.length > 20);
    // A profile that was merged only names the one that continues it.
    const mixed = rows.filter(({ data }) => continuedBy(data) === undefined && said.whose(data).size === 0);
    assert.deepEqual(
      mixed.map(({ data }) => data),
      [],
    );
  });
}
