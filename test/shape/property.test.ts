import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toReservation } from '../../src/core/canonical/check.ts';
import { reservationSchema } from '../../src/core/canonical/schema.ts';
import type { Json } from '../../src/terms.ts';
import { reservationArbitrary } from '../canonical/arbitrary.ts';
import { only, recordsOf, reservationOf, shaperOf } from './support.ts';

/** Every source and modifier at least once. */
const rich = shaperOf({
  unknownStatus: 'other',
  shape: { root_path: 'a[].b' },
  map: {
    id: { first: ['x.y', '$key', '$parent.z'] },
    confirmation_number: { join: ['x', { path: 'y', empty: ['-'] }], with: '/' },
    check_in: { min: 'l[].d' },
    check_out: { max: { from: 'l', value: 'd' }, add_days: 'n' },
    booking_date: { path: 'd', date: ['epoch_s', 'DD/MM/YYYY', 'iso'], if_invalid: 'drop' },
    status: { path: 's', default: 'confirmed' },
    channel: { lookup: { in: '$body.t', key: 'k', by: 'x' } },
    source: { pick: { from: 'l', where: [{ x: 1 }, { y: { exists: true } }], value: 'y' }, values: { q: ['1', 'x'] } },
    total_amount: { sum: { from: 'l', unique: 'x', value: { product: ['x', 'n'] } }, minor_units: 2, negate: true },
    currency: { const: 'EUR' },
    guests: [
      {
        from: ['l', 'x'],
        where: { x: { not: 'z' } },
        fields: {
          last_name: { path: 'x', name: 'last' },
          nationality: { path: 'y', if_invalid: 'drop' },
        },
      },
      { join: { in: '$body.t', key: 'k', by: 'x' }, fields: { first_name: 'y' } },
    ],
    rooms: {
      from: { first: ['l[].l', 'l'] },
      fields: { adults: { count: 'l' }, children: { path: 'n', number: 'comma' } },
    },
    charges: { from: 'l', fields: { amount: { path: 'x', minor_units: 'currency' } } },
    extra: { all: '$item' },
  },
});
const richFlat = shaperOf({
  shape: { flat: { key: ['x', 'y'], guests: { key: 'n' }, charges: { key: 'x' } } },
  map: { rooms: { from: 'l' }, total_amount: { sum: { from: '$rows', value: 'n' } } },
});

const key = fc.constantFrom(
  'a',
  'b',
  'd',
  'k',
  'l',
  'n',
  's',
  't',
  'x',
  'y',
  'z',
  '__proto__',
  'constructor',
  'length',
);
const leaf = fc.oneof(
  fc.constantFrom(
    '2026-05-01',
    '2026-05-01T10:00:00Z',
    '01/05/2026',
    '1,5',
    '',
    'x',
    'Berg, Anna',
    '\u0000',
    '\ud800',
    'checked-in',
  ),
  fc.string(),
  fc.integer(),
  fc.double(),
  fc.boolean(),
  fc.constant(null),
);
const { tree } = fc.letrec<{ tree: Json }>((tie) => ({
  tree: fc.oneof(
    { depthSize: 'medium', withCrossShrink: true },
    leaf as fc.Arbitrary<Json>,
    fc.array(tie('tree'), { maxLength: 4 }),
    // As JSON.parse does it: __proto__ is an ordinary key.
    fc
      .array(fc.tuple(key, tie('tree')), { maxLength: 6 })
      .map((entries): Json => JSON.parse(JSON.stringify(Object.fromEntries(entries)))),
  ),
}));

test('no response makes the shape throw; a record that passes the check matches the schema', () => {
  const body = fc.record({ a: fc.array(fc.record({ b: tree, z: leaf })), t: tree }) as fc.Arbitrary<Json>;
  fc.assert(
    fc.property(body, (response) => {
      const found = rich.records(response);
      if (found.kind === 'invalid') return;
      for (const raw of found.records) {
        const draft = rich.draft(raw);
        const checked = toReservation(draft);
        if (checked.kind === 'ok') reservationSchema.parse(checked.reservation);
        rich.origins(raw);
        rich.unmapped(raw);
        const kept = rich.selfContained(raw);
        assert.deepEqual(rich.draft(kept).record, draft.record);
      }
    }),
    { numRuns: 150 },
  );
});

test('no rows make the flat shape throw', () => {
  fc.assert(
    fc.property(fc.array(tree), (rows) => {
      const records = recordsOf(richFlat, rows);
      for (const raw of records) {
        toReservation(richFlat.draft(raw));
        richFlat.origins(raw);
      }
      assert.equal(records.flatMap(({ value }) => value).length, rows.length);
    }),
    { numRuns: 150 },
  );
});

test('a canonical record maps to itself', () => {
  const map = {
    extra: { some: 'extra.some' },
    guests: { extra: { tier: 'extra.tier', since: 'extra.since' } },
  };
  const shaper = shaperOf({ unknownStatus: 'other', map });
  fc.assert(
    fc.property(reservationArbitrary, (reservation) => {
      const raw = only(recordsOf(shaper, [reservation as unknown as Json]));
      assert.deepEqual(reservationOf(shaper, raw), reservation);
    }),
    { numRuns: 100 },
  );
});
