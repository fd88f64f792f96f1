import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Guest } from '../../src/canonical/reservation.ts';
import { setUpPeople } from './people/set-up.ts';
import { reservation, takeIn } from './support.ts';
import type { Account } from './vendors/account.ts';
import { brazeAccount } from './vendors/braze.ts';
import { brevoAccount } from './vendors/brevo.ts';
import { dynamicsAccount } from './vendors/dynamics.ts';
import { hubspotAccount } from './vendors/hubspot.ts';
import { klaviyoAccount } from './vendors/klaviyo.ts';
import { mailchimpAccount } from './vendors/mailchimp.ts';
import { salesforceAccount } from './vendors/salesforce.ts';

/** The first import: guests with an address, a phone number, consent and one past stay each. */
const guests = 200;
const guide = readFileSync(new URL('../../docs/guides/deliver.md', import.meta.url), 'utf8');

const accounts: (() => Account)[] = [
  brazeAccount,
  brevoAccount,
  dynamicsAccount,
  hubspotAccount,
  klaviyoAccount,
  mailchimpAccount,
  salesforceAccount,
];
for (const make of accounts) {
  const { preset } = make();
  test(`${preset}: the guide says how many calls a thousand guests need`, async (t) => {
    const { server, pool, name, drainAll } = await setUpPeople(make)(t);
    const bookings = Array.from({ length: guests }, (_, i) => {
      const phone = `+35191${String(i).padStart(7, '0')}`;
      const guest: Guest = { first_name: 'Ana', last_name: `Exemplo ${i}`, email: `g${i}@guests.example`, phone };
      const stay = { status: 'checked_out' as const, booking_date: '2024-01-01' };
      return reservation(`r${i}`, { ...stay, guests: [{ ...guest, marketing_consent: true }] });
    });
    await takeIn(pool, bookings, [name], { integration: name, mode: 'push' });
    const before = server.received.length;
    await drainAll();
    const calls = ((server.received.length - before) * 1000) / guests;
    const [, said] = new RegExp(`\\| ${preset} \\| ([\\d,]+) \\|`).exec(guide) ?? [];
    assert.equal(calls, Number(said?.replaceAll(',', '')));
  });
}
