import {
  joiningWords,
  leadingTitles,
  localJoiningWords,
  placeholders,
  placeholdersAlone,
  trailingTitles,
} from './name-words.ts';

/**
 * What a glance at a name tells, before any rule is asked: most names are words of plain letters in upper and lower case, which no
 * rule would touch.
 *
 * other   a rule may have something to do
 * mixed   nothing to do
 * upper, lower   nothing but its case
 */
export type NameLook = 'other' | 'mixed' | 'upper' | 'lower';

/** Latin letters up to U+017F: their normal form is themselves. */
const upper = 1;
const lower = 2;
const caseless = 3;
const letters = Uint8Array.from({ length: 0x180 }, (_, code) => {
  const letter = String.fromCharCode(code);
  if (letter === 'ß') return caseless;
  return /\p{Lu}/u.test(letter) ? upper : /\p{Ll}/u.test(letter) ? lower : 0;
});
const space = 32;
const hyphen = 45;
const longest = 40;

/** Words that some rule knows. A name with one of them is left to the rules. */
const telling: ReadonlySet<string> = new Set([
  ...placeholders,
  ...placeholdersAlone,
  ...leadingTitles,
  ...trailingTitles,
  ...joiningWords,
  ...localJoiningWords,
]);

/**
 * By first letter and length, the last letters of the telling words as bits: it spares most names the making of a word to look up.
 * In Latin-1, where all these letters are, a small letter is its capital with one bit set, and only the bits below it are kept.
 */
const endings = new Uint32Array(256 * 32);
for (const word of telling) {
  const place = word.charCodeAt(0) * 32 + word.length;
  endings[place] = (endings[place] ?? 0) | (1 << (word.charCodeAt(word.length - 1) & 31));
}
const x = 120;

export function lookAt(name: string | undefined): NameLook {
  if (name === undefined) return 'mixed';
  const { length } = name;
  if (length > longest) return 'other';
  let seen = 0;
  let from = 0;
  let several = false;
  for (let at = 0; at <= length; at++) {
    const code = at === length ? space : name.charCodeAt(at);
    const kind = code < 0x180 ? (letters[code] ?? 0) : 0;
    if (kind !== 0) {
      if (kind !== caseless) seen |= kind;
    } else if ((code === space || code === hyphen) && at - from >= 2 && !isTelling(name, from, at)) {
      if (at < length) several = true;
      from = at + 1;
    } else {
      return 'other';
    }
  }
  if (several && isTelling(name, 0, length)) return 'other';
  return seen === upper ? 'upper' : seen === lower ? 'lower' : seen === 0 ? 'other' : 'mixed';
}

function isTelling(name: string, from: number, to: number): boolean {
  const first = name.charCodeAt(from) | 0x20;
  const last = name.charCodeAt(to - 1);
  if (first !== x && ((endings[first * 32 + to - from] ?? 0) & (1 << (last & 31))) === 0) return false;
  const word = (to - from === name.length ? name : name.slice(from, to)).toLowerCase();
  return telling.has(word) || (first === x && /^x+$/.test(word));
}
