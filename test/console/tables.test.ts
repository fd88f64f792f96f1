import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tablesFor, tableText, valueAt } from '../../console/src/pages/studio/tables.ts';

const sample = JSON.stringify({
  data: { bookings: [{ ref: 'A', channel_id: 7 }] },
  channels: [
    { id: 3, code: 'EXP' },
    { id: 7, code: 'BDC', title: 'Booking', rank: 1 },
  ],
});

test('a list outside the record is offered if the value is an id of one of its rows', () => {
  const found = tablesFor(sample, 7);
  assert.deepEqual(found, [
    { in: '$body.channels', key: 'id', value: 'code' },
    { in: '$body.channels', key: 'id', value: 'title' },
  ]);
  assert.equal(tableText({ in: '$body.channels', key: 'id', value: 'code' }), 'code of channels');
  assert.deepEqual(tablesFor(sample, 8), []);
  assert.deepEqual(tablesFor(sample, ''), []);
  assert.deepEqual(tablesFor('no JSON', 7), []);
});

test('a path of the raw record leads to its value', () => {
  assert.equal(valueAt({ guests: [{ family: 'Reis' }] }, 'guests[0].family'), 'Reis');
  assert.equal(valueAt({ guests: null }, 'guests[0].family'), undefined);
});
