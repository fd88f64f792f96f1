import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { missingColumns } from '../../scripts/warehouse-migration.ts';
import { isCurrency, isLocalDate, minorDigits, readStatus, toCountry } from '../../src/core/canonical/values.ts';

test('the warehouse follows the table of fields', () => assert.equal(missingColumns(), '', 'run npm run generate'));

const statuses: [string, string | undefined][] = [
  ['confirmed', 'confirmed'],
  ['CONFIRMED', 'confirmed'],
  ['checked-in', 'checked_in'],
  ['checked_in', 'checked_in'],
  ['CheckedIn', 'checked_in'],
  ['Checked In', 'checked_in'],
  ['CHECKED_OUT', 'checked_out'],
  ['canceled', 'cancelled'],
  ['Cancelled', 'cancelled'],
  ['no-show', 'no_show'],
  ['NoShow', 'no_show'],
  ['NO SHOW', 'no_show'],
  ['other', undefined],
  ['INHOUSE', undefined],
  ['', undefined],
];
for (const [spelling, status] of statuses) {
  test(`status ${JSON.stringify(spelling)}`, () => assert.equal(readStatus(spelling), status));
}

test('countries by code and by name', () => {
  assert.equal(toCountry('gb'), 'GB');
  assert.equal(toCountry('DEU'), 'DE');
  assert.equal(toCountry('Türkiye'), 'TR');
  assert.equal(toCountry('South Korea'), 'KR');
  assert.equal(toCountry('Deutschland'), undefined);
  assert.equal(toCountry('toString'), undefined);
  assert.equal(toCountry(''), undefined);
  fc.assert(
    fc.property(fc.string(), (text) => {
      const code = toCountry(text);
      assert.ok(code === undefined || toCountry(code) === code);
    }),
  );
});

test('currencies and the digits of their minor unit', () => {
  assert.deepEqual(['EUR', 'JPY', 'KWD', 'HUF', 'CLF', 'HRK', 'eur', 'XXQ'].map(minorDigits), [
    2,
    0,
    3,
    2,
    4,
    2,
    undefined,
    undefined,
  ]);
  assert.ok(isCurrency('BGN') && !isCurrency('toString'));
});

test('a local date is real if Temporal accepts it', () => {
  const text = fc
    .tuple(fc.integer({ min: 0, max: 9999 }), fc.integer({ min: 0, max: 14 }), fc.integer({ min: 0, max: 33 }))
    .map(
      ([year, month, day]) =>
        `${String(year).padStart(4, '0')}-${String(month).padStart(2, '0')}-${String(day).padStart(2, '0')}`,
    );
  const takes = (date: string): boolean => {
    try {
      return Temporal.PlainDate.from(date).toString() === date;
    } catch {
      return false;
    }
  };
  fc.assert(
    fc.property(fc.oneof(text, fc.string({ minLength: 10, maxLength: 10 })), (date) =>
      assert.equal(isLocalDate(date), takes(date)),
    ),
    { numRuns: 500 },
  );
});
