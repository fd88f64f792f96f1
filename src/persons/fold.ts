/** Letters without a decomposition into a plain letter and a mark, and letters of scripts that have one usual transliteration. */
const plain: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{ ł: 'l', đ: 'd', ø: 'o', ð: 'd', ı: 'i', ħ: 'h', ß: 'ss', æ: 'ae', œ: 'oe', þ: 'th' },
    ...letters(
      'абвгдеёжзийклмнопрстуфхцчшщъыьэюяіїєґ',
      'a b v g d e e zh z i y k l m n o p r s t u f kh ts ch sh shch - y - e yu ya i yi ye g',
    ),
    ...letters('αβγδεζηθικλμνξοπρσςτυφχψω', 'a v g d e z i th i k l m n x o p r s s t y f ch ps o'),
  }),
);

function letters(from: string, to: string): { [letter: string]: string } {
  const parts = to.split(' ').map((part) => (part === '-' ? '' : part));
  return Object.fromEntries([...from].map((letter, i) => [letter, parts[i] ?? '']));
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII character, which includes the control characters
const ascii = /^[\u0000-\u007f]*$/;

/** In lower case, without accents, and Cyrillic and Greek in Latin letters. Other scripts stay. */
export function fold(text: string): string {
  const lower = text.toLowerCase();
  if (ascii.test(lower)) return lower;
  // й is a separate letter; its decomposition would read as и.
  return [...lower.replaceAll('й', 'y').normalize('NFD').replace(/\p{M}/gu, '')]
    .map((letter) => plain.get(letter) ?? letter)
    .join('');
}

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
