import type { Guest } from '../canonical/reservation.ts';
import {
  fold,
  isCompany,
  leadingTitles,
  numberedPlaceholder,
  placeholders,
  sexedTitle,
  spellings,
  trailingTitles,
  writtenOut,
} from './fold.ts';
import { areForms, isGivenName } from './given-names.ts';

export type Names = Pick<Guest, 'title' | 'first_name' | 'last_name'>;

/** A placeholder is neither. */
export type Kind = 'person' | 'company';

/** `missing`: one of the two does not state it, or writes it in letters that cannot be compared. */
type Likeness = 'equal' | 'compatible' | 'incompatible' | 'missing';

interface Pair {
  readonly first: Likeness;
  readonly last: Likeness;
}

export interface NameLikeness extends Pair {
  /** `equal` only if both state two names or more, in any order. */
  readonly full: Likeness;
}

/**
 * Compares two names without case, accents, titles and order. Transliterations, initials, short forms, one typing mistake and a missing
 * second name are compatible. A company's name is not compatible with a person's.
 */
export function compareNames(a: Names, b: Names): NameLikeness {
  const [one, other] = [partsOf(a), partsOf(b)];
  if (one.kind !== other.kind && one.kind !== undefined && other.kind !== undefined) {
    return { first: 'incompatible', last: 'incompatible', full: 'incompatible' };
  }
  if (one.generation !== other.generation && one.generation !== undefined && other.generation !== undefined) {
    return { first: 'incompatible', last: compareLast(one.last, other.last), full: 'incompatible' };
  }
  if (one.full.some((name) => other.full.includes(name))) return { first: 'equal', last: 'equal', full: 'equal' };
  const { first, last } = comparePair(one, other);
  if (first === 'incompatible' || last === 'incompatible') return { first, last, full: 'incompatible' };
  if (first === 'missing' || last === 'missing') return { first, last, full: 'missing' };
  return { first, last, full: 'compatible' };
}

/**
 * The same first name with another last name. Two relatives whose names stand in swapped fields look alike (Weber, Ana and Weber, Rui): where
 * every last name is a given name, nobody knows.
 */
export function isChangedSurname(a: Names, b: Names): boolean {
  const { first, last } = compareNames(a, b);
  if (first !== 'equal' || last !== 'incompatible') return false;
  return ![...partsOf(a).last, ...partsOf(b).last].every(isGivenName);
}

export const kindOf = (names: Names): Kind | undefined => partsOf(names).kind;

/** The sex that a title tells: Herr, Mrs. The last word of a last name is the name, or Senior. */
export const sexOf = ({ title = '', first_name: first = '', last_name: last = '' }: Names): string | undefined =>
  sexedTitle(`${title} ${first} ${last.replace(/\S+$/, '')}`)?.sex;

/** The full name without case, accents, titles and order, in each spelling; none if it is one word. Equal full names have one in common. */
export const fullNames = (names: Names): readonly string[] => partsOf(names).full;

export const fullNameKey = (names: Names): string | undefined => fullNames(names)[0];

/** The full names with Jr, Sr or a number, which tells father and son of one list apart. */
export const listedNames = (names: Names): string[] =>
  fullNames(names).map((name) => `${name} ${partsOf(names).generation ?? ''}`);

export const areOneGeneration = (a: Names, b: Names): boolean => partsOf(a).generation === partsOf(b).generation;

interface Parts {
  readonly kind?: Kind;
  readonly first: readonly string[];
  readonly last: readonly string[];
  /** The full name, and with ü written as ue, if it has two words or more. */
  readonly full: readonly string[];
  /** Jr, Sr, II. */
  readonly generation?: string | undefined;
}

/** The folded words of both names, read once per object: lists and profiles are compared again and again. */
const read = new WeakMap<Names, Parts>();

const partsOf = (names: Names): Parts => read.getOrInsertComputed(names, readParts);

function readParts(names: Names): Parts {
  const { first_name, last_name } = names;
  const [first, last] = [wordsOf(first_name), wordsOf(last_name)];
  const words = [...first, ...last];
  const spelled = [first_name, last_name].map((name) => name && writtenOut(name));
  const others = spelled[0] === first_name && spelled[1] === last_name ? [] : [spelled.flatMap(wordsOf)];
  const full = words.length < 2 ? [] : [...new Set([words, ...others].map((one) => one.toSorted().join(' ')))];
  if (isCompany(names, words)) return { kind: 'company', first: [], last: words, full };
  const generation = generationOf(last_name) ?? generationOf(first_name);
  return { ...(words.length > 0 && { kind: 'person' }), first, last, full, generation };
}

function generationOf(name: string | undefined): string | undefined {
  const [, junior, senior, number] = /\S[\s,]+(?:(jr|j[uú]nior)|(sr|senior)|(ii|iii|iv))\.?$/i.exec(name ?? '') ?? [];
  return (junior && 'jr') ?? (senior && 'sr') ?? number?.toLowerCase();
}

const longest = 100;

function wordsOf(name: string | undefined): readonly string[] {
  if (name === undefined || name === '') return [];
  const lower = name.slice(0, longest).toLowerCase().trim();
  if (placeholders.has(lower) || numberedPlaceholder.test(lower)) return [];
  const words = fold(lower.replace(loneLetter, (letter) => [...fold(letter)][0] ?? ''))
    .replace(/['’`´]/g, '')
    .split(/[^\p{L}\p{N}]+/u);
  return words.filter((word) => word !== '' && !titles.has(word) && !placeholders.has(word));
}

/** An initial stays one letter in every script: Ю. is Y., not Yu. */
const loneLetter = /(?<!\p{L})\p{L}(?![\p{L}\p{M}])/gu;

const titles: ReadonlySet<string> = new Set(
  [...leadingTitles, ...trailingTitles, 'sir', 'dame', 'lord', 'lady', 'jr', 'junior', 'senior'].map(fold),
);
const particles: ReadonlySet<string> = new Set(
  'van von der den de del della di da do das dos du la le los las el al bin ibn ben ter ten zu zur zum af av y e'.split(
    ' ',
  ),
);

function comparePair(one: Parts, other: Parts): Pair {
  const inOneField = compareWhole(one, other) ?? compareWhole(other, one);
  if (inOneField !== undefined) return inOneField;
  const straight = { first: compareFirst(one.first, other.first), last: compareLast(one.last, other.last) };
  const swapped = { first: compareAny(one.first, other.last), last: compareAny(one.last, other.first) };
  if (!isSwap(straight, swapped) || [one, other].some(hasOnlyInitials)) return straight;
  // Of a swapped pair nobody knows which name is the first one.
  const likeness = weakest(swapped.first, swapped.last);
  return { first: likeness, last: likeness };
}

/** A full name in one field: what is not the other's last name is compared with the first name, unless it may be a second last name. */
function compareWhole(whole: Parts, { first, last }: Parts): Pair | undefined {
  if (first.length === 0 || last.length === 0 || (whole.first.length > 0 && whole.last.length > 0)) return undefined;
  const words = [...whole.first, ...whole.last];
  const isLast = (word: string) => last.some((one) => areOneName(word, one, 'family'));
  const rest = words.filter((word) => !isLast(word));
  if (rest.length === 0 || rest.length === words.length) return undefined;
  const likeness = compareFirst(rest, first);
  if (likeness === 'incompatible' && !rest.some(isGivenName)) return undefined;
  return { first: likeness, last: compareLast(words.filter(isLast), last) };
}

/** The names stand in each other's field, and nothing contradicts it. */
const isSwap = (straight: Pair, swapped: Pair): boolean =>
  [straight.first, straight.last].includes('incompatible') &&
  ([swapped.first, swapped.last].includes('equal') || weakest(swapped.first, swapped.last) === 'compatible') &&
  ![swapped.first, swapped.last].includes('incompatible');

const hasOnlyInitials = ({ first, last }: Parts): boolean => [...first, ...last].every((word) => word.length === 1);

const sameWords = (a: readonly string[], b: readonly string[]): boolean =>
  [...a].sort().join(' ') === [...b].sort().join(' ') || a.join('') === b.join('');

/** A missing second name is compatible; two second names that differ are two persons: Maria João and Maria José. */
function compareFirst(a: readonly string[], b: readonly string[]): Likeness {
  if (a.length === 0 || b.length === 0 || !areComparable(a, b)) return 'missing';
  if (sameWords(a, b)) return 'equal';
  const pairs = a.slice(0, b.length).map((word, i) => areOneName(word, b[i] as string, 'given'));
  return pairs.every(Boolean) ? 'compatible' : 'incompatible';
}

const weakest = (a: Likeness, b: Likeness): Likeness =>
  (['incompatible', 'missing', 'compatible'] as const).find((one) => one === a || one === b) ?? 'equal';

/** Two names that may be first or last names: Andrea and Andreas are not one name with a typing mistake. */
const compareAny = (a: readonly string[], b: readonly string[]): Likeness =>
  weakest(compareFirst(a, b), compareLast(a, b));

/** Every word of the shorter name is in the longer one: García and García López. */
function compareLast(a: readonly string[], b: readonly string[]): Likeness {
  if (a.length === 0 || b.length === 0 || !areComparable(a, b)) return 'missing';
  if (sameWords(a, b)) return 'equal';
  const [short, long] = [a, b].map(withoutParticles).sort((one, other) => one.length - other.length) as [
    readonly string[],
    readonly string[],
  ];
  const isWithin = (some: readonly string[], others: readonly string[]) =>
    some.every((word) => others.some((other) => areOneName(word, other, 'family')));
  const isEvery = isWithin(short, long) && (short.length < long.length || isWithin(long, short));
  return isEvery ? 'compatible' : 'incompatible';
}

function withoutParticles(words: readonly string[]): readonly string[] {
  const kept = words.filter((word) => !particles.has(word));
  return kept.length === 0 ? words : kept;
}

/** Names in scripts that are not transliterated can only be compared with each other. */
const areComparable = (a: readonly string[], b: readonly string[]): boolean =>
  isLatin(a.join('')) === isLatin(b.join(''));
const isLatin = (text: string): boolean => /^[\p{Script=Latin}\p{N}]*$/u.test(text);

const isInitialOf = (short: string, long: string): boolean => short.length === 1 && long.startsWith(short);

/** Two given names may stand in the wrong field: Mario and Marco are not one name with a typing mistake there either. */
function areOneName(a: string, b: string, kind: 'given' | 'family'): boolean {
  if (a === b || isInitialOf(a, b) || isInitialOf(b, a)) return true;
  return areForms(a, b) ?? (areSpelledAlike(a, b) || isOneMistake(a, b, kind));
}

function areSpelledAlike(a: string, b: string): boolean {
  const known = new Set(spellings(a));
  return spellings(b).some((one) => known.has(one));
}

/**
 * Whether two words differ by one letter: changed, left out, added, or swapped with its neighbour. Short words are too alike to tell. The
 * last letter of a given name often tells a man from a woman (Mario, Maria; Paul, Paula), so there it is not a mistake.
 */
function isOneMistake(a: string, b: string, part: 'given' | 'family'): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  if (short.length < fewestLetters || long.length - short.length > 1) return false;
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short[short.length - 1 - end] === long[long.length - 1 - end]) end++;
  const [leftShort, leftLong] = [short.slice(start, short.length - end), long.slice(start, long.length - end)];
  if (part === 'given' && end === 0) return false;
  if (leftLong.length <= 1) return true;
  return leftShort.length === 2 && leftLong === [...leftShort].reverse().join('');
}

const fewestLetters = 4;
