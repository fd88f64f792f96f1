import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parsePath } from '../../src/core/json-path/path.ts';
import { loneScope } from '../../src/core/shape/draft.ts';
import { compileRead } from '../../src/core/shape/read.ts';
import type { Json } from '../../src/terms.ts';
import { type Mapping, only, recordsOf, reservationOf, shaperOf, stay } from './support.ts';

const body: Json = {
  property: { currency: 'EUR', city: 'Lisbon' },
  customers: [
    { id: 1, surname: 'Lund' },
    { id: 2, surname: 'Reis' },
    { id: 3, surname: 'Okafor' },
  ],
  bookings: [
    {
      number: 'B7',
      secret: 'not of this record',
      stays: [
        {
          ...stay,
          id: 'R1',
          mobile: '',
          phone: '+46701740605',
          guests: [{ ref: 2, role: 'owner' }],
          rooms: [
            {
              code: 'DBL',
              lines: [
                { amount: 80, text: 'Night' },
                { amount: 2, text: 'Tax' },
              ],
            },
          ],
          notes: { free: 'text', tags: ['a'] },
          void: [],
        },
      ],
    },
  ],
};

const mapping = {
  shape: { root_path: 'bookings[].stays' },
  map: {
    confirmation_number: '$parent.number',
    currency: '$body.property.currency',
    channel: { const: 'direct' },
    source: { first: [{ path: 'notes.free', when: { mobile: 'x' } }, 'phone', 'mobile'] },
    total_amount: { sum: 'rooms[].lines[].amount' },
    guests: {
      join: { in: '$body.customers', key: 'id', by: 'ref' },
      from: 'guests',
      fields: { last_name: 'surname', document_type: '$parent.role' },
    },
    rooms: { fields: { room_type: 'code' } },
    charges: { from: 'rooms[].lines' },
  },
} satisfies Mapping;

test('every value has the raw path it came from', () => {
  const shaper = shaperOf(mapping);
  assert.deepEqual(shaper.origins(only(recordsOf(shaper, body))), {
    id: 'id',
    check_in: 'check_in',
    check_out: 'check_out',
    status: 'status',
    confirmation_number: '$parent.number',
    currency: '$body.property.currency',
    channel: '(constant)',
    source: 'phone',
    total_amount: 'rooms[0].lines[0].amount + rooms[0].lines[1].amount',
    'guests[0].last_name': '$body.customers[1].surname',
    'guests[0].document_type': 'guests[0].role',
    'rooms[0].room_type': 'rooms[0].code',
    'charges[0].amount': 'rooms[0].lines[0].amount',
    'charges[1].amount': 'rooms[0].lines[1].amount',
  });
});

test('unmapped paths are listed once, whatever the list index', () => {
  const shaper = shaperOf(mapping);
  assert.deepEqual(shaper.unmapped(only(recordsOf(shaper, body))), ['rooms[].lines[].text', 'notes.tags[]']);
});

test('the id of a list’s items counts as mapped', () => {
  const shaper = shaperOf({ map: { rooms: { id: 'line', fields: { room_type: 'code' } } } });
  const raw = only(recordsOf(shaper, [{ id: 'R1', rooms: [{ line: 1, code: 'DBL', floor: 2 }] }]));
  assert.deepEqual(shaper.unmapped(raw), ['rooms[].floor']);
});

test('the key of a table counts as mapped, and a wrong one is reported although the table was read before', () => {
  const lookup = (inside: string, key: string) => ({ lookup: { in: inside, key, by: 'no', value: 'text' } });
  const value = { ...stay, id: 'R1', no: 1, own: [{ at: 2 }, { at: 1, text: 'a', more: 1 }] };
  const wrong = shaperOf({ map: { channel: lookup('own', 'at'), source: lookup('own', 'code') } });
  const raws = recordsOf(wrong, [value]);
  assert.equal(reservationOf(wrong, only(raws)).channel, 'a');
  assert.deepEqual(wrong.unmapped(only(raws)), ['own[].more']);
  for (let asked = 0; asked < 2; asked++)
    assert.deepEqual(wrong.unmatched(raws), [{ at: 'map.source.lookup.key', text: 'code' }]);
});

test('the origin of a plain field is a path that reads its value', () => {
  const shaper = shaperOf({
    map: { guests: { from: 'people', fields: { email: "'e-mail'.main", last_name: 'name' } } },
  });
  const value = {
    ...stay,
    id: 'R1',
    people: [{ name: 'Lund', 'e-mail': { main: 'x@lund.example' } }, { name: 'Reis' }],
  };
  const raw = only(recordsOf(shaper, [value]));
  const made = reservationOf(shaper, raw) as unknown as Json;
  for (const [canonical, origin] of Object.entries(shaper.origins(raw)))
    assert.equal(readAt(made, canonical), readAt(value, origin), canonical);
});

function readAt(value: Json, text: string): Json | undefined {
  const parsed = parsePath(text);
  assert.ok(parsed.kind === 'ok', text);
  return compileRead(parsed.path, false)(loneScope(value));
}

test('flat rows: the origin is the row that gave the value', () => {
  const shaper = shaperOf({
    shape: { flat: { key: 'id', guests: { key: 'gid' } } },
    map: { guests: { fields: { guest_id: 'gid' } } },
  });
  const rows: Json = [
    { ...stay, id: 'R1', gid: 1, last_name: 'Lund', left: 'over', charge: null },
    { ...stay, id: 'R1', gid: 2, last_name: 'Reis', channel: 'web' },
  ];
  const raw = only(recordsOf(shaper, rows));
  const origins = shaper.origins(raw);
  assert.equal(origins.channel, '[1].channel');
  assert.equal(origins['guests[0].last_name'], '[0].last_name');
  assert.deepEqual(shaper.unmapped(raw), ['[].left', '[].charge']);
});

test('a stored record keeps only its part of the response and maps to the same draft', () => {
  const shaper = shaperOf(mapping);
  const raw = only(recordsOf(shaper, body));
  const kept = shaper.selfContained(raw);
  assert.deepEqual(kept.body, { property: { currency: 'EUR' }, customers: [{ id: 2, surname: 'Reis' }] });
  assert.deepEqual(kept.around?.[0], { number: 'B7' });
  const restored = JSON.parse(JSON.stringify(kept));
  assert.deepEqual(reservationOf(shaper, restored), reservationOf(shaper, raw));
  assert.deepEqual(shaper.selfContained(restored), restored);
});

test('a stored record keeps the keys that enclose it, without its neighbours', () => {
  const shaper = shaperOf({
    shape: { root_path: 'properties[].days[][]' },
    map: {
      check_in: '$parent.$key',
      source: '$parent.$parent.$key',
      rooms: { from: 'nights[][]', fields: { room_type: '$parent.$key', start_date: '$parent.$parent.$parent.$key' } },
    },
  });
  const { check_in, ...rest } = stay;
  const of = (id: string) => ({ ...rest, id, nights: { DBL: [{}], SGL: [{}, {}] } });
  const answer: Json = {
    properties: { LIS: { days: { [check_in]: [of('R1'), of('R2')], '2026-05-02': [of('R3')] } } },
  };
  const [, raw] = recordsOf(shaper, answer);
  assert.ok(raw !== undefined);
  const { id, check_in: from, source, rooms } = reservationOf(shaper, raw);
  assert.deepEqual({ id, from, source }, { id: 'R2', from: check_in, source: 'LIS' });
  assert.deepEqual(
    rooms.map(({ room_type, start_date }) => [room_type, start_date]),
    [
      ['DBL', check_in],
      ['SGL', check_in],
      ['SGL', check_in],
    ],
  );
  const kept = JSON.parse(JSON.stringify(shaper.selfContained(raw)));
  assert.ok(!JSON.stringify(kept).includes('R3'), 'its neighbours are not kept');
  assert.deepEqual(reservationOf(shaper, kept), reservationOf(shaper, raw));
  const origins = shaper.origins(kept);
  assert.equal(origins.check_in, '$parent.$key');
  assert.equal(origins['rooms[1].room_type'], 'nights.SGL.$key');
});

test('a record that reads nothing around it is stored unchanged', () => {
  const shaper = shaperOf({});
  const raw = only(recordsOf(shaper, [{ ...stay, id: 'R1' }]));
  assert.equal(shaper.selfContained(raw), raw);
  assert.deepEqual(Object.keys(raw), ['key', 'value']);
});

test('a computed value shows how it was computed', () => {
  const shaper = shaperOf({
    map: {
      check_in: { min: { from: 'stays', value: 'from' } },
      total_amount: { product: ['nights', 'rate'] },
      channel: { join: ['a', 'b'] },
    },
  });
  const raw = only(
    recordsOf(shaper, [
      { stays: [{ from: '2026-05-02' }, { from: '2026-05-01' }], nights: 2, rate: 80, a: 'x', b: 'y' },
    ]),
  );
  const { check_in, total_amount, channel } = shaper.origins(raw);
  assert.deepEqual(
    { check_in, total_amount, channel },
    {
      check_in: 'min(stays[0].from, stays[1].from)',
      total_amount: 'nights × rate',
      channel: 'a + b',
    },
  );
});

test('a stored record keeps what it read at a key with quotes and backslashes', () => {
  const shaper = shaperOf({ shape: { root_path: 'list' }, map: { channel: '$body["the \\"A\\\\B\\" channel"]' } });
  const raw = only(recordsOf(shaper, { list: [{ ...stay, id: 'R1' }], 'the "A\\B" channel': 'web' }));
  assert.equal(reservationOf(shaper, raw).channel, 'web');
  assert.deepEqual(shaper.selfContained(raw).body, { 'the "A\\B" channel': 'web' });
});
