/** Letters that have no decomposition into a plain letter and a mark. The migration that folded the stored keys has the same. */
const plain: ReadonlyMap<string, string> = new Map([
  ['ł', 'l'],
  ['đ', 'd'],
  ['ø', 'o'],
  ['ð', 'd'],
  ['ı', 'i'],
  ['ħ', 'h'],
  ['ß', 'ss'],
  ['æ', 'ae'],
  ['œ', 'oe'],
  ['þ', 'th'],
]);

// biome-ignore lint/suspicious/noControlCharactersInRegex: every ASCII character, which includes the control characters
const ascii = /^[\u0000-\u007f]*$/;

/** A name in lower case without accents, as people type it in a search: "kovac" finds Kovač. */
export function foldName(name: string): string {
  const lower = name.toLowerCase();
  if (ascii.test(lower)) return lower;
  return lower
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replace(/[łđøðıħßæœþ]/g, (letter) => plain.get(letter) ?? letter);
}
