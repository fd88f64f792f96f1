import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeRecord, encodeRecord } from '../../src/canonical/encode.ts';
import type { Reservation } from '../../src/canonical/reservation.ts';
import { reservationArbitrary } from './arbitrary.ts';

const reservation: Reservation = {
  id: '12345678901234567890',
  check_in: '2026-05-01',
  check_out: '2026-05-04',
  status: 'confirmed',
  total_amount: '99999999999999999999.99',
  guests: [{ last_name: 'Reis', marketing_consent: true }],
  rooms: [],
  charges: [{ code: 'ROOM', amount: '0.1', quantity: 3 }, { code: 'FREE' }],
  extra: { amount: 1.25, total_amount: 'text' },
};

test('decimals leave as numbers with every digit, ids as text', () => {
  assert.equal(
    encodeRecord(reservation),
    '{"id":"12345678901234567890","check_in":"2026-05-01","check_out":"2026-05-04","status":"confirmed",' +
      '"total_amount":99999999999999999999.99,"guests":[{"last_name":"Reis","marketing_consent":true}],"rooms":[],' +
      '"charges":[{"code":"ROOM","amount":0.1,"quantity":3},{"code":"FREE"}],"extra":{"amount":1.25,"total_amount":"text"}}',
  );
});

test('a guest is plain JSON both ways', () => {
  const guest = { last_name: 'Reis', email: 'ana@reis.example' };
  assert.equal(encodeRecord(guest), JSON.stringify(guest));
  assert.deepEqual(decodeRecord('guest', encodeRecord(guest)), guest);
});

test('what was encoded comes back to the digit', () => {
  assert.deepEqual(decodeRecord('reservation', encodeRecord(reservation)), reservation);
  fc.assert(
    fc.property(reservationArbitrary, (one) => {
      const text = encodeRecord(one);
      assert.deepEqual(decodeRecord('reservation', text), one);
      assert.equal(encodeRecord(decodeRecord('reservation', text)), text);
    }),
    { numRuns: 200 },
  );
});
