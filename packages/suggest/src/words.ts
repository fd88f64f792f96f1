import { foreign } from './languages.ts';

/** The words of a list written as text. */
export const wordSet = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Splits names of fields into words, so that guestFirstName, GuestFirstName, guest_first_name and b:GuestFirstName are equal. */

const pieces = /\p{Lu}+(?=\p{Lu}\p{Ll})|\p{Lu}?\p{Ll}+|\p{Lu}+|\d+/gu;

export function wordsOf(name: string): string[] {
  const words =
    name
      .replace(/^\w+:(?=\w)/, '')
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .match(pieces)
      ?.map((word) => word.toLowerCase()) ?? [];
  const isCode = /^[A-Z]{4,12}$/.test(name);
  const split = (word: string) => (isCode ? apart(word, codes, 4) : apart(word, parts, 6));
  return together(
    words.flatMap(
      (word) =>
        joined.get(word) ?? foreign.get(word) ?? plural(word) ?? split(word)?.flatMap(known) ?? alike(word) ?? word,
    ),
  );
}

/** An English word with an ending of another language: statusz. */
const alike = (word: string) =>
  basics.find((one) => one.length > 5 && word.length === one.length + 1 && word.startsWith(one) && !word.endsWith('s'));

/** Most plurals of foreign words have an s. */
const plural = (word: string) => (word.length > 5 ? foreign.get(word.replace(/s$/, '')) : undefined);
const known = (word: string): string | readonly string[] => joined.get(word) ?? foreign.get(word) ?? word;

/** Words that names run together: guestcell, bookeddate, noadults, buchungsnummer. The earlier ones come first if several would do. */
const basics =
  'guest client customer name first last surname email mail phone cell mobile tel check in out date booked booking status no nr num adult adults child children infants room rooms type id rate code total amount price source channel number arrival departure created currency nights plan meal board confirmation confirm reservation reference ref country nationality birth gross net tax paid property unit count time at on made book res from to start end stay pax childs of guests before after commission due payment address grand cancelled canceled cancel modified hotel agent agency booker infant discount creation checked document doc passport infants value description contact given family item travellers travelers persons listing'.split(
    ' ',
  );
const parts = ranked([...basics, ...[...foreign.keys()].filter((word) => word.length > 2)]);

export const isKnown = (word: string): boolean => basics.includes(word);

/** Each word with its place. */
function ranked(words: Iterable<string>): ReadonlyMap<string, number> {
  return new Map([...new Set(words)].map((word, place) => [word, place]));
}

/** The fewest known words that make up the whole; undefined for a simple word. */
function apart(word: string, among: ReadonlyMap<string, number>, shortest: number): string[] | undefined {
  if (word.length < shortest || word.length > 40 || parts.has(word)) return undefined;
  const best: (string[] | undefined)[] = [[]];
  for (let end = 1; end <= word.length; end++) {
    const ways = best.flatMap((before, from) => {
      const part = word.slice(from, end);
      const place = before && among.get(part);
      return before === undefined || place === undefined ? [] : [{ words: [...before, part], place }];
    });
    best[end] = ways.sort((a, b) => a.words.length - b.words.length || a.place - b.place)[0]?.words;
  }
  return best[word.length];
}

/** A final "no" is a number; an id that comes first belongs to what follows: id_room_type. */
const together = (words: readonly string[]): string[] =>
  (words[0] === 'id' && words.length > 2 ? [...words.slice(1), 'id'] : words).map((word, at) =>
    word === 'no' && at === words.length - 1 ? 'number' : word,
  );

/** Column names of old systems are capitals without separators: GSTSNM, ARRDT, RTCD. */
const codes = ranked([...parts.keys(), ...foreign.keys(), 'snm', 'fnm', 'eml', 'typ']);

/** Compounds that are also written as separate words, and abbreviations. */
const joined: ReadonlyMap<string, readonly string[]> = new Map([
  ...'check in, check out, first name, last name, full name, birth date, room type, rate code, rate plan, meal plan, no show, create date time, create date, booking date, book date, arrival date, departure date, room name, total amount'
    .split(', ')
    .map((words) => [words.replaceAll(' ', ''), words.split(' ')] as const),
  ...'snm surname, fnm first name, eml email, dfrom date from, dto date to, birthday birth date, ids id, identifier id, accomodation accommodation, modifydatetime modified date time, creadate create date, objid object id'
    .split(', ')
    .map((entry) => entry.split(' '))
    .map(([short = '', ...words]) => [short, words] as const),
]);

/** Words about the format of a value, not its meaning. */
const noise: ReadonlySet<string> = wordSet(
  'utc local localized iso scheduled string formatted embedded the of am op em de del della di du des der il la le los do da electronico eletronico elettronica',
);

export function withoutNoise(words: readonly string[]): string[] {
  const rest = words.filter((word) => !noise.has(word));
  return rest.length === 0 ? [...words] : rest;
}

export interface Phrase {
  readonly words: readonly string[];
  readonly weight: number;
}

/** `check in, arrival:0.95`: names of a field, each with its weight. */
export function phrases(text: string): Phrase[] {
  return text.split(',').map((entry) => {
    const [name = '', weight = '1'] = entry.split(':');
    const words = name.trim().split(' ').flatMap(known);
    return { words: withoutNoise(together(words)), weight: Number(weight) };
  });
}

/**
 * How well a name (its own words and those of its enclosing objects) fits one of the phrases, 0 to 1. Words in `not` count against it
 * unless the phrase contains them.
 */
export function fit(
  own: readonly string[],
  around: readonly string[],
  wanted: readonly Phrase[],
  not: ReadonlySet<string>,
): number {
  const whole = [...around, ...own];
  const near = around.slice(-3);
  let best = 0;
  for (const { words, weight } of wanted) {
    const score = weight <= best ? 0 : weight * fitOne(own, whole, words);
    if (score <= best) continue;
    const contrary = (word: string) => not.has(word) && !words.includes(word);
    const against = 0.3 ** own.filter(contrary).length * 0.7 ** near.filter(contrary).length;
    best = Math.max(best, score * against);
  }
  return best;
}

function fitOne(own: readonly string[], whole: readonly string[], words: readonly string[]): number {
  if (same(own, words)) return 1;
  if (endsWith(own, words)) return surplus(own, words, 0.97);
  if (own.length === words.length && own.length > 1 && words.every((word) => own.includes(word))) return 0.9;
  if (endsWith(whole, words)) return 0.96;
  if (own.length === 1 && measures.has(own[0] ?? '') && endsWith(whole.slice(0, -1), words)) return 0.93;
  if (startsWith(own, words)) return surplus(own, words, 0.85);
  if (holds(own, words)) return surplus(own, words, 0.78);
  return words.length > 1 && holds(whole, words) ? 0.7 : 0;
}

/** In price.cents, total.value, channel.label and board.name the enclosing object has the name. */
const measures: ReadonlySet<string> = wordSet(
  'cents cent minor value amount label caption title slug name description',
);

/** Each additional word lowers the score. */
function surplus(own: readonly string[], words: readonly string[], score: number): number {
  return score * 0.92 ** Math.max(0, own.length - words.length);
}

type Words = readonly string[];
const same = (a: Words, b: Words) => a.length === b.length && startsWith(a, b);
const startsWith = (a: Words, b: Words, at = 0) => a.length >= b.length && b.every((word, i) => word === a[at + i]);
const endsWith = (a: Words, b: Words) => startsWith(a, b, a.length - b.length);

/** Whether the words occur in this order, with others in between. */
function holds(words: Words, wanted: Words): boolean {
  let at = 0;
  for (const word of words) if (word === wanted[at]) at++;
  return at === wanted.length;
}
