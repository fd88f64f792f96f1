/**
 * Turkish has two letters i: dotted (i, İ) and dotless (ı, I). Systems without Turkish letters write I for both; then vowel harmony
 * decides, with a list of common names that do not follow it.
 */
const onlyTurkish = /[İıĞğ]/u;

/** Whether to treat the names as Turkish: by nationality, or by letters that only Turkish has. */
export function readsAsTurkish(nationality: string | undefined, name: string, other = ''): boolean {
  return nationality === 'TR' || nationality === 'AZ' || onlyTurkish.test(name) || onlyTurkish.test(other);
}

/** Common names whose i is dotted against vowel harmony; most come from Arabic. */
const dottedDespiteHarmony = new Set(
  `akif ali aliye arif arife atif aziz azize bahri baki basri bilgin cahit cavit ciftci fahri fatih fikri filiz gazi hadi halil halim
  halit hamdi hamit hanife hatice ibrahim idil ihsan ilhan ilknur ilyas imran inan inci irfan isa islam ismail kadir kamil latif latife
  macit mahir naci nadide nadir nazif necati nihal nihat nuri raif rasim raziye rifat sabri safiye sahin sakine salih salim sami tahir
  talip vahit yasin yigit zahide zahit ziya`.split(/\s+/),
);

const front = 'eiöü';
const back = 'aıou';

/** Upper case to lower case, letter by letter. */
export function turkishLower(word: string): string {
  if (/[İŞĞÖÜÇıişğöüç]/u.test(word) || !word.includes('I')) return lowerLetters(word, 'ı');
  const plain = word.toLowerCase();
  if (dottedDespiteHarmony.has(plain)) return plain;
  const letters = [...word];
  return letters
    .map((letter, at) => (letter === 'I' ? (isDotted(letters, at) ? 'i' : 'ı') : letter.toLowerCase()))
    .join('');
}

/** Vowel harmony: an i follows the vowel before it, else the one after it. */
function isDotted(letters: readonly string[], at: number): boolean {
  const kindOf = (letter: string): 'front' | 'back' | undefined => {
    const lower = letter.toLowerCase();
    if (lower === 'i') return undefined;
    return front.includes(lower) ? 'front' : back.includes(lower) ? 'back' : undefined;
  };
  for (let before = at - 1; before >= 0; before--) {
    const kind = kindOf(letters[before] ?? '');
    if (kind) return kind === 'front';
  }
  for (let after = at + 1; after < letters.length; after++) {
    const kind = kindOf(letters[after] ?? '');
    if (kind) return kind === 'front';
  }
  return false;
}

function lowerLetters(word: string, forI: 'ı' | 'i'): string {
  return word.replaceAll('İ', 'i').replaceAll('I', forI).toLowerCase();
}

export function turkishUpper(letter: string): string {
  return letter === 'i' ? 'İ' : letter === 'ı' ? 'I' : letter.toUpperCase();
}

/** Lower case outside Turkish. İ becomes a plain i; JavaScript's own rule would leave a combining dot. */
export function plainLower(word: string): string {
  return lowerLetters(word, 'i');
}
