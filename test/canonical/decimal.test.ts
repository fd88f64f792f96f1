import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import {
  add,
  compare,
  decimal,
  decimalSchema,
  multiply,
  negate,
  shiftPoint,
} from '../../src/core/canonical/reservation.ts';
import { decimalArbitrary } from './arbitrary.ts';

const forms: [string, string | undefined][] = [
  ['0', '0'],
  ['-0', '0'],
  ['007', '7'],
  ['1.50', '1.5'],
  ['.5', '0.5'],
  ['5.', '5'],
  ['+3', '3'],
  ['1e3', '1000'],
  ['12.5E-2', '0.125'],
  [' 7 ', '7'],
  ['10', '10'],
  ['10.05', '10.05'],
  ['0.10', '0.1'],
  ['1.10', '1.1'],
  ['', undefined],
  ['.', undefined],
  ['1,5', undefined],
  ['1.2.3', undefined],
  ['0x10', undefined],
  ['Infinity', undefined],
];
for (const [text, plain] of forms) {
  test(`decimal ${JSON.stringify(text)}`, () => assert.equal(decimal(text), plain));
}

test('the plain form matches the schema, is idempotent and keeps the value', () => {
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e60, max: 1e60 }), (number) => {
      const plain = decimal(String(number));
      assert.ok(plain !== undefined);
      decimalSchema.parse(plain);
      assert.equal(decimal(plain), plain);
      assert.ok(Number(plain) === number);
    }),
  );
});

/** The same arithmetic in integers of millionths. */
const millionths = (value: string): bigint => {
  const [whole = '', fraction = ''] = value.replace('-', '').split('.');
  return BigInt(whole + fraction.padEnd(6, '0')) * (value.startsWith('-') ? -1n : 1n);
};

test('sums, products and order are exact', () => {
  fc.assert(
    fc.property(decimalArbitrary, decimalArbitrary, (one, other) => {
      assert.equal(millionths(add([one, other])), millionths(one) + millionths(other));
      assert.equal(decimal(`${millionths(one) * millionths(other)}e-12`), multiply([one, other]));
      assert.equal(
        Math.sign(compare(one, other)),
        millionths(one) < millionths(other) ? -1 : millionths(one) > millionths(other) ? 1 : 0,
      );
      assert.equal(add([one, negate(one)]), '0');
      assert.equal(shiftPoint(one, 3), decimal(`${one}e-3`));
    }),
  );
});

test('0.1 and 0.2 are 0.3', () => {
  assert.equal(add(['0.1', '0.2']), '0.3');
  assert.equal(multiply(['0.1', '3']), '0.3');
  assert.equal(add([]), '0');
});
