import { type CountryCode, isSupportedCountry, parsePhoneNumberFromString } from 'libphonenumber-js/max';
import { dialled } from './dialled.ts';
import type { NameRegions } from './name-rules.ts';
import { saysNothing, visible } from './text.ts';

/**
 * The result of reading a partner's phone text. A number is accepted only if the numbering plan of its country contains it (the `max`
 * metadata): a wrong number that is accepted would reach a stranger; a right number that is kept as raw can still be corrected.
 */
type PhoneReading =
  | (ReadNumber & { readonly several: boolean })
  | { readonly kind: 'impossible' }
  | { readonly kind: 'nothing' };

/** How the country of the number was determined. */
export type PhoneBasis = 'international' | 'nationality' | 'country' | 'code';

/** Longer texts are not phone numbers; the limit bounds the cost. */
const longestText = 120;

export function readPhone(raw: string, regions: NameRegions): PhoneReading {
  if (raw.length > longestText) return { kind: 'impossible' };
  const reading = read(raw, regions);
  return reading.kind === 'impossible' ? (readCode(raw, regions) ?? reading) : reading;
}

/** Countries in which a mobile number, as people dial it at home, has eleven digits without a zero before them. */
const longNumbers = ['BR', 'CN', 'ID'] as const;
const codeAndNumber = /^[02-9]\d{10,}$/;

/**
 * A country code without its plus: 31612345678. Only if nothing contradicts: no other nationality is stated, and the digits are not a number
 * of a country with long numbers. Shorter numbers, and those after a 1, may as well be local ones of North America or China.
 */
function readCode(raw: string, { nationality }: NameRegions): PhoneReading | undefined {
  const digits = raw.replace(/[ ()/.-]/g, '');
  if (nationality !== undefined || !codeAndNumber.test(digits) || raw.endsWith('.0')) return undefined;
  const phone = parse(`+${digits}`, undefined);
  if (phone?.e164 !== `+${digits}` || longNumbers.some((country) => parse(digits, country))) return undefined;
  return { ...phone, by: 'code', several: false };
}

/** In order of precedence. */
const homes = ['nationality', 'country'] as const;

function read(raw: string, regions: NameRegions): PhoneReading {
  const text = bare.test(raw) ? raw : withoutLabels(visible(raw));
  if (saysNothing(text)) return { kind: 'nothing' };
  const whole = readOne(text, regions);
  if (whole) return { ...whole, several: false };
  const parts = text.split(betweenNumbers).filter((part) => part !== '');
  if (parts.length > 1) {
    for (const part of parts) {
      const phone = readOne(withoutLabels(part), regions);
      if (phone) return { ...phone, several: true };
    }
  }
  return { kind: 'impossible' };
}

/** A slash is part of many German and Austrian numbers (030/1234567): it separates only before an international number. */
const betweenNumbers = /\s*[;,|]\s*|\s+(?:\/|-|or|oder|ou|and|und|et|y|e)\s+|\s*\/\s*(?=\+|00)|\s+(?=\+\d)/i;
const label =
  /^(?:(?:tel(?:ephone|efon|efone|éfono)?|phone|ph|mob(?:ile|il)?|cell?|handy|fon|t|m|p)\s*[.:]*\s*(?=[+\d(]))+/i;
const remark = /\s*(?:\((?!\d)[^()+\d]*\)|\s(?:mobile?|home|work|office|cell|handy|private?))\s*$/i;
/** Without a label, a remark or a second number. */
const bare = /^\+?\(?\d[\d().-]*(?: [\d().-]+)*(?<=\d)(?<!\.0)$/;
/** A number that a spreadsheet turned into a float. */
const floated = /^(\+?\d{7,15})\.0$/;

function withoutLabels(text: string): string {
  return text
    .replace(/\s+/g, ' ')
    .trim()
    .replace(label, '')
    .replace(remark, '')
    .replace(/;ext=/i, ' ext. ')
    .replace(floated, '$1')
    .trim();
}

const e164Pattern = /^\+[1-9]\d{5,14}$/;
type ReadNumber = {
  readonly kind: 'number';
  readonly e164: string;
  readonly by: PhoneBasis;
  readonly extension: boolean;
};

function readOne(text: string, regions: NameRegions): ReadNumber | undefined {
  const start = /^[^\d+＋]*([+＋]?)[^\d]*/.exec(text);
  const digitsFrom = start?.[0].length ?? 0;
  const rest = text.slice(digitsFrom);
  if (start?.[1]) {
    const international = readInternational(rest.replace(/^0{2,}(?=[1-9])/, ''));
    // A plus before a trunk zero: a national number to which a form added a plus.
    return international ?? (rest.startsWith('0') ? readNational(rest, regions) : undefined);
  }
  const afterDoubleZero = /^0\D{0,2}0\D*(?=[1-9])/.exec(rest);
  if (afterDoubleZero) {
    // Try this before the region: in Brazil 00 55 is also a carrier code, and the rest would parse as an American number.
    const international = readInternational(rest.slice(afterDoubleZero[0].length));
    if (international) return international;
  }
  const national = readNational(text, regions);
  if (national) return national;
  // 011 is the international prefix of North America and the area code of Turin, Delhi and Sapporo: try the region first.
  const after011 = /^011\D*(?=[1-9])/.exec(rest);
  return after011 ? readInternational(rest.slice(after011[0].length)) : undefined;
}

function readInternational(afterPlus: string): ReadNumber | undefined {
  for (const spelling of internationalSpellings(afterPlus)) {
    const phone = parse(`+${spelling}`, undefined);
    if (phone) return { ...phone, by: 'international' };
  }
  return undefined;
}

/** As written, then without a trunk zero, in brackets or bare. */
function* internationalSpellings(afterPlus: string): Generator<string> {
  yield afterPlus;
  if (/\(\s*0\s*\)/.test(afterPlus)) yield afterPlus.replace(/\(\s*0\s*\)/, ' ');
  if (/^\d{1,3} 0\d/.test(afterPlus)) yield afterPlus.replace(/^(\d{1,3}) 0/, '$1 ');
  // Until 2019 Mexican mobiles had a 1 after the country code.
  const mexican = /^52\D*1(\D*(?:\d\D*){10})$/.exec(afterPlus);
  if (mexican) yield `52 ${mexican[1]}`;
}

const mexicanPrefix = /^\D*(?:04[45]|01|(?:52\D*)?1)\D*(?=(?:\d\D*){10}$)/;

function readNational(text: string, regions: NameRegions): ReadNumber | undefined {
  for (const by of homes) {
    const region = regions[by];
    if (region === undefined || !isSupportedCountry(region)) continue;
    const phone = parse(text, region) ?? (region === 'MX' ? parse(text.replace(mexicanPrefix, ''), region) : undefined);
    if (phone) return { ...phone, by };
  }
  return undefined;
}

/** The library reads a second number after a semicolon as an extension: refuse long ones. */
const longestExtension = 6;

function parse(text: string, region: CountryCode | undefined): Omit<ReadNumber, 'by'> | undefined {
  const usual = dialled(text, region);
  const number = usual === undefined ? byLibrary(text, region) : { e164: usual, extension: false };
  return number && e164Pattern.test(number.e164) ? { kind: 'number', ...number } : undefined;
}

function byLibrary(text: string, region: CountryCode | undefined): Pick<ReadNumber, 'e164' | 'extension'> | undefined {
  const number = parsePhoneNumberFromString(text, { ...(region && { defaultCountry: region }), extract: false });
  if (!number?.isValid() || (number.ext?.length ?? 0) > longestExtension) return undefined;
  return { e164: number.number, extension: number.ext !== undefined };
}
