import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toReservation } from '../../../src/core/canonical/check.ts';
import { recordText } from '../../../src/core/canonical/reservation.ts';
import { difference } from '../../../src/core/reconcile/difference.ts';
import { versionOf } from '../../../src/core/store/records/versions.ts';
import type { Json } from '../../../src/terms.ts';

const textOf = (record: { readonly [field: string]: Json }): string => {
  const checked = toReservation({
    record: { id: 'R1', check_in: '2026-06-07', check_out: '2026-06-08', status: 'confirmed', ...record },
  });
  if (checked.kind !== 'ok') throw new Error('not canonical');
  return recordText(checked.reservation);
};

test('an earlier version is the text that it was: a delivery that is repeated has the same body under its key', () => {
  const guest = { first_name: 'Ana', last_name: 'Reis', email: 'ana@guests.example', phone: '+351912345678' };
  const rooms = [{ room_type: 'DBL', adults: 2, rate_code: 'BAR' }];
  const first = textOf({ confirmation_number: 'C1', channel: 'web', total_amount: '105.50', guests: [guest], rooms });
  const second = textOf({
    total_amount: '99',
    guests: [{ first_name: 'Ana', phone: '+351912345678' }],
    rooms: [{ adults: 2 }],
  });
  const diff = difference(JSON.parse(first), JSON.parse(second));
  const made = JSON.stringify([{ version: 2, diff }]);
  assert.equal(versionOf(1, { version: 2, data: second }, made), first);
});
