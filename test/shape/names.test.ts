import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namePart } from '../../src/core/shape/values.ts';

const cases: [full: string, first: string | undefined, last: string | undefined][] = [
  ['Ana Reis', 'Ana', 'Reis'],
  ['  Ana   Reis ', 'Ana', 'Reis'],
  ['Mary Ann Smith', 'Mary Ann', 'Smith'],
  ['Anna van der Berg', 'Anna', 'van der Berg'],
  ['Ludwig VON Beethoven', 'Ludwig', 'VON Beethoven'],
  ['Maria da Silva', 'Maria', 'da Silva'],
  ['Reis, Ana', 'Ana', 'Reis'],
  ['van der Berg, Anna', 'Anna', 'van der Berg'],
  ['REIS/ANA MRS', 'ANA MRS', 'REIS'],
  ['Reis,', undefined, 'Reis'],
  ['Cher', undefined, 'Cher'],
  ['van Gogh', 'van', 'Gogh'],
  ['山田 太郎', '太郎', '山田'],
  ['山田太郎', undefined, '山田太郎'],
  ['김 민준', '민준', '김'],
  ['', undefined, undefined],
];

for (const [full, first, last] of cases) {
  test(`name ${JSON.stringify(full)}`, () => {
    assert.equal(namePart(full, 'first'), first);
    assert.equal(namePart(full, 'last'), last);
  });
}
