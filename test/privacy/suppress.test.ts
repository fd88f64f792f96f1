import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';
import type { BrandBatch } from '../../src/core/intake/push/brand-batch.ts';
import { workGuestEvent } from '../../src/core/intake/push/guest-event.ts';
import { read } from '../../src/core/pipeline.ts';
import type { Statement } from '../../src/core/reconcile/forms.ts';
import type { Keyring } from '../../src/kit/crypto.ts';
import { hashesOf, identitiesOf } from '../../src/operator/privacy/identity.ts';
import { addressesIn, withoutGuests } from '../../src/operator/privacy/strip.ts';
import { suppression } from '../../src/operator/privacy/suppress.ts';
import type { Json } from '../../src/terms.ts';
import { activeIntegration } from '../intake/push/events-support.ts';
import { integration, reservationData } from '../intake/push/support.ts';

const keyring: Keyring = [{ id: 'test', bytes: randomBytes(32) }];
const email = 'marta.quill@mail.example';
const brand = activeIntegration({}, {}, { map: { extra: { remark: 'remark' } } });

/** As the store does it: of the erased hashes, only those that the message asks for are known. */
function stripped(more: { [key: string]: Json }, by = brand) {
  const raw = { key: 'R-1001', value: reservationData(more) };
  const arrival = { mode: 'push', effectiveAt: 1, cause: 'event', causeId: '1' } as const;
  return withoutErased(read(by, raw, arrival));
}

function withoutErased(prepared: Statement): Statement {
  const erased = new Set(hashesOf(keyring, identitiesOf({ email, last_name: 'Quill' }, integration)));
  const known = suppression(keyring)
    .hashesOf(prepared, integration)
    .filter((hash) => erased.has(hash));
  return suppression(keyring).strip(prepared, integration, new Set(known));
}

const said = (more: { [key: string]: Json }) => stripped(more).content;

test('an erased guest whose phone number was sent empty is removed', () => {
  for (const phone of [null, '', 'n/a']) {
    const guest = { first_name: 'Marta', last_name: 'Quill', email, phone };
    const statement = said({ guests: [guest], source: 'Marta Quill', channel: 'web' });
    assert.deepEqual(statement?.lists.guests, [{ values: {} }], String(phone));
    assert.equal(statement?.values.source, undefined, 'a text that names the guest');
    assert.equal(statement?.values.channel, 'web');
  }
});

test("extra goes if it contains the erased guest's number, however it is written", () => {
  const extra = { remark: 'call 912 345 678' };
  const guest = { email, phone: '+351912345678' };
  const stay = { id: 'R', check_in: '2026-12-01', check_out: '2026-12-04', status: 'confirmed' as const };
  const whole = { ...stay, guests: [guest], rooms: [], charges: [], extra };
  assert.equal(withoutGuests(whole, () => true).extra, undefined);
  assert.equal(said({ remark: extra.remark })?.values['extra.remark'], undefined);
});

test('a rule that removes the address does not bring an erased guest back', () => {
  const ruled = activeIntegration({}, { transforms: [{ drop: ['guests[].email'] }] });
  const marta = { guest_id: 'g1', first_name: 'Marta', last_name: 'Quill', email };
  const namesake = { guest_id: 'g2', first_name: 'Marta', last_name: 'Quill' };
  const prepared = stripped({ guests: [marta, namesake], source: 'Marta Quill' }, ruled);
  assert.deepEqual(prepared.content?.lists.guests?.[0], { values: {} });
  assert.ok(prepared.record && 'guests' in prepared.record);
  const { record, raw } = prepared;
  assert.deepEqual(record.guests, [{}, namesake], 'another guest id is another person');
  assert.equal(record.source, undefined);
  assert.equal(raw.value, null);
});

test('a rule that removes the address does not bring the profile of an erased guest back', async () => {
  const transforms = [
    { drop: ['guests[].email'] },
    { when: 'guest.first_name == "Desk"', drop: ['guests[]'] },
    { when: 'guest.first_name == "Otto"', set: { 'guests[].date_of_birth': 'add_days(guest.last_name, 1)' } },
  ];
  // The payload names the address as no list of known names does, and in a form that only the mapping reads.
  const map = { guests: { fields: { email: { join: ['user', 'host'], with: '@' } } } };
  const events = activeIntegration({ map }, { transforms });
  const [user = '', host = ''] = email.split('@');
  for (const [first_name, kind] of [
    ['Marta', 'dropped'],
    ['Desk', 'dropped'],
    ['Otto', 'dead'],
  ] as const) {
    const data = { guest_id: 'g9', first_name, last_name: 'Quill', user, host };
    const event = {
      seq: 1,
      event: 'guest.updated',
      occurredAt: 1,
      receivedAt: 1,
      body: Buffer.from(JSON.stringify({ data })),
      attempt: 0,
    } as const;
    const prepared: Statement[] = [];
    const batch: BrandBatch = {
      events: [],
      profiles: async () => [],
      newProfileId: async () => 'gst_1',
      storedId: async (id) => id,
      reservation: async () => undefined,
      reservationsOf: async () => [],
      bookings: async () => ({ has: () => false }),
      consentOf: async () => undefined,
      isRefusedAt: async () => false,
      othersAt: () => [],
      async take(given) {
        prepared.push(...given);
        return { outcomes: [], changed: 0, unchanged: 0, superseded: 0, dropped: 0, dead: 0, held: 0 };
      },
    };
    await workGuestEvent(batch, events, event);
    const [profile] = prepared.map(withoutErased);
    assert.equal(profile?.failure ? 'dead' : profile?.dropped && 'dropped', kind, first_name);
    assert.equal(profile?.failure ? profile.failure.raw : profile?.raw.value, null);
    assert.equal(profile?.type, 'guest');
  }
});

test('addresses are found in any text, also in a very long one', { timeout: 20_000 }, () => {
  const text = 'Write to <Ana.Moura@Mail.example>, or "rui@mail.example". mailto:eva+x@sub.mail.example!';
  const found = ['ana.moura@mail.example', 'rui@mail.example', 'eva+x@sub.mail.example'];
  assert.deepEqual(addressesIn({ text, image: 'a'.repeat(1_000_000), odd: ['@', 'a@', '@b.example', 'a@b'] }), found);
  assert.deepEqual(addressesIn('@'.repeat(1_000_000)), []);
});
