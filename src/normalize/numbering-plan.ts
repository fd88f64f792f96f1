import { type CallingCode, callingCode, homeOf } from './calling-code.ts';

/**
 * Answers for most phone numbers without the library's parser, which compiles its patterns again for each number. Rules and metadata
 * are the library's own; "no" only means that the parser has to decide. Tests compare each "yes" with the parser, for all countries.
 */

/** Whether a text is already a valid E.164 number: 0.4 µs, against 9.7 for the parser (two arm64 cores). */
export function isValidE164(text: string): boolean {
  const code = codeOf(text);
  return code !== undefined && isValidAfter(code, text.slice(1 + code.digits.length));
}

/** Whether numbers of this country can be read at all. */
export function isKnown(country: string): boolean {
  return homeOf(country) !== undefined;
}

/**
 * The E.164 form of digits dialled inside a country; undefined if the parser has to decide. 1 µs, against 22 to 60 for the parser
 * (two arm64 cores).
 */
export function e164AtHome(digits: string, country: string): string | undefined {
  const home = homeOf(country);
  if (home === undefined || digits.startsWith(home.code.digits) || home.abroad.test(digits)) return undefined;
  const national = home.prefix === undefined ? digits : digits.replace(home.prefix, '');
  // Only strip a plain trunk prefix: some countries' patterns also rewrite the number or capture a carrier code.
  if (national.length < digits.length && (home.captures || home.general.test(digits))) return undefined;
  const length = home.code.digits.length + national.length;
  if (length < shortest || length > longest || !isValidAfter(home.code, national)) return undefined;
  return flattened(`+${home.code.digits}${national}`);
}

/**
 * V8 keeps a concatenation as a rope, and one rope in a record puts JSON.stringify on its slow path: 6.2 µs a reservation instead of
 * 3.9 (bench shape, two arm64 cores). toLowerCase flattens the rope for 0.1 µs and leaves digits unchanged.
 */
function flattened(digits: string): string {
  return digits.toLowerCase();
}

/** Whether the parser would reject this E.164 number: not in the plan, and no prefix to strip. */
export function isInvalidE164(text: string): boolean {
  const code = codeOf(text);
  if (code === undefined || code.digits === mexico) return false;
  const national = text.slice(1 + code.digits.length);
  return !code.prefix?.test(national) && !isValidAfter(code, national);
}

/**
 * Whether the parser would reject digits dialled inside a country: neither as they are nor without the trunk prefix, the calling code,
 * or both. False for countries with more complex dialling rules.
 */
export function isInvalidAtHome(digits: string, country: string): boolean {
  const home = homeOf(country);
  if (home === undefined) return true;
  const { code, prefix, abroad } = home;
  if (home.captures || !home.isMain || code.digits === mexico || abroad.test(digits)) return false;
  const readings = [digits];
  if (digits.startsWith(code.digits)) readings.push(digits.slice(code.digits.length));
  if (prefix) readings.push(...readings.map((reading) => reading.replace(prefix, '')));
  return !readings.some((reading) => code.plans.some(({ valid }) => valid.test(reading)));
}

/** Mexican numbers may contain digits that the plan dropped; phone.ts handles them. */
const mexico = '52';

const shortest = 6;
const longest = 15;
export const e164Pattern = /^\+[1-9]\d{5,14}$/;

function codeOf(text: string): CallingCode | undefined {
  if (!text.startsWith('+') || !e164Pattern.test(text)) return undefined;
  let number = 0;
  for (let digits = 1; digits <= 3; digits++) {
    number = number * 10 + text.charCodeAt(digits) - 48;
    const code = callingCode(number);
    if (code !== null) return code;
  }
  return undefined;
}

function isValidAfter({ plans, prefix }: CallingCode, national: string): boolean {
  if (prefix?.test(national)) return false;
  for (const { leading, valid } of plans) {
    if (leading !== undefined && plans.length > 1) {
      if (leading.test(national)) return valid.test(national);
    } else if (valid.test(national)) return true;
  }
  return false;
}
