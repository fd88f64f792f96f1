import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { MapConfig } from '../../src/core/shape/config.ts';
import type { Json } from '../../src/terms.ts';
import { only, recordsOf, shaperOf, stay } from './support.ts';

const chain = {
  join: [
    { in: '$body.companionships', key: 'reservation_id', by: 'id' },
    { in: '$body.customers', key: 'id', by: 'customer_id' },
  ],
  fields: { guest_id: 'id' },
};
const customers = [
  { id: 'c1', last_name: 'Lund' },
  { id: 'c2', last_name: 'Reis' },
  { id: 'c3', last_name: 'Okafor' },
];

function guestsOf(guests: MapConfig['guests'], record: { [key: string]: Json }, tables: { [key: string]: Json }) {
  const shaper = shaperOf({ shape: { root_path: 'list' }, map: { guests } });
  const draft = shaper.draft(only(recordsOf(shaper, { list: [{ ...stay, id: 'R1', ...record }], ...tables })));
  return {
    names: (draft.record.guests as { last_name?: string }[] | undefined)?.map(({ last_name: name }) => name),
    notes: draft.notes.map(({ code, field }) => `${field} ${code}`),
  };
}

test('a chain whose last join finds nothing gives no guest', () => {
  const companionships = [
    { id: 'd1', reservation_id: 'R1', customer_id: 'c1' },
    { id: 'd2', reservation_id: 'R1', customer_id: 'c9' },
  ];
  assert.deepEqual(guestsOf(chain, {}, { companionships, customers }), {
    names: ['Lund'],
    notes: ['guests join_missing'],
  });
});

for (const [about, key] of [
  ['a null key', { customer_id: null }],
  ['a missing key', {}],
  ['an empty key', { customer_id: '' }],
] as const) {
  test(`${about} gives no guest`, () => {
    const companionships = [
      { id: 'd1', reservation_id: 'R1', customer_id: 'c1' },
      { id: 'd2', reservation_id: 'R1', ...key },
    ];
    assert.deepEqual(guestsOf(chain, {}, { companionships, customers }), {
      names: ['Lund'],
      notes: ['guests join_missing'],
    });
  });
}

test('a list of which no item finds its row was not read, so stored guests are kept', () => {
  const guests = { from: 'people', join: { in: '$body.customers', key: 'id', by: 'ref' } };
  const found = guestsOf(guests, { people: [{ ref: 'c8', last_name: 'of another table' }] }, { customers });
  assert.deepEqual(found, { names: undefined, notes: ['guests join_missing'] });
});

test('an empty list is empty, and a record without rows in the joined table has none', () => {
  const from = { from: 'people', join: { in: '$body.customers', key: 'id', by: 'ref' } };
  assert.deepEqual(guestsOf(from, { people: [] }, { customers }), { names: [], notes: [] });
  assert.deepEqual(guestsOf(chain, {}, { companionships: [], customers }), { names: undefined, notes: [] });
});

const lists: [string, string, { [key: string]: Json }][] = [
  ['a list of ids', 'guest_ids', { guest_ids: ['c2', 'c1', 'c2'] }],
  ['a list of ids, with []', 'guest_ids[]', { guest_ids: ['c2', 'c1', null] }],
  ['the ids in a list of objects', 'people[].ref', { people: [{ ref: 'c2' }, {}, { ref: 'c1' }] }],
];
for (const [about, by, record] of lists) {
  test(`a key that is ${about} joins each`, () => {
    const guests = { join: { in: '$body.customers', key: 'id', by } };
    assert.deepEqual(guestsOf(guests, record, { customers }), {
      names: ['Reis', 'Lund'],
      notes: [],
    });
  });
}
