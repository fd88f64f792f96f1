import { isIP } from 'node:net';
import countries from 'i18n-iso-countries/index.js';
import english from 'i18n-iso-countries/langs/en.json' with { type: 'json' };
import { z } from 'zod';
import { documentNameForm, isDocumentName } from '../../terms.ts';
import { closest } from '../canonical/closest.ts';
import { isTimezone } from '../canonical/values.ts';
import { checkedText, textThat } from './checked.ts';
import { hasReference } from './secret-reference.ts';
import { durationForm, durationMs, parseDuration, parseSize, sizeForm } from './units.ts';

countries.registerLocale(english);

/** The value of `credentials` for the role of the machine; see host-references.ts. */
export const machineIdentity = 'machine';

/** Settings that have their defaults where the whole section is left out. */
export const section = <Shape extends Readonly<Record<string, z.ZodOptional | z.ZodDefault | z.ZodPrefault>>>(
  description: string,
  shape: Shape,
) =>
  z
    .strictObject(shape)
    .prefault({} as never)
    .describe(description);

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

/** An amount with its unit, between two bounds, both given as text and both allowed. */
const between =
  (what: string, form: RegExp, units: string, parse: typeof parseDuration) => (least: string, most: string) =>
    checkedText(`a ${what} from ${least} to ${most}, such as ${least}`, (text) => {
      const amount = parse(text);
      if (amount === undefined) return { message: `must be a ${what} such as ${least}: a whole number and ${units}` };
      const below = amount < (parse(least) ?? 0);
      if (!below && amount <= (parse(most) ?? 0)) return undefined;
      return { message: `must be from ${least} to ${most}`, suggestion: below ? least : most };
    }).meta({ pattern: form.source, examples: [least, most] });

export const durationText = between('duration', durationForm, 'ms, s, m, h or d', parseDuration);
export const sizeText = between('size', sizeForm, 'B, KiB, MiB or GiB', parseSize);

/** The longest range of one request. */
export const daysText = () =>
  textThat('whole days from 1d to 366d', (text) => {
    const days = Number(/^(\d{1,3})d$/.exec(text)?.[1] ?? 0);
    return days >= 1 && days <= 366;
  }).meta({ pattern: '^[1-9]\\d{0,2}d$', examples: ['1d', '7d', '31d'] });

/** An absolute URL. Where it holds a reference to a secret, it is only complete, and only checked, once that is read. */
export const urlText = (...schemes: readonly string[]) =>
  checkedText('a URL', (text) => {
    if (hasReference(text)) return undefined;
    const url = URL.parse(text);
    if (url !== null && schemes.includes(url.protocol.slice(0, -1))) return undefined;
    const list = schemes.map((scheme) => `${scheme}://`).join(' or ');
    return { message: `must be an absolute URL that starts with ${list}` };
  }).meta({ credential: 'url' });

export const httpUrl = () => urlText('https', 'http');

/** A credential: best a reference; never shown once applied. */
export const secretText = () => z.string().min(1).meta({ writeOnly: true });

const zones: ReadonlySet<string> = new Set(['UTC', ...Intl.supportedValuesOf('timeZone')]);

export const timezoneText = () =>
  checkedText('an IANA time zone such as Europe/Lisbon', (text) => {
    // The set is checked first: creating a DateTimeFormat takes a third of the time to load a document.
    // Intl also takes offsets such as +01:00; a property that keeps summer time cannot be described by one.
    if (zones.has(text) || (/^[A-Za-z]/.test(text) && isTimezone(text))) return undefined;
    const place = text.toLowerCase().replaceAll(' ', '_');
    const suggestion = [...zones].find((zone) => zone.toLowerCase().endsWith(`/${place}`)) ?? closest(text, zones);
    return { message: 'is not an IANA time zone (such as Europe/Lisbon)', suggestion };
  }).meta({ examples: ['Europe/Lisbon'] });

export const countryText = () =>
  checkedText('a country code of two letters such as PT', (text) => {
    if (/^[A-Z]{2}$/.test(text) && countries.isValid(text)) return undefined;
    const code = countries.toAlpha2(text.toUpperCase()) ?? countries.getAlpha2Code(text, 'en');
    const suggestion = code !== undefined && countries.isValid(code) ? code : undefined;
    return { message: 'is not an ISO 3166 country code of two capital letters (such as PT)', suggestion };
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

const placeholder = /\{[^{}]*\}/g;
const fromSettings = /\{with\.\w+\}/g;

/**
 * A URL that may hold placeholders; with letters in their place it must be a whole one. Host and port are fixed by the document: a
 * record, which the partner writes, must not choose where credentials and guest data go.
 */
export const urlTemplate = () =>
  checkedText('a URL', (text) => {
    if (hostFromRecord(text))
      return { message: 'the host must be written here or come from {with.NAME}: a record must not choose it' };
    if (hasReference(text)) return undefined;
    const filled = text.replace(/^\{with\.\w+\}/, 'https://x.example').replace(placeholder, 'x');
    const url = URL.parse(filled);
    if (url !== null && /^https?:$/.test(url.protocol)) return undefined;
    return { message: 'must be an absolute URL that starts with https:// or http://' };
  }).meta({ credential: 'url' });

/** Whether a placeholder over the record stands before the path. */
function hostFromRecord(text: string): boolean {
  const settled = text.replace(fromSettings, 'x').replace(/\$\{[^{}]*\}/g, 'x');
  const authority = /^(?:[^:/?#{}]*:\/\/)?[^/?#]*/.exec(settled)?.[0] ?? '';
  return authority.includes('{');
}

export const rateSchema = z.strictObject({
  requests: z.int().min(1).max(1_000_000).describe('How many requests.'),
  per: durationText('1s', '1d').default('1s').describe('The period.'),
  burst: z
    .int()
    .min(1)
    .max(1_000_000)
    .optional()
    .describe('How many requests may be sent at once after a pause; as many as `requests` by default.'),
});

/** One request every `everyMs`, and `burst` at once after a quiet time. */
export function rateOf({ requests, per, burst = requests }: z.infer<typeof rateSchema>) {
  return { everyMs: durationMs(per) / requests, burst };
}
