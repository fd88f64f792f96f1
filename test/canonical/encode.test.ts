import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeRecord, encodeRecord, type Reservation } from '../../src/core/canonical/reservation.ts';
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

test('decimals are encoded as numbers with every digit, ids as text', () => {
  assert.equal(
    encodeRecord(reservation),
    '{"id":"12345678901234567890","check_in":"2026-05-01","check_out":"2026-05-04","status":"confirmed",' +
      '"total_amount":99999999999999999999.99,"guests":[{"last_name":"Reis","marketing_consent":true}],"rooms":[],' +
      '"charges":[{"code":"ROOM","amount":0.1,"quantity":3},{"code":"FREE"}],"extra":{"amount":1.25,"total_amount":"text"}}',
  );
});

test('a decimal keeps its exact text in the JSON, however long or small', () => {
  const texts = [
    '0',
    '-0.1',
    '0.000001',
    '0.0000001',
    '-0.0000001',
    '999999999999999',
    '9999999999999999',
    '123456789012.345',
    '0.30000000000000004',
  ];
  const charges = texts.map((amount) => ({ amount }));
  const text = encodeRecord({ ...reservation, charges });
  assert.ok(text.includes(`"charges":[${texts.map((amount) => `{"amount":${amount}}`).join(',')}]`), text);
  assert.deepEqual(decodeRecord('reservation', text).charges, charges);
});

test('a guest is plain JSON both ways', () => {
  const guest = { last_name: 'Reis', email: 'ana@reis.example' };
  assert.equal(encodeRecord(guest), JSON.stringify(guest));
  assert.deepEqual(decodeRecord('guest', encodeRecord(guest)), guest);
});

test('decoding restores every digit', () => {
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
