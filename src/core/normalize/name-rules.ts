import type { NoteCode } from '../canonical/notes.ts';
import { leadingTitles, numberedPlaceholder, placeholders, trailingTitles } from '../persons/fold.ts';
import { hasForeignLetters, type NameField } from './name-case.ts';
import { dottedTitles, gluedTitle, joiningWordOf, joiningWords, placeholdersAlone } from './name-words.ts';
import { visible } from './text.ts';

export interface Names {
  readonly first_name?: string | undefined;
  readonly last_name?: string | undefined;
}

export type NameRule = Extract<NoteCode, `name_${string}`>;

export interface NameRegions {
  readonly nationality?: string | undefined;
  readonly country?: string | undefined;
}

/** Longer texts are not names and are left unchanged, to bound the cost. */
export const longestName = 200;

/** The rules before letter case, in order. */
export const nameRules: readonly (readonly [NameRule, (names: Names, regions: NameRegions) => Names])[] = [
  ['name_tidied', ({ first_name, last_name }) => ({ first_name: tidied(first_name), last_name: tidied(last_name) })],
  ['name_placeholder', withoutPlaceholders],
  ['name_split', divided],
  [
    'name_title_removed',
    ({ first_name, last_name }) => ({
      first_name: untitled(first_name, 'first_name'),
      last_name: untitled(last_name, 'last_name'),
    }),
  ],
  ['name_first_of_two', firstOfTwo],
];

function tidied(name: string | undefined): string | undefined {
  if (name === undefined || name.length > longestName) return name;
  let text = visible(name).normalize('NFC');
  if (hasForeignLetters(text)) text = text.replace(/[ \u00a0]+/g, ' ');
  else {
    text = text
      .replace(/[\u200c\u200d]/g, '')
      .replace(/\s+/g, ' ')
      .replace(/(?<=\p{L})[`´](?=\p{L})/gu, "'")
      .replace(/ ?([-‐‑]) ?/g, (match, hyphen: string, at: number) =>
        at === 0 || match.length === 3 ? match : hyphen,
      );
  }
  const bare = text.replace(/^[\s,;:/\\*_|"+&-]+|[\s,;:/\\*_|"+&-]+$/g, '');
  // Punctuation alone is left for the placeholder rule.
  return bare === '' ? text.trim() || undefined : bare;
}

function withoutPlaceholders({ first_name, last_name }: Names): Names {
  return {
    first_name: standsForNone(first_name, last_name) ? undefined : first_name,
    last_name: standsForNone(last_name, first_name) ? undefined : last_name,
  };
}

function standsForNone(name: string | undefined, other: string | undefined): boolean {
  if (isPlaceholder(name)) return true;
  const isAlone = other === undefined || isPlaceholder(other) || placeholdersAlone.has(other.toLowerCase());
  return name !== undefined && isAlone && placeholdersAlone.has(name.toLowerCase());
}

function isPlaceholder(name: string | undefined): boolean {
  if (name === undefined || name.length > longestName) return false;
  const word = name
    .toLowerCase()
    .replace(/[.()[\]<>*]/g, '')
    .trim();
  return /^n\. ?a\.?$/i.test(name) || placeholders.has(word) || numberedPlaceholder.test(word) || !/\p{L}/u.test(word);
}

/** Splits SMITH/JOHN MR and Smith, John in one field, if the other field is empty or repeats a part. Not a company: Sjö A/S. */
function divided({ first_name, last_name }: Names): Names {
  const whole = last_name ?? first_name;
  const other = last_name === undefined ? undefined : first_name;
  if (whole === undefined || whole.length > longestName) return { first_name, last_name };
  const parts = /^([^/,]{2,})\s*([/,])\s*([^/,]+)$/.exec(whole);
  if (!parts || /\s[aik]\/[as]\.?$/i.test(whole)) return { first_name, last_name };
  const [, family = '', mark, rest = ''] = parts;
  // Only separate the title here: the next rule removes it with its own note.
  const titled =
    mark === '/' && rest === rest.toUpperCase()
      ? rest.replace(/\p{L}+$/u, (word) => word.replace(gluedTitle, '$1 $2'))
      : rest;
  const given = untitled(titled.trim(), 'first_name');
  if (mark === ',' && given !== undefined && /^(?:jr|sr|ii|iii|iv)\.?$/i.test(given)) return { first_name, last_name };
  if (other !== undefined && given?.toLowerCase() !== other.toLowerCase()) return { first_name, last_name };
  return { first_name: other ?? titled.trim(), last_name: family.trim() };
}

function untitled(name: string | undefined, field: NameField): string | undefined {
  if (name === undefined || name.length > longestName || hasForeignLetters(name)) return name;
  let words = name.split(' ');
  for (let length = -1; length !== words.length; ) {
    length = words.length;
    const [first = '', second = '', third = ''] = words;
    // Mr & Mrs Smith, Herr und Frau Vogel
    if (isLeading(first) && words.length > 2 && isLeading(third) && /^(?:&|\+|and|und|et|y|e|en|u\.)$/i.test(second))
      words = words.slice(2);
    else if (words.length > 1 && isLeading(first)) words = words.slice(1);
    else if (words.length > 1 && trailingTitles.has(bareWord(words.at(-1)))) words = words.slice(0, -1);
  }
  const [only] = words;
  if (words.length === 1 && (field === 'first_name' ? leadingTitles : trailingTitles).has(bareWord(only)))
    return undefined;
  return words.length === 0 ? undefined : words.join(' ');
}

function isLeading(word: string): boolean {
  const bare = bareWord(word);
  return leadingTitles.has(bare) || (word.endsWith('.') && dottedTitles.has(bare));
}

function bareWord(word: string | undefined): string {
  return (word ?? '').toLowerCase().replace(/[.,()]/g, '');
}

/** A guest is one person: of Anna & Peter keep the first. A family name is cut only together with the given names: Smith & Sons is one name. */
function firstOfTwo({ first_name, last_name }: Names, regions: NameRegions): Names {
  if (first_name === undefined || first_name.length > longestName) return { first_name, last_name };
  const join = joinPattern(regions.nationality ?? regions.country);
  const people = first_name.split(join);
  if (people.length < 2 || (last_name === undefined && first_name.includes('/'))) return { first_name, last_name };
  const first = people.find((name) => name.trim() !== '' && !isPlaceholder(name));
  return {
    first_name: first?.trim(),
    last_name: last_name === undefined ? undefined : last_name.split(join)[0]?.trim() || undefined,
  };
}

const joinPatterns = new Map<string, RegExp>();

function joinPattern(region: string | undefined): RegExp {
  const local = joiningWordOf(region);
  const known = joinPatterns.get(local ?? '');
  if (known) return known;
  const words = [...joiningWords, ...(local === undefined ? [] : [local])].join('|');
  const pattern = new RegExp(`\\s*[&+/]\\s*|\\s+(?:${words})\\s+`, 'iu');
  joinPatterns.set(local ?? '', pattern);
  return pattern;
}
