import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namePart } from '../../src/core/shape/values.ts';

const cases: [
  full: string,
  first: string | undefined,
  last: string | undefined,
  order?: 'first_last' | 'last_first',
][] = [
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
  ['Reis Ana', 'Ana', 'Reis', 'last_first'],
  ['van der Berg Anna', 'Anna', 'van der Berg', 'last_first'],
  ['山田 太郎', '山田', '太郎', 'first_last'],
  ['', undefined, undefined],
];

for (const [full, first, last, order] of cases) {
  test(`name ${JSON.stringify(full)}${order === undefined ? '' : ` ${order}`}`, () => {
    assert.equal(namePart(full, 'first', order), first);
    assert.equal(namePart(full, 'last', order), last);
  });
}
