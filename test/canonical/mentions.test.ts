import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mentions, reservationWithoutMentions } from '../../src/core/canonical/mentions.ts';

const guest = { first_name: 'Eva', last_name: 'King', email: 'eva@mail.example', phone: '+351912345678' };

test('a text names a guest by full name, address or number; a last name alone may be a type of room', () => {
  for (const text of [
    'Transfer KING, Eva',
    'for Eva M. King',
    'ask EVA@mail.example',
    'tel. 912 34-56-78',
    '(91)2345678',
  ]) {
    assert.ok(mentions(text, [guest]), text);
  }
  for (const text of ['King Suite', 'Evaluation at Kingston', 'Eva', '912 345 67']) {
    assert.ok(!mentions(text, [guest]), text);
  }
  assert.ok(!mentions('Sea View', [{ phone: 'none' }]), 'a rule may have written a text that is not a number');
});

test('only the texts that name the guest are removed, and never a required field', () => {
  const stay = {
    id: 'Eva King',
    status: 'confirmed',
    source: 'eva@mail.example',
    rooms: [{ room_type: 'King' }],
    charges: [{ code: 'TRF', description: 'Eva King', amount: '30' }],
  };
  assert.deepEqual(reservationWithoutMentions(stay, [guest]), {
    id: 'Eva King',
    status: 'confirmed',
    rooms: [{ room_type: 'King' }],
    charges: [{ code: 'TRF', amount: '30' }],
  });
  const other = { ...stay, source: 'web', charges: [] };
  assert.equal(reservationWithoutMentions(other, [guest]), other);
});
