import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Guest } from '../../src/core/canonical/reservation.ts';
import { setUpPeople } from './people/set-up.ts';
import { reservation, takeIn } from './support.ts';
import { accounts } from './vendors/all.ts';

/** The first import of bookings and profiles: guests with an address, a phone number, consent and one past stay each. */
const imported = 1_000;
/** A part of the guests shows as much in less time. The batches of braze do not divide a fifth, and mailchimp needs two of 500. */
const part: Readonly<Record<string, number>> = { braze: 2, mailchimp: 1 };
const counted = new Map<string, number>();

for (const make of accounts) {
  const { preset } = make();
  const guests = imported / (part[preset] ?? 5);
  test(`${preset}: calls for the first import of many guests are counted`, async (t) => {
    const { account, server, pool, name, drainAll, assemble, foresee } = await setUpPeople(make)(t);
    const bookings = Array.from({ length: guests }, (_, i) => {
      const phone = `+35191${String(i).padStart(7, '0')}`;
      const guest: Guest = { first_name: 'Ana', last_name: `Exemplo ${i}`, email: `g${i}@guests.example`, phone };
      const stay = { status: 'checked_out' as const, booking_date: '2024-01-01' };
      return reservation(`r${i}`, { ...stay, guests: [{ ...guest, marketing_consent: true }] });
    });
    await takeIn(pool, bookings, [name], { integration: name, mode: 'push' });
    await assemble(...bookings);
    const foreseen = await foresee();
    const before = server.received.length;
    await pool.query(`update outbox set due_at = 'infinity' where destination = $1 and type = 'guest'`, [name]);
    await drainAll(['reservation']);
    await drainAll();
    const calls = server.received.length - before;
    counted.set(preset, (calls * imported) / guests);
    assert.equal(foreseen, calls, 'the calls of a preview');
    assert.equal(account.people().length, guests);
  });
}

test('the guide has the calls of each preset', () => {
  const guide = readFileSync(new URL('../../docs/guides/presets.md', import.meta.url), 'utf8');
  const rows = [...counted].map(([preset, calls]) => `| ${preset} | ${calls.toLocaleString('en')} |`);
  assert.deepEqual(
    rows.filter((row) => !guide.includes(row)),
    [],
  );
});
