import { parseJson } from '../../../kit/json.ts';
import type { Json } from '../../../terms.ts';

/**
 * The vendor's reason for a message, which viewers, logs and alerts show. Vendors quote what they refuse: addresses, long numbers and every
 * word that was among the values of the request are cut out. The answer itself is kept behind the view of payloads.
 */
export function vendorWords(sent: string | undefined): (code?: string, reason?: string) => string {
  let values: ReadonlySet<string> | undefined;
  const isSent = (word: string): boolean => {
    values ??= wordsOf(sent);
    const folded = word.toLowerCase();
    return values.has(folded) && !common.has(folded);
  };
  return (code, reason) => {
    // A code is a name. Anything else in its place may be a sentence about a guest.
    const named = code !== undefined && /^[\w.:/-]{1,80}$/.test(code) ? ` (${code})` : '';
    const words = reason === undefined ? '' : withoutValues(reason, isSent);
    return words === '' ? named : `${named}: ${words}`;
  };
}

const word = /[\p{L}\p{N}]+/gu;
/** Words of remarks that make up the reason's own sentence. */
const common = new Set(
  'a an and are as at be been by can cannot does email exist exists failed field for from has have in invalid is it missing more must no not of on or phone required than that the this to too unknown valid value was were with you your'.split(
    ' ',
  ),
);

function withoutValues(reason: string, isSent: (word: string) => boolean): string {
  return reason
    .slice(0, 300)
    .replace(/\S+@\S+/g, '…')
    .replace(/\+?\d[\d\s().-]{5,}\d/g, '…')
    .replace(word, (one) => (isSent(one) ? '…' : one))
    .replace(/…(?:[\s'’-]*…)+/g, '…')
    .replace(/[.\s]+$/, '');
}

function wordsOf(sent: string | undefined): ReadonlySet<string> {
  const words = new Set<string>();
  const look = (value: Json): void => {
    if (typeof value === 'string') for (const [one] of value.matchAll(word)) words.add(one.toLowerCase());
    else if (typeof value === 'number') words.add(String(value));
    else if (typeof value === 'object' && value !== null) for (const one of Object.values(value)) look(one);
  };
  if (sent !== undefined) look(parseJson(sent));
  return words;
}
