import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toGuest } from '../../src/core/canonical/check.ts';
import type { FieldMap, RawRecord } from '../../src/core/shape/config.ts';
import type { Shaper } from '../../src/core/shape/shape.ts';
import type { Json } from '../../src/terms.ts';
import { reservationOf, shaperOf, stay } from './support.ts';

function eventOf(shaper: Shaper, data: Json): RawRecord {
  const found = shaper.single(data);
  assert.ok(found.kind === 'ok', JSON.stringify(found));
  return found.record;
}

const described = {
  reservation_id: 'R1',
  confirmation_number: 'C1',
  ...stay,
  guests: [{ first_name: 'Ana', last_name: 'Reis', email: 'ana@reis.example', phone: '+351912345678' }],
  stays: [{ room_type: 'DBL', board_type: 'HB', adults: 2, children: 0 }],
};

test('an event as in the interface description needs no mapping', () => {
  const shaper = shaperOf({ values: { board: { half_board: ['HB'] } } }, {});
  const raw = eventOf(shaper, described);
  assert.equal(raw.key, 'R1');
  assert.deepEqual(reservationOf(shaper, raw), {
    id: 'R1',
    confirmation_number: 'C1',
    ...stay,
    guests: described.guests,
    rooms: [{ room_type: 'DBL', board: 'half_board', adults: 2, children: 0 }],
    charges: [],
  });
});

test('an event that looks like the list is read by the map of the list', () => {
  const map = { id: 'ref.no', guests: { from: 'people', fields: { last_name: 'family' } } };
  const shaper = shaperOf({ shape: { root_path: 'data.items' }, map }, {});
  const raw = eventOf(shaper, { ref: { no: 7 }, ...stay, people: [{ family: 'Lund' }], rooms: [{ board: 'BB' }] });
  const made = reservationOf(shaper, raw);
  assert.equal(made.id, '7');
  assert.deepEqual(made.guests, [{ last_name: 'Lund' }]);
  assert.deepEqual(made.rooms, [{ board: 'BB' }]);
});

test('rooms and charges of an event are identified as the map of the list says', () => {
  const map = { rooms: { id: 'unit' }, charges: { id: false } } as const;
  const data = { id: 'R1', ...stay, rooms: [{ unit: 'U1', id: 7, adults: 2 }], charges: [{ id: 1, amount: 5 }] };
  const idsOf = (shaper: Shaper) => shaper.draft(eventOf(shaper, data)).itemIds;
  assert.deepEqual(idsOf(shaperOf({ map }, {})), { rooms: ['U1'], charges: undefined });
  assert.deepEqual(idsOf(shaperOf({ map }, { rooms: { id: 'id' } })), { rooms: ['7'], charges: undefined });
});

test('push.map overrides both, field by field', () => {
  const map = { id: 'ref', total_amount: 'total' };
  const push = { id: 'uid', rooms: { from: 'units', fields: { board: 'meals' } } };
  const shaper = shaperOf({ map }, push);
  const data = {
    uid: 'U1',
    ref: 'no',
    reservation_id: 'no',
    total: 5,
    ...stay,
    units: [{ meals: 'BB', room_type: 'SGL' }],
  };
  const made = reservationOf(shaper, eventOf(shaper, data));
  assert.equal(made.id, 'U1');
  assert.equal(made.total_amount, '5');
  assert.deepEqual(made.rooms, [{ room_type: 'SGL', board: 'BB' }]);
});

test('a connector with flat rows and joined lists still accepts complete events', () => {
  const flat = shaperOf(
    {
      shape: { root_path: 'rows', flat: { key: 'res_no' } },
      map: { id: 'res_no', total_amount: { sum: { from: '$rows', value: 'x' } } },
    },
    {},
  );
  assert.equal(reservationOf(flat, eventOf(flat, described)).id, 'R1');
  const joined = shaperOf(
    { map: { guests: { from: 'ids', join: { in: '$body.people', key: 'id', by: '$item' } } } },
    {},
  );
  assert.deepEqual(reservationOf(joined, eventOf(joined, described)).guests, described.guests);
});

test('a draft distinguishes what was sent, null and empty lists included, from what was not', () => {
  const shaper = shaperOf(
    { map: { currency: { const: 'EUR' }, extra: { note: 'remark', level: 'member.level' } } },
    {},
  );
  const data = { reservation_id: 'R1', status: 'cancelled', channel: null, charges: [], remark: '' };
  const { assumed, record } = shaper.draft(eventOf(shaper, data));
  assert.equal(record.channel, null);
  assert.equal(record.source, undefined);
  assert.deepEqual(record.charges, []);
  assert.equal(record.guests, undefined);
  assert.deepEqual(record.extra, { note: '' });
  assert.equal(record.currency, 'EUR');
  assert.deepEqual([...(assumed ?? [])], ['currency']);
});

const silences: [string, FieldMap, Json, Json | undefined][] = [
  ['a path that is not there', 'a.b', {}, undefined],
  ['a path with null', 'a.b', { a: { b: null } }, null],
  ['a path through a list that is not there', 'a[].b', {}, undefined],
  ['a path through an empty list', 'a[].b', { a: [] }, null],
  ['a modifier on nothing', { path: 'a', empty: ['-'] }, {}, undefined],
  ['a modifier that empties', { path: 'a', empty: ['-'] }, { a: '-' }, null],
  ['alternatives of which none was sent', { first: ['a', 'b'] }, {}, undefined],
  ['alternatives of which one was sent empty', { first: ['a', 'b'] }, { a: '' }, null],
  ['pieces of which none was sent', { join: ['a', 'b'] }, {}, undefined],
  ['pieces of which one was sent empty', { join: ['a', 'b'] }, { b: null }, null],
  ['a pick from a list that is not there', { pick: { from: 'a', value: 'b' } }, {}, undefined],
  ['a pick from an empty list', { pick: { from: 'a', value: 'b' } }, { a: [] }, null],
  ['a condition that does not hold', { path: 'a', when: { b: 1 } }, { a: 'x' }, undefined],
];

for (const [name, channel, data, expected] of silences) {
  test(`${name} reads as ${expected === null ? 'sent empty' : 'not sent'}`, () => {
    const shaper = shaperOf({}, { channel });
    const { record, assumed } = shaper.draft(eventOf(shaper, { id: 'R1', ...(data as object) }));
    assert.equal(record.channel, expected);
    assert.equal(assumed, undefined);
  });
}

for (const channel of [{ path: 'a', default: 'web' }, { first: ['a', { const: 'web' }] }] as FieldMap[]) {
  test(`${JSON.stringify(channel)} is assumed if nothing was sent, and the partner's statement if a key was`, () => {
    const shaper = shaperOf({}, { channel });
    const silent = shaper.draft(eventOf(shaper, { id: 'R1' }));
    assert.deepEqual([silent.record.channel, [...(silent.assumed ?? [])]], ['web', ['channel']]);
    const sent = shaper.draft(eventOf(shaper, { id: 'R1', a: 'desk' }));
    assert.deepEqual([sent.record.channel, sent.assumed], ['desk', undefined]);
  });
}

test('inside the items of a list a key that was sent empty differs from one that was not sent', () => {
  const shaper = shaperOf({}, {});
  const { record } = shaper.draft(eventOf(shaper, { id: 'R1', guests: [{ last_name: 'Reis', phone: null }] }));
  const [guest] = record.guests as { [field: string]: Json | undefined }[];
  assert.equal(guest?.phone, null);
  assert.equal(guest?.email, undefined);
});

test('a list made of the record itself exists if one of its fields does', () => {
  const map = { guests: { from: '$item', fields: { last_name: 'guest_name' } } };
  const shaper = shaperOf({ map: {} }, map);
  assert.deepEqual(shaper.draft(eventOf(shaper, { id: 'R1', guest_name: null })).record.guests, []);
  assert.equal(shaper.draft(eventOf(shaper, { id: 'R1' })).record.guests, undefined);
});

const guestEvents: [string, Json, object, string | undefined, string | undefined, string[]][] = [
  [
    'the fields in data',
    { guest_id: 'g1', email: 'ana@reis.example' },
    { guest_id: 'g1', email: 'ana@reis.example' },
    'g1',
    undefined,
    ['email', 'guest_id'],
  ],
  [
    'the fields in data.guest',
    { guest_id: 9, reservation_id: 'R1', guest: { first_name: 'Ana', phone: null } },
    { guest_id: '9', first_name: 'Ana' },
    '9',
    'R1',
    ['first_name', 'phone'],
  ],
  [
    'the id in the guest',
    { guest: { id: 'g1', last_name: 'Reis' } },
    { guest_id: 'g1', last_name: 'Reis' },
    'g1',
    undefined,
    ['last_name'],
  ],
  [
    'by the map',
    { guest: { contact: { mail: 'ana@reis.example' } } },
    { email: 'ana@reis.example' },
    undefined,
    undefined,
    ['email'],
  ],
];

for (const [name, data, guest, guestId, reservationId, present] of guestEvents) {
  test(`guest.updated: ${name}`, () => {
    const shaper = shaperOf({ map: { guests: { fields: { email: 'contact.mail' } } } }, {});
    const draft = shaper.guestDraft(data);
    const checked = toGuest(draft);
    assert.ok(checked.kind === 'ok');
    assert.deepEqual(checked.guest, guest);
    assert.equal(draft.guestId, guestId);
    assert.equal(draft.reservationId, reservationId);
    assert.deepEqual([...draft.present].sort(), present);
  });
}
