import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../../src/canonical/reservation.ts';
import { consentsIn, newerConsent } from '../../src/reconcile/consent.ts';

const yes = { value: true, source: 'pull', at: 1 } as const;
const no = { value: false, source: 'push', at: 2 } as const;

test('the newer statement about consent wins, and silence changes nothing', () => {
  assert.equal(newerConsent(yes, no), no);
  assert.equal(newerConsent(no, yes), no);
  assert.equal(newerConsent(yes, undefined), yes);
  assert.equal(newerConsent(undefined, yes), yes);
  assert.equal(newerConsent(undefined, undefined), undefined);
  const cleared = { value: null, source: 'push', at: 3 } as const;
  assert.equal(newerConsent(no, cleared), cleared);
});

test('of two statements with the same time, the refusal wins in either order', () => {
  const refused = { value: false, source: 'pull', at: 1 } as const;
  assert.equal(newerConsent(yes, refused), refused);
  assert.equal(newerConsent(refused, yes), refused);
});

test('consent carries its source and time; a guest without a statement has none', () => {
  const record = { id: 'R1', guests: [{ last_name: 'Reis' }, { last_name: 'Lund', marketing_consent: false }] };
  assert.deepEqual(consentsIn(record as unknown as Reservation, undefined, [7, 1]), [
    undefined,
    { value: false, source: 'pull', at: 7 },
  ]);
});
