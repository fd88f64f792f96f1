import namecase from '@foundernest/namecase';
import {
  apostrophePrefixes,
  givenNameParticles,
  hyphenParticles,
  innerParticles,
  macNames,
  numeralSuffixes,
  particles,
  regionsWithLargeFirstParticle,
  regionsWithLargeParticles,
  regionsWithMac,
  regionsWithoutParticles,
} from './name-words.ts';

export type NameField = 'first_name' | 'last_name';

/**
 * Letter case is fixed only for names that are all upper case or all lower case; mixed case is a deliberate spelling and stays.
 *
 * The namecase package handles only Mc and Mac, one word at a time. On whole names it uses ASCII word boundaries (LEÓN becomes leÓn),
 * and takes Li and Xi for numerals and Ma for a degree.
 */
const scots = new namecase.default({
  lazy: false,
  irish: true,
  roman: false,
  spanish: false,
  hebrew: false,
  postnominal: false,
});

export interface CaseContext {
  readonly nationality: string | undefined;
  /** The guest's other name: its case distinguishes initials (AJ Smith) from capitals (AJ SMITH). */
  readonly other: string | undefined;
}

const foreignLetter = /(?!\p{Script=Latin})\p{L}/u;

/** True if the text contains a letter of another script. Such names are never rewritten. */
export function hasForeignLetters(text: string): boolean {
  return foreignLetter.test(text);
}

function isOneCase(text: string): boolean {
  if (/[a-z]/.test(text) && /[A-Z]/.test(text)) return false;
  const hasLower = /\p{Ll}/u.test(text.replaceAll('ß', ''));
  const hasUpper = /[\p{Lu}\p{Lt}]/u.test(text);
  return hasLower !== hasUpper;
}

export function caseName(text: string, field: NameField, context: CaseContext): string {
  if (!isOneCase(text) || hasForeignLetters(text) || isInitials(text, field, context.other)) return text;
  const letters: Letters = readsAsTurkish(context.nationality, text, context.other)
    ? { lower: turkishLower, upper: turkishUpper }
    : { lower: plainLower, upper: (letter) => letter.toUpperCase() };
  const written = text.split(' ');
  const words = written.map((word) => letters.lower(word));
  let afterParticle = false;
  return words
    .map((word, at) => {
      const position = { first: at === 0, last: at === words.length - 1, afterParticle };
      const small = isParticle(word, field, position, context.nationality);
      const large = small && field === 'last_name' && isLargeParticle(at === 0, context.nationality);
      afterParticle = small;
      if (small && !large) return word;
      if (position.last && !position.first && numeralSuffixes.has(plainLower(written[at] ?? '')))
        return word.toUpperCase();
      return caseWord(word, field, context.nationality, letters);
    })
    .join(' ')
    .normalize('NFC');
}

interface Letters {
  lower(word: string): string;
  upper(letter: string): string;
}

/** Initials such as JP and TJ have no vowel; Ng is a name. */
function isInitials(text: string, field: NameField, other: string | undefined): boolean {
  if (field !== 'first_name' || !/^\p{Lu}{1,3}$/u.test(text)) return false;
  if (text.length === 1) return true;
  if (text.length === 2 && other !== undefined && !isOneCase(other) && !hasForeignLetters(other)) return true;
  return text !== 'NG' && /^[BCDFGHJKLMNPQRSTVWXZ]+$/.test(text);
}

interface WordPlace {
  readonly first: boolean;
  readonly last: boolean;
  readonly afterParticle: boolean;
}

function isParticle(word: string, field: NameField, at: WordPlace, nationality: string | undefined): boolean {
  if (at.last || (nationality !== undefined && regionsWithoutParticles.has(nationality))) return false;
  if (field === 'first_name') return !at.first && givenNameParticles.has(word);
  if (word === 'la' && nationality === 'FR') return false;
  return particles.has(word) || (innerParticles.has(word) && (at.afterParticle || (!at.first && word.length === 1)));
}

function isLargeParticle(first: boolean, nationality: string | undefined): boolean {
  if (nationality === undefined) return false;
  return regionsWithLargeParticles.has(nationality) || (first && regionsWithLargeFirstParticle.has(nationality));
}

/** What divides the parts of a word. */
const wordMark = /([-‐‑./,(_])/;

function caseWord(word: string, field: NameField, nationality: string | undefined, letters: Letters): string {
  if (!wordMark.test(word)) return casePart(word, field, nationality, letters);
  const parts = word.split(wordMark);
  return parts
    .map((part, at) => {
      if (at % 2 === 1) return part;
      const middle = at > 0 && at < parts.length - 1 && parts[at - 1] !== '.' && parts[at + 1] !== '.';
      return middle && hyphenParticles.has(part) ? part : casePart(part, field, nationality, letters);
    })
    .join('');
}

const apostrophe = /^(\p{L}+)(['’ʼ‘ʻ])(\p{L}{2,}.*)$/u;

function casePart(part: string, field: NameField, nationality: string | undefined, letters: Letters): string {
  const divided = /['’ʼ‘ʻ]/.test(part) ? apostrophe.exec(part) : null;
  if (divided) {
    const [, prefix = '', mark = '', rest = ''] = divided;
    if (apostrophePrefixes.has(prefix)) {
      const head = prefix === 'd' && nationality === 'FR' && field === 'last_name' ? prefix : capital(prefix, letters);
      return head + mark + casePart(rest, field, nationality, letters);
    }
  }
  if (/^mc[a-z]{2,}$/.test(part) || (field === 'last_name' && isMac(part, nationality))) return scots.nameCase(part);
  if ((nationality === 'NL' || nationality === 'BE') && /^ij\p{L}/u.test(part)) return `IJ${part.slice(2)}`;
  return capital(part, letters);
}

function isMac(part: string, nationality: string | undefined): boolean {
  if (!/^mac[a-z]{3,}$/.test(part)) return false;
  return macNames.has(part) || (nationality !== undefined && regionsWithMac.has(nationality));
}

/** Capitalises the first letter, except after a leading apostrophe: 't Hooft. */
function capital(part: string, letters: Letters): string {
  if (/^[a-z]/.test(part)) return letters.upper(part.charAt(0)) + part.slice(1);
  return part.replace(/^([^\p{L}'’]*)(\p{L})/u, (_, before: string, letter: string) => {
    const large = letters.upper(letter);
    return before + (large.length > letter.length ? letter : large);
  });
}

/**
 * Turkish has two letters i: dotted (i, İ) and dotless (ı, I). Systems without Turkish letters write I for both; then vowel harmony
 * decides, with a list of common names that do not follow it.
 */
const onlyTurkish = /[İıĞğ]/u;

/** Whether to treat the names as Turkish: by nationality, or by letters that only Turkish has. */
function readsAsTurkish(nationality: string | undefined, name: string, other = ''): boolean {
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
function turkishLower(word: string): string {
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

function turkishUpper(letter: string): string {
  return letter === 'i' ? 'İ' : letter === 'ı' ? 'I' : letter.toUpperCase();
}

/** Lower case outside Turkish. İ becomes a plain i; JavaScript's own rule would leave a combining dot. */
function plainLower(word: string): string {
  return lowerLetters(word, 'i');
}
