/**
 * Keeps card data out of the store. Payloads of hotel systems carry card numbers in fields and in remarks; they are replaced before
 * the first write by `[card 1111]`, with the last four digits, and security codes by `[cvv]`.
 *
 * A number counts as a card number if it passes the Luhn check, has the prefix and the length of a card scheme, and, if it is
 * grouped, the groups of a card. A field that is named as an id, a reference or a phone number keeps its value: one in ten
 * 16-digit ids passes the Luhn check too.
 *
 * Works on bytes, before parsing. Only every 13th byte is read: a run of 13 digits cannot lie between two of them.
 */
export function withoutCards(bytes: Buffer): { readonly bytes: Buffer; readonly cards: number } {
  const found = [...cardNumbers(bytes), ...securityCodes(bytes)].sort((a, b) => a.start - b.start);
  if (found.length === 0) return { bytes, cards: 0 };
  const parts: Buffer[] = [];
  let end = 0;
  for (const one of found) {
    if (one.start < end) continue;
    parts.push(bytes.subarray(end, one.start), Buffer.from(one.token));
    end = one.end;
  }
  parts.push(bytes.subarray(end));
  return { bytes: Buffer.concat(parts), cards: found.length };
}

/** What replaces a card number or a security code. */
export const replacedCard = /\[card \d{4}\]|\[cvv\]/;

interface Found {
  readonly start: number;
  readonly end: number;
  readonly token: string;
}

const fewestDigits = 13;
const mostDigits = 19;
const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39;
const isSeparator = (byte: number | undefined): boolean => byte === 0x20 || byte === 0x2d;
/** 1 for the bytes that a written card number consists of. */
const ofCards = new Uint8Array(256);
for (const byte of Buffer.from('0123456789 -')) ofCards[byte] = 1;

function cardNumbers(bytes: Buffer): Found[] {
  const found: Found[] = [];
  const step = fewestDigits - 1;
  const half = step / 2;
  for (let i = step - 1; i < bytes.length; i += step) {
    if (ofCards[bytes[i] ?? 0] === 0) continue;
    // A run of 13 around this byte extends at least six bytes to one side.
    if (ofCards[bytes[i - half] ?? 0] === 0 && ofCards[bytes[i + half] ?? 0] === 0) continue;
    const { start, end } = runAround(bytes, i);
    if (end - start >= fewestDigits) {
      const token = tokenFor(bytes, start, end);
      if (token !== undefined) found.push({ start, end, token });
    }
    if (end > i) i = end - 1;
  }
  return found;
}

/** The digits around a place, with single separators between them. */
function runAround(bytes: Buffer, at: number): { start: number; end: number } {
  let start = at;
  while (start > 0 && (isDigit(bytes[start - 1]) || (isSeparator(bytes[start - 1]) && isDigit(bytes[start])))) start--;
  let end = at;
  while (end < bytes.length && (isDigit(bytes[end]) || (isSeparator(bytes[end]) && isDigit(bytes[end + 1])))) end++;
  while (start < end && isSeparator(bytes[start])) start++;
  return { start, end };
}

/** Groups as on a card: none, fours, or those of Amex and Diners. */
const cardGroups = /^(?:\d{13,19}|\d{4}([ -])\d{4}\1\d{4}\1\d{1,4}(?:\1\d{1,3})?|\d{4}([ -])\d{6}\2\d{4,5})$/;
/** Visa, Mastercard, Amex, Discover, JCB, Diners, UnionPay: prefix and lengths. */
const schemes: readonly (readonly [prefix: RegExp, lengths: readonly number[]])[] = [
  [/^4/, [13, 16, 19]],
  [/^(?:5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720)/, [16]],
  [/^3[47]/, [15]],
  [/^(?:6011|64[4-9]|65)/, [16, 17, 18, 19]],
  [/^35(?:2[89]|[3-8])/, [16, 17, 18, 19]],
  [/^3(?:0[0-5]|[689])/, [14, 15, 16, 17, 18, 19]],
  [/^62/, [16, 17, 18, 19]],
];
const namedAsCard = /card|pan$|^cc|credit|debit|payment|guarantee/i;
const namedAsOther =
  /(?:id|ids|uuid|guid|ref|reference|reservation|booking|confirmation|voucher|invoice|folio|phone|mobile|tel|fax|telephone|barcode|ean|iban|account|timestamp|hash|number|no|nr|code)$/i;
const wordByte = /[\w.+/=]/;

function tokenFor(bytes: Buffer, start: number, end: number): string | undefined {
  const text = bytes.toString('latin1', start, end);
  const digits = text.replace(/\D/g, '');
  if (digits.length < fewestDigits || digits.length > mostDigits || !cardGroups.test(text)) return undefined;
  if (!schemes.some(([prefix, lengths]) => lengths.includes(digits.length) && prefix.test(digits))) return undefined;
  if (!passesLuhn(digits)) return undefined;
  const before = bytes.toString('latin1', Math.max(0, start - 400), start);
  const after = bytes.toString('latin1', end, end + 1);
  // Part of a longer word, such as a hash or a decimal.
  if (wordByte.test(before.slice(-1)) || wordByte.test(after)) return undefined;
  const isPlain = text.length === digits.length;
  const name = /(?:"((?:[^"\\]|\\.){0,80})"\s*:\s*"?[^":]{0,300}|<([\w:.-]{1,80})[^<>]*>[^<>]{0,300})$/.exec(before);
  const key = name?.[1] ?? name?.[2] ?? '';
  const about = `${key} ${/number$|^no$|^nr$/i.test(key) ? before.slice(-200) : ''}`;
  if (isPlain && namedAsOther.test(key) && !namedAsCard.test(about)) return undefined;
  const token = `[card ${digits.slice(-4)}]`;
  // A bare JSON number becomes a text, so that the JSON stays valid.
  return isPlain && /[:[,]\s*$/.test(before) && !isInsideText(bytes, start) ? `"${token}"` : token;
}

function passesLuhn(digits: string): boolean {
  let sum = 0;
  for (let i = 0; i < digits.length; i++) {
    const digit = digits.charCodeAt(digits.length - 1 - i) - 48;
    sum += i % 2 === 0 ? digit : digit > 4 ? digit * 2 - 9 : digit * 2;
  }
  return sum % 10 === 0;
}

function isInsideText(bytes: Buffer, at: number): boolean {
  let inside = false;
  for (let i = 0; i < at; i++) {
    if (bytes[i] === 0x5c && inside) i++;
    else if (bytes[i] === 0x22) inside = !inside;
  }
  return inside;
}

/** Most payloads have no such word; 95 µs for a page of 159 KB, where twelve searches in the bytes took 360. */
const codeWord = /[cC][vVsS][vVcCnN]|[sS]ecurity_?[cC]ode|SECURITY_?CODE/;
const securityCode =
  /("(?:[\w-]{0,30}[_-])?(?:card_?)?(?:cvv2?|cvc2?|cvn|csc|security_?code)(?:_?(?:code|value))?"\s*:\s*)("\s*\d{3,4}\s*"|\d{3,4})(?=\s*[,}\]])/gi;

function securityCodes(bytes: Buffer): Found[] {
  const text = bytes.toString('latin1');
  if (!codeWord.test(text)) return [];
  return [...text.matchAll(securityCode)].map((found) => {
    const start = found.index + (found[1]?.length ?? 0);
    return { start, end: start + (found[2]?.length ?? 0), token: '"[cvv]"' };
  });
}
