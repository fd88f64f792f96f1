import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Guest, Reservation } from '../../src/core/canonical/reservation.ts';
import { compileCondition } from '../../src/core/transform/condition.ts';

const reservation: Reservation = {
  id: 'R1',
  check_in: '2026-11-01',
  check_out: '2026-11-05',
  status: 'confirmed',
  guests: [{ email: 'a@example.com', marketing_consent: true }, {}],
  rooms: [],
  charges: [],
};

function test_(
  text: string,
  record: Reservation | Guest,
  about?: Parameters<Extract<ReturnType<typeof compileCondition>, { kind: 'ok' }>['test']>[1],
) {
  const compiled = compileCondition(text, 'guests' in record ? 'reservation' : 'guest');
  assert.equal(compiled.kind, 'ok', JSON.stringify(compiled));
  return compiled.kind === 'ok' ? compiled.test(record, about) : undefined;
}

test('over a reservation', () => {
  assert.deepEqual(test_('guests.exists(g, g.marketing_consent)', reservation), { kind: 'tested', value: true });
  assert.deepEqual(test_('guests.all(g, g.marketing_consent)', reservation), { kind: 'tested', value: false });
});

test('over a guest: fields as variables and under guest', () => {
  const guest: Guest = { email: 'a@example.com', marketing_consent: true };
  assert.deepEqual(test_('marketing_consent && email.endsWith("example.com") && guest.email == email', guest), {
    kind: 'tested',
    value: true,
  });
  assert.deepEqual(test_('has(phone) || has(guest.phone)', guest), { kind: 'tested', value: false });
});

test('the brand of the record', () => {
  assert.deepEqual(
    test_('integration == "lisbon-grand" && brand_id == "LIS01" && country == "PT"', reservation, {
      integration: 'lisbon-grand',
      brand_id: 'LIS01',
      country: 'PT',
    }),
    { kind: 'tested', value: true },
  );
  assert.deepEqual(test_('integration == ""', reservation), { kind: 'tested', value: true });
});

test('a failure is a value and quotes nothing of the record', () => {
  const result = test_('int(guests[0].email) == 1', reservation);
  assert.equal(result?.kind, 'failed');
  assert.ok(
    result?.kind === 'failed' && result.code === 'record.rule_failed' && !result.message.includes('example.com'),
  );
});
