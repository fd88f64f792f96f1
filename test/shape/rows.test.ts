import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ShapeSection } from '../../src/core/shape/config.ts';
import type { Json } from '../../src/terms.ts';
import { recordsOf, shaperOf } from './support.ts';

const found: [string, ShapeSection, Json, number, number | undefined][] = [
  ['an empty list', { root_path: 'items' }, { items: [], total: 0 }, 0, 0],
  ['a list that is null', { root_path: 'items' }, { items: null }, 0, undefined],
  ['a total in text', { root_path: 'items' }, { items: [{}], total: '12' }, 1, 12],
  ['a total that is none', { root_path: 'items' }, { items: [{}], total: 'many' }, 1, undefined],
  ['a bare list', {}, [{}, {}], 2, undefined],
  ['a list left out', { root_path: 'items', missing_is_empty: true }, {}, 0, undefined],
  ['no rows, written as an empty object', { root_path: 'items', object_is_one: true }, { items: {} }, 0, undefined],
  ['an empty object where a list is named', { root_path: 'items' }, { items: {} }, 0, undefined],
  ['an empty answer of a list of one', { object_is_one: true }, {}, 0, undefined],
  ['one as an object', { root_path: 'items', object_is_one: true }, { items: { id: 1 } }, 1, undefined],
  [
    'lists in lists, one of them missing',
    { root_path: 'a[].b' },
    { a: [{ b: [{}, {}] }, {}, { b: null }] },
    2,
    undefined,
  ],
  ['lists under keys', { root_path: '[][]' }, { '2026-05-01': [{}, {}], '2026-05-02': [] }, 2, undefined],
  ['no keys at all', { root_path: 'days[][]' }, { days: {} }, 0, undefined],
  ['no keys, written as an empty list', { root_path: 'days[][]' }, { days: [] }, 0, undefined],
  ['keys left out', { root_path: 'days[][]', missing_is_empty: true }, {}, 0, undefined],
];

for (const [name, shape, body, rows, total] of found) {
  test(`records: ${name}`, () => {
    const shaper = shaperOf({ shape });
    const answer = shaper.records(body);
    assert.ok(answer.kind === 'ok', JSON.stringify(answer));
    assert.equal(answer.records.length, rows);
    assert.equal(answer.total, total);
    assert.equal(shaper.rows(body).length, rows);
    if (!shape.root_path?.includes('[')) assert.equal(shaper.count(body), rows);
  });
}

const refused: [string, ShapeSection, Json, string, RegExp][] = [
  [
    'nothing at the path',
    { root_path: 'data.items' },
    { data: { rows: [] } },
    'record.root_not_found',
    /nothing at data\.items; it is an object with the keys data/,
  ],
  [
    'an error page as JSON',
    { root_path: 'items' },
    { error: 'no', code: 5 },
    'record.root_not_found',
    /the keys error, code/,
  ],
  [
    'an envelope instead of a list',
    {},
    { reservations: [] },
    'record.not_a_list',
    /the keys reservations, not a list.*set shape\.root_path/,
  ],
  [
    'an object instead of a list',
    { root_path: 'data' },
    { data: { items: [] } },
    'record.not_a_list',
    /At data there is an object/,
  ],
  [
    'nothing where a path through lists begins',
    { root_path: 'bookings[].stays' },
    { Bookings: [{ stays: [{}] }] },
    'record.root_not_found',
    /nothing at bookings; it is an object with the keys Bookings/,
  ],
  [
    'text where a path through lists begins',
    { root_path: 'data.days[][]' },
    { data: { days: 'none' } },
    'record.not_a_list',
    /At data\.days there is a string, not a list/,
  ],
  ['text', {}, 'Ana Reis', 'record.not_a_list', /is a string, not a list/],
  ['null as the response to a path', { root_path: 'items' }, null, 'record.root_not_found', /it is null/],
];

for (const [name, shape, body, code, message] of refused) {
  test(`records refused: ${name}`, () => {
    const shaper = shaperOf({ shape });
    const answer = shaper.records(body);
    assert.ok(answer.kind === 'invalid');
    assert.equal(answer.code, code);
    assert.match(answer.message, message);
    assert.ok(!answer.message.includes('Ana Reis'), 'values of the response stay out of the message');
    assert.deepEqual(shaper.rows(body), []);
    assert.equal(shaper.count(body), 0);
  });
}

test('paging counts rows as the partner does', () => {
  const shaper = shaperOf({ shape: { root_path: 'bookings[].stays' } });
  const body: Json = { bookings: [{ stays: [{}, {}] }, { stays: [{}] }] };
  assert.equal(shaper.count(body), 2);
  assert.equal(recordsOf(shaper, body).length, 3);
});

const singles: [string, ShapeSection, Json, string | undefined][] = [
  ['the response itself', { root_path: 'reservations' }, { id: 'R1' }, 'R1'],
  ['as the list has it', { root_path: 'reservations' }, { reservations: [{ id: 'R1' }] }, 'R1'],
  ['a bare list of one', {}, [{ id: 'R1' }], 'R1'],
  ['at its own path', { root_path: 'reservations', single_path: 'data' }, { data: { id: 'R1' } }, 'R1'],
  ['nothing at its own path', { single_path: 'data' }, { id: 'R1' }, undefined],
  ['an empty list in its envelope', { root_path: 'reservations' }, { reservations: [], total: 0 }, undefined],
  ['text', {}, 'R1', undefined],
  ['an empty list', {}, [], undefined],
];

for (const [name, shape, body, key] of singles) {
  test(`single: ${name}`, () => {
    const answer = shaperOf({ shape }).single(body);
    if (key === undefined) assert.equal(answer.kind, 'invalid');
    else assert.ok(answer.kind === 'ok' && answer.record.key === key, JSON.stringify(answer));
  });
}

test('a second list of the same response is read too, with the fields that are set for it', () => {
  const shape: ShapeSection = { root_path: 'bookings', also: [{ path: 'cancelled', set: { status: 'cancelled' } }] };
  const shaper = shaperOf({ shape });
  const body: Json = { bookings: [{ id: 'R1', status: 'confirmed' }], cancelled: [{ id: 'R2' }, { id: 'R3' }] };
  const read = recordsOf(shaper, body).map((raw) => [raw.key, shaper.draft(raw).record.status]);
  assert.deepEqual(read, [
    ['R1', 'confirmed'],
    ['R2', 'cancelled'],
    ['R3', 'cancelled'],
  ]);
  assert.equal(shaper.count(body), 1, 'paging counts the first list');
  assert.equal(recordsOf(shaper, { bookings: [] }).length, 0, 'it may be missing');
});

test('an empty object in place of a list inside a record is an empty list', () => {
  const shaper = shaperOf({ map: { rooms: false, charges: { from: 'lines' } } });
  const { record, notes } = shaper.draft({ key: '', value: { id: 'R1', guests: {}, lines: {} } });
  assert.deepEqual([record.guests, record.charges, notes], [[], [], []]);
});

test('an empty object at root_path is no single reservation', () => {
  const shaper = shaperOf({ shape: { root_path: 'items' } });
  const found = shaper.single({ items: {}, page: 1 });
  assert.ok(found.kind === 'invalid' && found.isEmpty, JSON.stringify(found));
});
