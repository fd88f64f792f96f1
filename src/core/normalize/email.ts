import { saysNothing, visible } from './text.ts';

/**
 * Domains where booking sites create a forwarding address per booking. Such an address identifies a booking, not a person: it expires,
 * and must never match two guests. Subdomains are included.
 *
 * Relays chosen by the guest (Apple's privaterelay.appleid.com, Firefox Relay) are not listed: they are permanent.
 */
const proxyDomains: readonly string[] = [
  // Booking.com
  'guest.booking.com',
  'property.booking.com',
  'message.booking.com',
  // Expedia, Hotels.com, Vrbo and their kin
  'expediapartnercentral.com',
  'guest.expedia.com',
  'guest.hotels.com',
  'messages.homeaway.com',
  'messages.vrbo.com',
  // Airbnb
  'guest.airbnb.com',
  'host.airbnb.com',
  'reply.airbnb.com',
  'stay.airbnb.com',
  // Agoda
  'agoda-messaging.com',
  'guest.agoda.com',
  'message.agoda.com',
  // Trip.com
  'guest.trip.com',
  'guest.ctrip.com',
  // Others
  'guest.klook.com',
  'guest.traveloka.com',
  'expmessaging.tripadvisor.com',
];

type EmailReading =
  | { readonly kind: 'address'; readonly address: string; readonly proxy: boolean; readonly several: boolean }
  | { readonly kind: 'invalid'; readonly why: 'not_an_address' | 'made_up' }
  | { readonly kind: 'nothing' };

const tidy = /^[a-z0-9_+-]+(?:\.[a-z0-9_+-]+)*@(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/;
/** Longer texts are not read. An address has at most 254 characters; a field may hold several. */
const longestText = 2_000;

export function readEmail(raw: string): EmailReading {
  if (raw.length > longestText) return { kind: 'invalid', why: 'not_an_address' };
  const isTidy = tidy.test(raw);
  const plain = isTidy ? raw : raw.trim().toLowerCase();
  if (plain.length <= 254 && (isTidy || tidy.test(plain)) && !plain.includes('--')) return judged(plain, false);
  const text = visible(raw).replace(/\s+/g, ' ').trim();
  if (saysNothing(text)) return { kind: 'nothing' };
  const whole = toAddress(text);
  if (whole) return judged(whole, false);
  const parts = severalOf(text);
  for (const part of parts) {
    const address = toAddress(part);
    if (address) return judged(address, parts.length > 1);
  }
  return saysNothingInWords(text) ? { kind: 'nothing' } : { kind: 'invalid', why: 'not_an_address' };
}

function judged(address: string, several: boolean): EmailReading {
  const at = address.indexOf('@');
  if (at > 64) return { kind: 'invalid', why: 'not_an_address' };
  if (at <= longestMadeUp && isMadeUp(address.slice(0, at), address.slice(at + 1)))
    return { kind: 'invalid', why: 'made_up' };
  return { kind: 'address', address, proxy: proxy.test(address), several };
}

/**
 * Splits a field that holds several addresses. A space separates only complete addresses: `anna smith@…` is one broken address, and
 * half of it would belong to a stranger.
 */
function severalOf(text: string): readonly string[] {
  const parts = text
    .split(/\s*[;,|\n]\s*|\s+(?:\/|or|oder|ou|and|und|et)\s+|\/(?=[^/]*@)/i)
    .filter((part) => part !== '');
  return parts.flatMap((part) => {
    const words = part.split(/[ /]+/);
    return words.length > 1 && words.every((word) => /^[^@]+@[^@]+$/.test(word)) ? words : [part];
  });
}

function toAddress(text: string): string | undefined {
  const inBrackets = /^[^<>]*<([^<>]*)>[^<>]*$/.exec(text)?.[1] ?? text;
  const bare = inBrackets
    .replace(/^[\s"'([{<]*(?:(?:mailto|e-?mail)\s*:\s*)*["'([{<]*/i, '')
    .replace(/\?.*=.*$/, '')
    .replace(/[\s"')\]}>.,;:]+$/, '')
    .replace(/\s*[@＠]\s*/, '@');
  const at = bare.indexOf('@');
  if (at <= 0 || at > 64 || bare.indexOf('@', at + 1) !== -1) return undefined;
  const local = bare.slice(0, at).toLowerCase();
  const domain = toAsciiDomain(bare.slice(at + 1));
  if (domain === undefined || !localPart.test(local) || local.length + domain.length > 253) return undefined;
  return `${local}@${domain}`;
}

/** The unquoted form of RFC 5321, ASCII only: few destinations accept other letters. */
const localPart = /^[a-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[a-z0-9!#$%&'*+/=?^_`{|}~-]+)*$/;
const domainText = /^[\p{L}\p{N}\p{M}.。．｡·\u30fb-]+$/u;
/** Zod's own pattern refuses top-level domains in their ASCII form (xn--p1ai). */
const asciiDomain =
  /^(?=.{4,253}$)(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{1,57}[a-z0-9])$/;

function toAsciiDomain(text: string): string | undefined {
  if (!domainText.test(text)) return undefined;
  // The URL class applies IDNA mapping and checks; the pattern above allows only letters, digits, hyphens and dots.
  const parsed = URL.parse(`http://${text.replace(/\.+$/, '')}`);
  const host = parsed?.hostname;
  return host !== undefined && asciiDomain.test(host) ? host : undefined;
}

/** One pattern: a set lookup of the domain took three times as long (bench shape, two arm64 cores). */
const proxy = new RegExp(`[@.](?:${proxyDomains.map((domain) => RegExp.escape(domain)).join('|')})$`);

/** Typed by front desks to satisfy a required field. Each would match many guests as one person. */
const neverAPerson = new Set([
  'noemail',
  'no-email',
  'no.email',
  'no_email',
  'nomail',
  'no-mail',
  'noreply',
  'no-reply',
  'donotreply',
  'notprovided',
  'sinemail',
  'sincorreo',
  'sememail',
  'sansmail',
  'keinemail',
]);
/** These too, but some are names: only at a host that is made up as well. */
const madeUpWords = new Set([
  ...neverAPerson,
  'no.mail',
  'none',
  'na',
  'n.a',
  'unknown',
  'not.provided',
  'noone',
  'nobody',
  'nil',
  'null',
  'xxx',
  'xx',
  'x',
  'nomeil',
  'semail',
  'semmail',
  'keine',
]);
const longestMadeUp = Math.max(...[...madeUpWords].map((word) => word.length));
const madeUpHosts = new Set(['mail', 'email', 'test', 'hotel', 'nowhere', 'nothing', 'domain', 'no']);

function isMadeUp(local: string, domain: string): boolean {
  if (!madeUpWords.has(local)) return false;
  const host = domain.slice(0, domain.indexOf('.'));
  return neverAPerson.has(local) || madeUpWords.has(host) || madeUpHosts.has(host);
}

function saysNothingInWords(text: string): boolean {
  return madeUpWords.has(text.toLowerCase().replace(/\s+/g, ''));
}
