import { foreignText, isVocabulary } from '../kit/foreign-text.ts';
import { parseJson } from '../kit/json.ts';
import type { Json } from '../terms.ts';

/**
 * The vendor's code and reason for a message. Vendors name the fields that were sent, and quote what they refuse: the names stay, and every
 * word that was among the values of the request is cut out. The answer itself is kept behind the view of payloads.
 */
export function vendorWords(
  sent: string | undefined,
  codes: readonly string[] = [],
): (code?: string, reason?: string) => string {
  let words: Words | undefined;
  const isKnown = (word: string): boolean => {
    words ??= wordsOf(sent);
    const folded = word.toLowerCase();
    return words.values.has(folded) ? common.has(folded) : isVocabulary(word) || words.names.has(folded);
  };
  return (code, reason) => {
    // A code is a name. Anything else in its place may be a sentence about a guest.
    const name = code === undefined || codes.includes(code) ? code : /\s/.test(code) ? '' : foreignText(code, isKnown);
    const named = name === undefined || name === '' ? '' : ` (${name})`;
    const rest = reason === undefined ? '' : foreignText(reason, isKnown);
    return rest === '' ? named : `${named}: ${rest}`;
  };
}

const word = /[\p{L}\p{N}]+/gu;
/** Words of remarks that make up the reason's own sentence. */
const common = new Set(
  'a an and are as at be been by can cannot does email exist exists failed field for from has have in invalid is it missing more must no not of on or phone required than that the this to too unknown valid value was were with you your'.split(
    ' ',
  ),
);

interface Words {
  readonly names: Set<string>;
  readonly values: Set<string>;
}

function wordsOf(sent: string | undefined): Words {
  const words: Words = { names: new Set(), values: new Set() };
  const add = (to: Set<string>, text: string) => {
    for (const [one] of text.matchAll(word)) to.add(one.toLowerCase());
  };
  const look = (value: Json): void => {
    if (typeof value === 'string' || typeof value === 'number') add(words.values, String(value));
    else if (typeof value === 'object' && value !== null) {
      if (!Array.isArray(value)) for (const name of Object.keys(value)) add(words.names, name);
      for (const one of Object.values(value)) look(one);
    }
  };
  if (sent !== undefined) look(parseJson(sent));
  return words;
}
