import type { Guest } from '../canonical/reservation.ts';
import { isGivenName } from './given-names.ts';

/** Letters that have no decomposition into a plain letter and a mark. */
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

type Names = Pick<Guest, 'first_name' | 'last_name'>;

const listed = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

/** Legal forms that are nobody's name, wherever they stand. */
const legalForms =
  listed(`gmbh mbh kgaa ohg gbr ltd limited llc llp plc inc incorporated corp corporation pty sarl eurl sasu bvba lda ltda
  unipessoal eireli srl srls slu kft zrt sro spzoo oyj aps eood aktiengesellschaft gesellschaft spol`);
/** Legal forms that are also names, such as Ağ, Sas and Sá. */
const shortForms = listed('ag kg ug se sa sl sau sas snc sci spa nv bv ab as oy hf ev ek eg ad ood doo asa co cie');
/** What companies call themselves. */
const trades =
  listed(`company firma empresa societe holding holdings group gruppe consulting solutions services foundation stiftung verein turnverein sportverein university
  universitat universidade universidad universite hotel hotels hostel resort travel travels tours touristik tourism turismo reisen reiseburo
  viajes viagens voyages viaggi agency agencia agenzia agence agentur booking bookingcom expedia airbnb tui airlines airways`);
/** Without one of these words, and a sign, a name is a person's: most names are compared no further. */
const mayName = legalForms.union(shortForms).union(trades);
const family = /[&+]\s*(?:co|cie|sons?|sohne|partners?|fils|hijos|filhos|figli)(?![a-z])/;

/**
 * Whether a name is a company's. A legal form that is also a name counts at the end of a field that looks like a company's: as it is written
 * (Krone AG, Petra S.A.), or without any given name. A given name with one last name is a person: Rui Reisen.
 */
export function isCompany({ first_name: first = '', last_name: last = '' }: Names, words: readonly string[]): boolean {
  if (!words.some((word) => mayName.has(word)) && !/[./&+]/.test(first + last)) return false;
  const fields = [first, last].map(wordsOf);
  const [given = [], surname = []] = fields;
  if ([first, last].some((field) => family.test(fold(field)))) return true;
  if (fields.flat().some((word) => legalForms.has(word))) return true;
  if (given.length > 0 && surname.length === 1 && given.every(isGivenName)) return false;
  if (fields.flat().some((word) => trades.has(word))) return true;
  return [first, last].some((field, i) => {
    const words = fields[i] ?? [];
    if (words.length < 2 || !shortForms.has(words.at(-1) ?? '')) return false;
    return isWrittenAsForm.test(field) || !words.some(isGivenName);
  });
}

/** In capitals behind other letters, or with dots or a slash. */
const isWrittenAsForm = /\p{Ll}.*\s(?:\p{Lu}{2,}|\p{L}(?:[./]\s?\p{L})+\.?)$/u;

/** Folded, with S.A., A/S, Sp. z o.o. and Booking.com as one word each. */
function wordsOf(field: string): string[] {
  const text = fold(field.slice(0, 100))
    .replace(/(?<!\p{L})(\p{L})[./]\s?(?=\p{L}(?!\p{L}))/gu, '$1')
    .replace(/\bsp\.? ?z ?oo\b/, 'spzoo')
    .replace('booking.com', 'bookingcom');
  return text.split(/[^\p{L}\p{N}]+/u).filter((word) => word !== '');
}

/** Words that are not names of persons, in lower case and without dots. */

const menTitles = 'mr mister mstr herr hr monsieur sr señor senhor signor signore dott dhr'.split(' ');
const womenTitles =
  'mrs ms miss madam frau fru mme mlle madame mademoiselle sra srta señora señorita senhora sigra signora signorina dottssa dottoressa doña mevr mevrouw mw'.split(
    ' ',
  );

/** Titles before a name. */
export const leadingTitles: ReadonlySet<string> = new Set([...menTitles, ...womenTitles, 'mx', 'dr', 'prof']);

/** Titles that reservation systems put after a name. Not Sr, which means Senior there. */
export const trailingTitles: ReadonlySet<string> = new Set(
  'mr mrs ms miss mx mstr dr prof mme mlle chd inf'.split(' '),
);

const sexes: ReadonlyMap<string, string> = new Map([
  ...[...menTitles, 'sig', 'sir', 'lord'].map((title) => [title, 'man'] as const),
  ...[...womenTitles, 'fr', 'dame', 'lady'].map((title) => [title, 'woman'] as const),
]);

/** The one title of this text that tells a man from a woman, as it is written; undefined for Herr und Frau. */
export function sexedTitle(text: string): { readonly title: string; readonly sex: string } | undefined {
  const [first, ...others] = text
    .replace(/[.,()]/g, '')
    .split(/[\s/]+/)
    .flatMap((title) => {
      const sex = sexes.get(title.toLowerCase());
      return sex === undefined ? [] : [{ title, sex }];
    });
  return others.every(({ sex }) => sex === first?.sex) ? first : undefined;
}

/** Typed when no name is known. */
export const placeholders: ReadonlySet<string> = new Set(
  `tba|tbc|tbd|tbn|tb a|to be advised|to be announced|to be confirmed|n/a|n a|not available|not provided|not given|not known|no name|noname|
  first name|last name|firstname|lastname|surname|unknown|unnamed|anonymous|null|nil|none|undefined|guest|guests|hotel guest|new guest|
  main guest|guest name|room guest|pax|walk in|walk-in|walkin|huesped|huésped|invitado|
  hóspede|hospede|unbekannt|inconnu|desconocido|desconhecido|sconosciuto|onbekend`
    .split('|')
    .map((word) => word.trim()),
);
/** Guest 2, Adult 1, Pax #3, and letters repeated in place of a name. */
export const numberedPlaceholder =
  /^(?:(?:guest|adult|child|infant|pax|passenger|gast|person)[ ._-]*#?\d{1,3}|x{2,}(?: x{2,})*|\?+)$/;
