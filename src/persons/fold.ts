/** Letters that have no decomposition into a plain letter and a mark. The migration that folded the stored search keys has the same. */
const plainLatin = lettersOf('łđøðıħßæœþ', 'l d o d i h ss ae oe th');
/** Scripts that have one usual transliteration. */
const otherScripts: ReadonlyMap<string, string> = new Map([
  ...lettersOf(
    'абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ',
    'a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g',
  ),
  ...lettersOf('αβγδεζηθικλμνξοπρσςτυφχψω', 'a v g d e z i th i k l m n x o p r s s t y f ch ps o'),
]);

function lettersOf(from: string, to: string): ReadonlyMap<string, string> {
  const parts = to.split(' ').map((part) => (part === '-' ? '' : part));
  return new Map([...from].map((letter, i) => [letter, parts[i] ?? '']));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII character, which includes the control characters
const ascii = /^[\u0000-\u007f]*$/;

/** In lower case without accents, as people type a name in a search: "kovac" finds Kovač. */
export function foldName(name: string): string {
  const lower = name.toLowerCase();
  if (ascii.test(lower)) return lower;
  return withLetters(lower.normalize('NFD').replace(/\p{M}/gu, ''), plainLatin);
}

/** The same, with Cyrillic and Greek in Latin letters. Other scripts stay. */
export function fold(text: string): string {
  // й is a separate letter; its decomposition would read as и.
  return withLetters(foldName(text.toLowerCase().replaceAll('й', 'y')), otherScripts);
}

/** With the letters that people type where a keyboard has no ü or å. */
export function writtenOut(name: string): string {
  const composed = name.normalize('NFC');
  return /[äöüøå]/i.test(composed) ? withLetters(composed.toLowerCase(), lettersOutside) : name;
}
const lettersOutside = lettersOf('äöüøå', 'ae oe ue oe aa');

const withLetters = (text: string, letters: ReadonlyMap<string, string>): string =>
  ascii.test(text) ? text : [...text].map((letter) => letters.get(letter) ?? letter).join('');

/**
 * The ways in which a folded word is written in other languages: Müller, Mueller and Muller; Yuri and Juri; Ivanov and Iwanow. Coarse, so it
 * is only used beside another reason to believe that two names are one person's.
 */
export function spellings(word: string): readonly string[] {
  const sounds = word
    .replace(/(?:tsch|tch|tsh|cz)/g, 'ch')
    .replace(/(?:sch|sz)/g, 'sh')
    .replace(/kh/g, 'h')
    .replace(/ph/g, 'f')
    .replace(/(?:ts|tz)/g, 'z')
    .replace(/x/g, 'ks')
    .replace(/[yj]/g, 'i')
    .replace(/w/g, 'v')
    .replace(/ou/g, 'u')
    .replace(/(.)\1+/g, '$1');
  return [word, sounds, sounds.replace(/([aou])e/g, '$1')];
}
