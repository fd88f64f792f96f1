import type { Guest } from '../canonical/reservation.ts';
import { foldName } from './fold.ts';

/** Reserved for documentation and tests (RFC 2606), or typed for want of a real address. The names under .example are invented people. */
const testDomain = /(?:^|\.)(?:example|test)\.(?:com|net|org)$|\.(?:test|invalid|localhost)$/;
const testMailbox = /^test(?:er|ing)?\d*(?:\+.*)?$/;
const testWords: ReadonlySet<string> = new Set(
  'test tests tester testing testguest testuser testbooking testgast teste prueba prova dummy'.split(' '),
);
/** Beside a test word these are not a name. */
const fillers: ReadonlySet<string> = new Set(
  'guest user booking reservation account name person customer client room hotel qa do not delete ignore please gast kunde buchung'.split(
    ' ',
  ),
);
/** Numbers for fiction (+1 555 01xx), one digit throughout, and the row of digits. Reception types them for real guests too. */
const samplePhone = /^\+?(?:1\d{3}55501\d\d|(\d)\1{6,}|0?1234567890?)$/;

/**
 * Whether somebody obviously tried the system out: Test Test, a mailbox or domain that is made for tests, a sample number as the only address.
 * A surname alone shows nothing, nor does a mailbox of that name: there are people called Test.
 */
export function isTestGuest({ first_name = '', last_name = '', email, phone = '' }: Guest): boolean {
  const words = foldName(`${first_name} ${last_name}`)
    .split(/[^\p{L}]+/u)
    .filter(Boolean);
  const isNamed =
    words.every((word) => testWords.has(word) || fillers.has(word)) && words.some((word) => testWords.has(word));
  if (isNamed && (first_name !== '' || words.length > 1)) return true;
  if (email === undefined) return samplePhone.test(phone.replace(/[^\d+]/g, ''));
  const [mailbox = '', domain = ''] = email.toLowerCase().split('@');
  return testDomain.test(domain) || (testMailbox.test(mailbox) && !words.includes(mailbox));
}
