import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { Reservation } from '../../src/core/canonical/reservation.ts';
import { mapSchema, pushMapSchema, shapeSchema, valuesSchema } from '../../src/core/documents/connector-mapping.ts';
import type { Json, JsonObject } from '../../src/terms.ts';
import { only, recordsOf, reservationOf, shaperOf } from './support.ts';

/** One reservation in the reference partner's four formats: envelope, bare list, flat rows, event. */

const map = `
id: id
confirmation_number: confirmation_number
total_amount: totals.gross
guests: { from: guests, fields: { first_name: given, last_name: family, email: contact.mail } }
rooms: { from: rooms, fields: { room_type: type, board: meal_plan } }
charges: { from: charges }
`;
const flatMap = `
id: res_no
total_amount: gross
guests: { fields: { first_name: given, last_name: family, email: mail } }
rooms: { fields: { room_type: type, board: meal_plan, start_date: from, end_date: to } }
charges: { fields: { code: charge } }
`;
const flat = '{ key: res_no, guests: { key: guest_id }, rooms: { key: [room_no, from] }, charges: { key: line_no } }';
const pushMap = '{ id: reservation_id, rooms: { from: stays, fields: { board: board_type } } }';
const values = valuesSchema.parse(
  parse(
    '{ status: { confirmed: [CONF, confirmed], checked_in: [checked-in, checked_in, INHOUSE], no_show: [NS] }, board: { half_board: HB } }',
  ),
);

const stay = {
  check_in: '2026-05-01',
  check_out: '2026-05-04',
  booking_date: '2026-01-15',
  currency: 'EUR',
  channel: 'web',
};
const expected: Reservation = {
  id: 'R1',
  confirmation_number: 'C1',
  check_in: '2026-05-01',
  check_out: '2026-05-04',
  booking_date: '2026-01-15',
  status: 'checked_in',
  channel: 'web',
  total_amount: '120.5',
  currency: 'EUR',
  guests: [
    { guest_id: 'g1', first_name: 'Ana', last_name: 'Reis', email: 'ana@reis.example' },
    { guest_id: 'g2', first_name: 'Erik', last_name: 'Lund' },
  ],
  rooms: [
    { room_type: 'DBL', board: 'half_board', start_date: '2026-05-01', end_date: '2026-05-04', adults: 2, children: 0 },
  ],
  charges: [
    { code: 'ROOM', amount: '118.5', quantity: 1 },
    { code: 'TAX', amount: '2', quantity: 1 },
  ],
};

const charges = [
  { code: 'ROOM', amount: 118.5, quantity: 1 },
  { code: 'TAX', amount: '2.00', quantity: 1 },
];
const nested: JsonObject = {
  id: 'R1',
  confirmation_number: 'C1',
  ...stay,
  status: 'INHOUSE',
  totals: { gross: 120.5 },
  guests: [
    { guest_id: 'g1', given: 'Ana', family: 'Reis', contact: { mail: 'ana@reis.example' } },
    { guest_id: 'g2', given: 'Erik', family: 'Lund' },
  ],
  rooms: [{ type: 'DBL', meal_plan: 'HB', start_date: '2026-05-01', end_date: '2026-05-04', adults: 2, children: 0 }],
  charges,
};

test('in an envelope', () => {
  const shaper = shaperOf({
    shape: shapeSchema.parse({ root_path: 'reservations' }),
    map: mapSchema.parse(parse(map)),
    values,
  });
  const body: Json = { reservations: [nested], total: 1, page: 1, page_size: 200 };
  const raw = only(recordsOf(shaper, body));
  assert.deepEqual(reservationOf(shaper, raw), expected);
  assert.equal(raw.key, 'R1');
  assert.deepEqual(shaper.unmapped(raw), []);
});

test('as a bare list', () => {
  const shaper = shaperOf({ map: mapSchema.parse(parse(map)), values });
  assert.deepEqual(reservationOf(shaper, only(recordsOf(shaper, [nested]))), expected);
});

test('as flat rows', () => {
  const shape = shapeSchema.parse({ root_path: 'rows', flat: parse(flat) });
  const shaper = shaperOf({ shape, map: mapSchema.parse(parse(flatMap)), values });
  const common = { res_no: 'R1', confirmation_number: 'C1', ...stay, status: 'checked-in', gross: '120.50' };
  const room = {
    room_no: 12,
    from: '2026-05-01',
    to: '2026-05-04',
    type: 'DBL',
    meal_plan: 'HB',
    adults: 2,
    children: 0,
  };
  const guests = [
    { guest_id: 'g1', given: 'Ana', family: 'Reis', mail: 'ana@reis.example' },
    { guest_id: 'g2', given: 'Erik', family: 'Lund', mail: null },
  ];
  const rows = guests.flatMap((guest) =>
    charges.map(({ code, ...charge }, line) => ({
      ...common,
      ...room,
      ...guest,
      line_no: line,
      charge: code,
      ...charge,
    })),
  );
  assert.deepEqual(reservationOf(shaper, only(recordsOf(shaper, { rows }))), expected);
});

test('as an event', () => {
  const shaper = shaperOf({ map: mapSchema.parse(parse(map)), values }, pushMapSchema.parse(parse(pushMap)));
  const { id, rooms, ...rest } = nested;
  const data: Json = {
    ...rest,
    reservation_id: id ?? null,
    stays: (rooms as JsonObject[]).map(({ type, meal_plan, ...room }) => ({
      ...room,
      type: type ?? null,
      board_type: meal_plan ?? null,
    })),
  };
  const found = shaper.single(data);
  assert.ok(found.kind === 'ok');
  assert.deepEqual(reservationOf(shaper, found.record), expected);
});
