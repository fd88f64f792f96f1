import { isIP } from 'node:net';
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { z } from 'zod';
import { closest } from '../canonical/closest.ts';
import { isTimezone } from '../canonical/dates.ts';
import { documentNameForm, isDocumentName } from '../terms.ts';
import { checkedText, type Finding } from './checked.ts';
import { durationForm, parseDuration } from './duration.ts';
import { hasReference } from './secret-reference.ts';
import { parseSize, sizeForm } from './size.ts';

countries.registerLocale(english);

/** The value of `credentials` for the role of the machine; see host-references.ts. */
export const machineIdentity = 'machine';

/** The name of a document. */
export const nameText = () =>
  checkedText('a name in lower case', (text) => {
    if (isDocumentName(text)) return undefined;
    const suggestion = text
      .normalize('NFKD')
      .toLowerCase()
      .replace(/[^a-z0-9_-]+/g, '-')
      .replace(/^[-_]+|[-_]+$/g, '');
    const message = 'must be 1 to 63 lower-case letters, digits, - or _, with a letter or digit at both ends';
    return isDocumentName(suggestion) ? { message, suggestion } : { message };
  }).meta({ pattern: documentNameForm.source });

/** A duration between two bounds, both given as text and both allowed. */
export const durationText = (least: string, most: string) =>
  checkedText(`a duration from ${least} to ${most}, such as ${least}`, (text) => {
    const ms = parseDuration(text);
    if (ms === undefined)
      return { message: `must be a duration such as ${least}: a whole number and ms, s, m, h or d` };
    const below = ms < (parseDuration(least) ?? 0);
    if (!below && ms <= (parseDuration(most) ?? 0)) return undefined;
    return { message: `must be from ${least} to ${most}`, suggestion: below ? least : most };
  }).meta({ pattern: durationForm.source, examples: [least, most] });

/** The longest range of one request. */
export const daysText = () =>
  checkedText('whole days from 1d to 366d', (text) => {
    const days = Number(/^(\d{1,3})d$/.exec(text)?.[1] ?? 0);
    return days >= 1 && days <= 366 ? undefined : { message: 'must be whole days from 1d to 366d' };
  }).meta({ pattern: '^[1-9]\\d{0,2}d$', examples: ['1d', '7d', '31d'] });

/** A number of bytes between two bounds, both given as text and both allowed. */
export const sizeText = (least: string, most: string) =>
  checkedText(`a size from ${least} to ${most}, such as ${least}`, (text) => {
    const bytes = parseSize(text);
    if (bytes === undefined)
      return { message: `must be a size such as ${least}: a whole number and B, KiB, MiB or GiB` };
    const below = bytes < (parseSize(least) ?? 0);
    if (!below && bytes <= (parseSize(most) ?? 0)) return undefined;
    return { message: `must be from ${least} to ${most}`, suggestion: below ? least : most };
  }).meta({ pattern: sizeForm.source, examples: [least, most] });

/** An absolute URL. Where it holds a reference to a secret, it is only complete, and only checked, once that is read. */
export const urlText = (...schemes: readonly string[]) =>
  checkedText('a URL', (text) => {
    if (hasReference(text)) return undefined;
    const url = URL.parse(text);
    const list = schemes.map((scheme) => `${scheme}://`).join(' or ');
    if (url === null || !schemes.includes(url.protocol.slice(0, -1)))
      return { message: `must be an absolute URL that starts with ${list}` };
    return undefined;
  }).meta({ credential: 'url' });

export const httpUrl = () => urlText('https', 'http');

/** A credential: best a reference; never shown once applied. */
export const secretText = () => z.string().min(1).meta({ writeOnly: true });

export const timezoneText = () =>
  checkedText('an IANA time zone such as Europe/Lisbon', checkTimezone).meta({ examples: ['Europe/Lisbon'] });

const zones: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

function checkTimezone(text: string): Finding | undefined {
  // The set is checked first: creating a DateTimeFormat takes a third of the time to load a document.
  // Intl also takes offsets such as +01:00; a property that keeps summer time cannot be described by one.
  if (zones.has(text) || (/^[A-Za-z]/.test(text) && isTimezone(text))) return undefined;
  const place = text.toLowerCase().replaceAll(' ', '_');
  const suggestion = [...zones].find((zone) => zone.toLowerCase().endsWith(`/${place}`)) ?? closest(text, zones);
  const message = 'is not an IANA time zone (such as Europe/Lisbon)';
  return suggestion === undefined ? { message } : { message, suggestion };
}

export const countryText = () =>
  checkedText('a country code of two letters such as PT', (text) => {
    if (/^[A-Z]{2}$/.test(text) && countries.isValid(text)) return undefined;
    const code = countries.toAlpha2(text.toUpperCase()) ?? countries.getAlpha2Code(text, 'en');
    const suggestion = code !== undefined && countries.isValid(code) ? code : undefined;
    const message = 'is not an ISO 3166 country code of two capital letters (such as PT)';
    return suggestion === undefined ? { message } : { message, suggestion };
  }).meta({ pattern: '^[A-Z]{2}$', examples: ['PT'] });

/** A header's name, as RFC 9110 spells tokens. */
export const headerName = () => z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/, { error: 'is not a header name' });

/** An IP address, or a range in CIDR notation. */
export const addressRange = () =>
  checkedText('an address or a range such as 10.0.0.0/8', (text) => {
    const [address = '', bits, ...more] = text.split('/');
    const version = isIP(address);
    const isRange = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 6 ? 128 : 32));
    if (version !== 0 && isRange && more.length === 0) return undefined;
    return { message: 'must be an IP address or a range in CIDR notation, such as 10.0.0.0/8' };
  });
