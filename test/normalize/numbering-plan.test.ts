import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import { getCountries, getExampleNumber, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { isValidE164 } from '../../src/normalize/numbering-plan.ts';

const mobiles = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? []);

function parserAgrees(text: string): boolean {
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isValid() === true && number.number === text;
}

test('says yes to the mobile number of each country that the parser leaves as it is, but for Argentina', () => {
  const missed = mobiles.filter(({ number }) => parserAgrees(number) && !isValidE164(number));
  assert.deepEqual(
    missed.map(({ country }) => country),
    ['AR'],
  );
});

test('never says yes to what the parser refuses or rewrites', () => {
  let yes = 0;
  const changes = fc.array(fc.tuple(fc.nat(11), fc.nat(9)), { maxLength: 4 });
  fc.assert(
    fc.property(fc.constantFrom(...mobiles), changes, fc.constantFrom('', '0', '7'), (example, digits, more) => {
      const text = [...example.nationalNumber];
      for (const [at, digit] of digits) if (at < text.length) text[at] = `${digit}`;
      const number = `+${example.countryCallingCode}${text.join('')}${more}`;
      if (!isValidE164(number)) return;
      yes += 1;
      assert.ok(parserAgrees(number));
    }),
    { numRuns: 3_000 },
  );
  assert.ok(yes > 300, `only ${yes} were valid`);
});

test('says no to anything else', () => {
  for (const text of [
    '',
    '+',
    '912345678',
    '+351 912 345 678',
    '+999123456789',
    '+5215512345678',
    '+351112345678',
    '+80012345678',
    '+440207946001',
  ]) {
    assert.equal(isValidE164(text), false, text);
  }
});
