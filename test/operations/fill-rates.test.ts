import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillRates, gapsText } from '../../src/operator/operations/preview-mapping.ts';

const guest = (some: object) => ({ last_name: 'Reis', ...some });
const records = [
  { id: 'R1', channel: 'web', guests: [guest({ email: 'a@mail.example', phone: '+351912345678' })], rooms: [] },
  {
    id: 'R2',
    channel: '',
    guests: [guest({ email: 'x@alias.example', email_proxy: true, phone_raw: '12' })],
    rooms: [],
  },
];
const rateOf = (field: string) => fillRates(records).find((rate) => rate.field === field);

test('a fill rate counts usable values: no alias address, no impossible phone, no empty text', () => {
  assert.deepEqual(rateOf('id'), { field: 'id', filled: 2, of: 2 });
  assert.deepEqual(rateOf('channel'), { field: 'channel', filled: 1, of: 2 });
  assert.deepEqual(rateOf('guests.email'), { field: 'guests.email', filled: 1, of: 2 });
  assert.deepEqual(rateOf('guests.phone'), { field: 'guests.phone', filled: 1, of: 2 });
});

test('a list that no record has is one line, without its fields', () => {
  assert.deepEqual(rateOf('rooms'), { field: 'rooms', filled: 0, of: 2 });
  assert.equal(rateOf('rooms.adults'), undefined);
});

test('the text names the gaps, the emptiest first', () => {
  const text = gapsText(fillRates(records));
  assert.match(text, /rooms 0 of 2.*guests\.email 1 of 2/);
  assert.doesNotMatch(text, /last_name/);
});
