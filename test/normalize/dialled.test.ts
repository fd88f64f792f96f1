import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type CountryCode, getCountries, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import examples from 'libphonenumber-js/mobile/examples';
import { dialled } from '../../src/core/normalize/dialled.ts';

const byLibrary = (text: string, region: CountryCode | undefined): string | undefined => {
  const number = parsePhoneNumberFromString(text, { ...(region && { defaultCountry: region }), extract: false });
  return number?.isValid() && number.ext === undefined ? number.number : undefined;
};

/** Near real numbers of a country: its example with some digits changed, a prefix, separators. */
const near = (region: CountryCode) =>
  fc
    .record({
      changed: fc.array(fc.tuple(fc.nat(14), fc.integer({ min: 0, max: 9 })), { maxLength: 7 }),
      prefix: fc.constantFrom(
        '',
        '',
        '',
        '0',
        '1',
        '8',
        '00',
        '+',
        '+0',
        '011',
        '06',
        'code',
        '+code',
        '+code',
        '+code0',
        '00code',
      ),
      cut: fc.integer({ min: -2, max: 2 }),
      separator: fc.constantFrom('', ' ', '-', '.'),
      brackets: fc.constantFrom(0, 0, 0, 1, 2, 3),
      every: fc.integer({ min: 1, max: 4 }),
    })
    .map(({ changed, prefix, cut, separator, brackets, every }) => {
      const example = getExampleNumber(region, examples);
      const digits = [...(example?.nationalNumber ?? '123456789')];
      for (const [place, digit] of changed) if (place < digits.length) digits[place] = String(digit);
      const sized = cut < 0 ? digits.slice(0, cut) : [...digits, ...'73'.slice(0, cut)];
      const spaced = sized.map((digit, n) => (n > 0 && n % every === 0 ? separator + digit : digit)).join('');
      const bracketed = brackets === 0 ? spaced : spaced.replace(new RegExp(`^\\d{${brackets}}`), '($&)');
      return prefix.replace('code', example?.countryCallingCode ?? '1') + bracketed;
    });

test('a number that is read without the library is what the library reads', () => {
  const story = fc
    .constantFrom(...getCountries())
    .chain((region) =>
      fc.record({ text: near(region), home: fc.constantFrom(region, region, region, 'PT', 'US', 'IT', undefined) }),
    );
  let read = 0;
  fc.assert(
    fc.property(story, ({ text, home }) => {
      const number = dialled(text, home as CountryCode | undefined);
      if (number === undefined) return;
      read++;
      assert.equal(number, byLibrary(text, home as CountryCode | undefined), `${text} ${home}`);
    }),
    { numRuns: Number(process.env.INNBOUND_TEST_RUNS ?? 3_000) },
  );
  assert.ok(read > 100, `${read} numbers were read`);
});

test('numbers as guests write them need no library', () => {
  const cases = [
    ['910 820 590', 'PT', '+351910820590'],
    ['030 1234567', 'DE', '+49301234567'],
    ['06 12 34 56 78', 'FR', '+33612345678'],
    ['+351 939 918 590', undefined, '+351939918590'],
    ['06 1234 5678', 'IT', '+390612345678'],
    ['212-555-0123', 'US', '+12125550123'],
    ['(212) 555-0123', 'US', '+12125550123'],
    ['+1 242 322 1234', undefined, '+12423221234'],
    ['07400 123456', 'GB', '+447400123456'],
    ['+44 7400 123456', undefined, '+447400123456'],
  ] as const;
  for (const [text, region, number] of cases) assert.equal(dialled(text, region), number, text);
});
