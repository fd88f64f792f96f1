import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import examples from 'libphonenumber-js/examples.mobile.json';
import {
  type CountryCode,
  getCountries,
  getCountryCallingCode,
  getExampleNumber,
  parsePhoneNumberFromString,
} from 'libphonenumber-js/max';
import { e164AtHome, isInvalidAtHome, isInvalidE164, isValidE164 } from '../../src/normalize/numbering-plan.ts';
import { readPhone } from '../../src/normalize/phone.ts';

const mobiles = getCountries().flatMap((country) => getExampleNumber(country, examples) ?? []);

function parserAgrees(text: string): boolean {
  const number = parsePhoneNumberFromString(text, { extract: false });
  return number?.isValid() === true && number.number === text;
}

test('accepts the mobile number of each country that the parser leaves unchanged, except for Argentina', () => {
  const missed = mobiles.filter(({ number }) => parserAgrees(number) && !isValidE164(number));
  assert.deepEqual(
    missed.map(({ country }) => country),
    ['AR'],
  );
});

test('never accepts what the parser refuses or rewrites', () => {
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

const written = mobiles.flatMap(({ country, nationalNumber, formatNational }, index) => {
  const text = formatNational.call(mobiles[index]).replace(/\D/g, '');
  return country === undefined
    ? []
    : [
        { country, digits: text },
        { country, digits: nationalNumber },
      ];
});

function parsedAtHome(digits: string, country: CountryCode): string | undefined {
  const number = parsePhoneNumberFromString(digits, { defaultCountry: country, extract: false });
  return number?.isValid() === true && number.ext === undefined ? number.number : undefined;
}

test('reads the mobile number of nearly every country in its national format', () => {
  const missed = written.filter(
    ({ country, digits }) =>
      parsedAtHome(digits, country) !== undefined && e164AtHome(digits, country) !== parsedAtHome(digits, country),
  );
  assert.ok(missed.length * 20 < written.length, `${missed.length} of ${written.length} are left to the parser`);
});

test('reads a national number exactly as the parser does', () => {
  let yes = 0;
  const changes = fc.array(fc.tuple(fc.nat(11), fc.nat(9)), { maxLength: 4 });
  const before = fc.constantFrom('', '', '0', '00', '1', '8', '011', '44', '55');
  const after = fc.constantFrom('', '', '0', '7');
  const countries = fc.option(fc.constantFrom(...getCountries()), { freq: 1, nil: undefined });
  fc.assert(
    fc.property(fc.constantFrom(...written), changes, before, after, countries, (one, digits, first, last, other) => {
      const text = [...one.digits];
      for (const [at, digit] of digits) if (at < text.length) text[at] = `${digit}`;
      const number = first + text.join('') + last;
      const country = other ?? one.country;
      const found = e164AtHome(number, country);
      if (found === undefined) return;
      yes += 1;
      assert.equal(found, parsedAtHome(number, country), `${number} in ${country}`);
    }),
    { numRuns: 6_000 },
  );
  assert.ok(yes > 300, `only ${yes} were read`);
});

test('rejects a number only if the parser rejects every spelling', () => {
  const regions = { nationality: undefined, country: undefined };
  let none = 0;
  const digits = fc.array(fc.nat(9), { minLength: 3, maxLength: 13 }).map((list) => list.join(''));
  const changes = fc.array(fc.tuple(fc.nat(11), fc.nat(9)), { maxLength: 3 });
  fc.assert(
    fc.property(fc.constantFrom(...mobiles), changes, digits, fc.boolean(), (example, changed, other, whole) => {
      const text = [...example.nationalNumber];
      for (const [at, digit] of changed) if (at < text.length) text[at] = `${digit}`;
      const number = `+${example.countryCallingCode}${whole ? other : text.join('')}`;
      if (!isInvalidE164(number)) return;
      none += 1;
      // With spaces only the parser can decide.
      const spaced = number.replace(/(..)$/, ' $1');
      assert.equal(readPhone(spaced, regions).kind, 'impossible', number);
    }),
    { numRuns: 6_000 },
  );
  assert.ok(none > 1_000, `only ${none} were invalid`);
});

test('rejects national digits only if the parser does', () => {
  let none = 0;
  const changes = fc.array(fc.tuple(fc.nat(11), fc.nat(9)), { maxLength: 4 });
  const before = fc.constantFrom('', '', '0', '00', '1', '8', '011', '44', '55');
  const cut = fc.nat(3);
  const countries = fc.option(fc.constantFrom(...getCountries()), { freq: 1, nil: undefined });
  fc.assert(
    fc.property(fc.constantFrom(...written), changes, before, cut, countries, (one, digits, first, less, other) => {
      const text = [...one.digits];
      for (const [at, digit] of digits) if (at < text.length) text[at] = `${digit}`;
      const country = other ?? one.country;
      const code = less === 3 ? getCountryCallingCode(country) : '';
      const number = code + first + text.slice(0, text.length - less).join('');
      if (!isInvalidAtHome(number, country)) return;
      none += 1;
      assert.equal(parsedAtHome(number, country), undefined, `${number} in ${country}`);
    }),
    { numRuns: 12_000 },
  );
  assert.ok(none > 3_000, `only ${none} were invalid`);
});

test('rejects anything else', () => {
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
