import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Json, JsonObject } from '../../src/terms.ts';
import { type Mapping, only, recordsOf, reservationOf, shaperOf, stay } from './support.ts';

const mapping = {
  shape: {
    root_path: 'rows',
    flat: {
      key: ['hotel', 'res_no'],
      guests: { key: 'guest_id' },
      rooms: { key: ['room_no', 'start_date'] },
      charges: { key: 'line_no' },
    },
  },
  map: { id: { join: ['hotel', 'res_no'], with: '-' }, guests: { fields: { last_name: 'guest_name' } } },
} satisfies Mapping;

/** The rows of a reservation: one for every guest and charge. */
function rowsOf(number: number, guests: readonly string[], lines: readonly number[]): JsonObject[] {
  return guests.flatMap((guest, index) =>
    (lines.length === 0 ? [null] : lines).map(
      (amount, line): JsonObject => ({
        ...stay,
        hotel: 'LIS',
        res_no: number,
        guest_id: `${number}-${index}`,
        guest_name: guest,
        room_no: 12,
        start_date: '2026-05-01',
        room_type: 'DBL',
        line_no: amount === null ? null : line,
        amount,
      }),
    ),
  );
}

test('rows spread over pages become the same reservation as on one page', () => {
  const shaper = shaperOf(mapping);
  const rows = [...rowsOf(7, ['Lund', 'Reis'], [80, 2]), ...rowsOf(8, ['Okafor'], [])];
  const whole = recordsOf(shaper, { rows }).map((raw) => reservationOf(shaper, raw));
  const pages = [rows.slice(0, 2), rows.slice(2, 3), rows.slice(3)].map((part): Json => ({ rows: part }));
  const gathered = shaper.group(pages.flatMap((page) => shaper.rows(page))).map((raw) => reservationOf(shaper, raw));
  assert.deepEqual(gathered, whole);
  assert.deepEqual(
    whole.map(({ id, guests, rooms, charges }) => [id, guests.length, rooms.length, charges.length]),
    [
      ['LIS-7', 2, 1, 2],
      ['LIS-8', 1, 1, 0],
    ],
  );
});

test('a row without a key is a separate record', () => {
  const shaper = shaperOf(mapping);
  const [row] = rowsOf(7, ['Lund'], []);
  assert.ok(row !== undefined);
  const nameless = { ...row, res_no: null };
  const records = recordsOf(shaper, { rows: [row, nameless, nameless] });
  assert.deepEqual(
    records.map(({ key }) => key),
    ['["LIS","7"]', '', ''],
  );
  assert.equal(shaper.rowKey(row), '["LIS","7"]');
  assert.equal(shaper.rowKey(nameless), '');
});

test('shuffled and duplicated rows make the same reservations', () => {
  const shaper = shaperOf(mapping);
  const reservation = fc.record({
    number: fc.integer({ min: 1, max: 4 }),
    guests: fc.uniqueArray(fc.constantFrom('Lund', 'Reis', 'Okafor', 'Moreau'), { minLength: 1, maxLength: 3 }),
    lines: fc.array(fc.integer({ min: 1, max: 500 }), { maxLength: 3 }),
  });
  const input = fc.uniqueArray(reservation, { selector: ({ number }) => number, minLength: 1 }).chain((all) => {
    const rows = all.flatMap(({ number, guests, lines }) => rowsOf(number, guests, lines));
    const twice = fc.subarray(rows);
    return fc.record({ rows: fc.constant(rows), shuffled: twice.chain((more) => shuffle([...rows, ...more])) });
  });
  fc.assert(
    fc.property(input, ({ rows, shuffled }) => {
      assert.deepEqual(inOrder(shaper, shuffled), inOrder(shaper, rows));
    }),
    { numRuns: 60 },
  );
});

function shuffle(rows: JsonObject[]): fc.Arbitrary<JsonObject[]> {
  return fc.shuffledSubarray(rows, { minLength: rows.length, maxLength: rows.length });
}

function inOrder(shaper: ReturnType<typeof shaperOf>, rows: JsonObject[]): unknown {
  const byText = (one: unknown, other: unknown): number => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1);
  return recordsOf(shaper, { rows })
    .map((raw) => reservationOf(shaper, raw))
    .map((made) => ({ ...made, guests: made.guests.toSorted(byText), charges: made.charges.toSorted(byText) }))
    .sort(byText);
}

const conflicting: Json = [
  { ...stay, id: 'R1', channel: 'BDC', seen: 3, guests: [] },
  { ...stay, id: 'R1', channel: 'EXP', seen: 10 },
  { ...stay, id: 'R1', channel: null, seen: 9 },
];
const rules: [unknown, string, string][] = [
  [undefined, 'EXP', 'the last row'],
  ['last', 'EXP', 'the last row'],
  ['first', 'BDC', 'the first row'],
];
for (const [conflict, channel, winner] of rules) {
  test(`rows that disagree: ${JSON.stringify(conflict ?? 'default')}`, () => {
    const shaper = shaperOf({ shape: { flat: { key: 'id', conflict: conflict as 'first' } } });
    const draft = shaper.draft(only(recordsOf(shaper, conflicting)));
    assert.equal(draft.record.channel, channel);
    const note = only(draft.notes);
    assert.equal(note.code, 'flat_conflict');
    assert.equal(note.field, 'channel');
    assert.ok(note.reason.includes(winner), note.reason);
    assert.deepEqual([note.before, note.after].sort(), ['BDC', 'EXP']);
  });
}

test('items with one key that disagree leave a note on the item', () => {
  const shaper = shaperOf({ shape: { flat: { key: 'id', guests: { key: 'guest_id' } } } });
  const rows: Json = [
    { ...stay, id: 'R1', guest_id: 'g0', last_name: 'Lund' },
    { ...stay, id: 'R1', guest_id: 'g1', last_name: 'Reis', email: '' },
    { ...stay, id: 'R1', guest_id: 'g1', last_name: 'Reís', email: 'ana@reis.example' },
  ];
  const draft = shaper.draft(only(recordsOf(shaper, rows)));
  assert.equal(draft.record.guests?.length, 2);
  assert.deepEqual(
    draft.notes.map(({ field, before, after }) => [field, before, after]),
    [['guests[1].last_name', 'Reis', 'Reís']],
  );
});

test('lists without a key in flat rows are deduplicated by content, and only if mapped', () => {
  const rows: Json = [
    { ...stay, id: 'R1', last_name: 'Lund', room_type: 'DBL', lines: [{ code: 'ROOM', amount: 80 }] },
    {
      ...stay,
      id: 'R1',
      last_name: 'Lund',
      room_type: 'DBL',
      lines: [
        { code: 'ROOM', amount: 80 },
        { code: 'TAX', amount: 2 },
      ],
    },
  ];
  const shaper = shaperOf({ shape: { flat: { key: 'id' } }, map: { guests: {}, charges: { from: 'lines' } } });
  const made = reservationOf(shaper, only(recordsOf(shaper, rows)));
  assert.deepEqual(made.guests, [{ last_name: 'Lund' }]);
  assert.deepEqual(made.rooms, []);
  assert.deepEqual(
    made.charges.map(({ code }) => code),
    ['ROOM', 'TAX'],
  );
});

test('a single reservation of flat rows, as a list and as one row', () => {
  const shaper = shaperOf(mapping);
  const rows = rowsOf(7, ['Lund', 'Reis'], [80]);
  const [row] = rows;
  const listed = shaper.single({ rows });
  assert.ok(listed.kind === 'ok' && listed.record.key === '["LIS","7"]');
  assert.equal(reservationOf(shaper, listed.record).guests.length, 2);
  const alone = shaper.single(row ?? null);
  assert.ok(alone.kind === 'ok');
  assert.equal(reservationOf(shaper, alone.record).guests.length, 1);
});
