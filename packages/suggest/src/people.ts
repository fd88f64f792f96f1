import type { Json, JsonObject } from '../../../src/terms.ts';
import type { Container } from './containers.ts';
import { isInMost, type Leaf, parentOf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { fullNameLexeme, guestLexicon, guestWords, secondNameLexeme, strangerWords } from './lexicon.ts';
import { isUsed, type Match, matchFields, matchOf, type Vocabulary, weigh } from './match.ts';
import { wordsOf } from './words.ts';

/** Which objects of a record are people. */

const guestVocabulary: Vocabulary = {
  lexicon: { ...guestLexicon, full_name: fullNameLexeme, second_name: secondNameLexeme },
  scope: new Set(['guest', 'customer', 'person', 'profile', 'client']),
};

const worth = {
  last_name: 3,
  first_name: 2,
  full_name: 3,
  email: 3,
  phone: 2,
  date_of_birth: 1,
  nationality: 1,
  document_number: 1,
};

const looks: readonly (readonly [string, RegExp])[] = [
  ['email', /^[^@\s]+@[^@\s]+\.[^@\s]+$/],
  ['phone', /^\+[\d\s().-]{8,20}$/],
];

/** The fields of a guest by name; an address or a phone under another name by its values. */
export function matchGuest(leaves: readonly Leaf[]): Map<string, Match> {
  const matches = matchFields(leaves, guestVocabulary);
  for (const [field, look] of looks) {
    const leaf = leaves.find(
      (one) => one.kind === 'value' && present(one).length > 0 && present(one).every(fits(look)),
    );
    if (leaf !== undefined && !matches.has(field) && !isUsed(matches, leaf))
      matches.set(field, matchOf(field, leaf, 0.7, `all its values look like a guest’s ${field}`));
  }
  asFirstName(matches);
  if (matches.has('first_name') && matches.has('last_name')) matches.delete('full_name');
  const [name, further] = ['first_name', 'last_name', 'full_name'].flatMap((field) => matches.get(field) ?? []);
  const missing = further ? undefined : { first_name: 'last_name', last_name: 'first_name' }[name?.field ?? ''];
  const free = leaves.filter((leaf) => !isUsed(matches, leaf));
  const other = name && free.find((leaf) => isOtherName(leaf, name, leaves, matches.get('email')?.leaf));
  if (other && missing) matches.set(missing, matchOf(missing, other, 0.7, `names beside ${name.leaf.path}`));
  const isGuest = (leaf: Leaf) => guestWords.has(leaf.own.join(' ')) || isInAddresses(leaf, matches.get('email')?.leaf);
  const full = name ? undefined : leaves.filter(areSeveralWords).find(isGuest);
  if (full !== undefined)
    matches.set('full_name', matchOf('full_name', full, 0.7, 'words of a guest, or those of the e-mail addresses'));
  return matches;
}

/** A `name` next to a surname is the first name, and the other way round. */
function asFirstName(matches: Map<string, Match>): void {
  const full = matches.get('full_name');
  const [known, both] = ['first_name', 'last_name'].flatMap((field) => matches.get(field) ?? []);
  if (full === undefined || known === undefined || both !== undefined) return;
  const field = known.field === 'last_name' ? 'first_name' : 'last_name';
  matches.delete('full_name');
  matches.set(field, {
    ...full,
    field,
    confidence: full.confidence * 0.95,
    reason: `a name beside ${known.leaf.path}`,
  });
}

const areSeveralWords = ({ kind, values }: Leaf): boolean =>
  kind === 'value' && values.every((value) => /^[^\d@]*\S\s+\S[^\d@]*$/.test(plain(value ?? null)));

/** Whether a leaf has the other names of people of whom one name is known: those of their addresses, or many different ones next to it. */
function isOtherName(leaf: Leaf, name: Match, leaves: readonly Leaf[], email: Leaf | undefined): boolean {
  const values = present(leaf).map(plain);
  const isNext = name.confidence >= 0.87 && Math.abs(leaves.indexOf(leaf) - leaves.indexOf(name.leaf)) === 1;
  return (
    leaf.kind === 'value' &&
    parentOf(leaf.path) === parentOf(name.leaf.path) &&
    isInMost(leaf) &&
    !areSeveralWords(name.leaf) &&
    values.every((value) => /^(?=.*\p{Lu})[\p{L}’' .-]*$/u.test(value)) &&
    (isInAddresses(leaf, email) || (isNext && values.length > 1 && new Set(values).size > values.length * 0.7))
  );
}

/** Many people make their address of their name: texts of several words, of which most addresses have one, are names. */
function isInAddresses(leaf: Leaf, email: Leaf | undefined): boolean {
  const names = leaf.values.map((value) => plain(value ?? null));
  if (email === undefined) return false;
  const owners = names.filter((name, at) => {
    const words = name
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .split(/[^\p{L}]+/u);
    const [address = ''] = plain(email.values[at] ?? null)
      .toLowerCase()
      .split('@');
    return words.some((word) => word.length > 2 && address.includes(word));
  });
  return owners.length * 2 > names.length;
}
const fits = (look: RegExp) => (value: Json) => look.test(plain(value));

/** A place that may hold people, with the fields of a guest found there. */
export interface People {
  readonly head: JsonObject;
  readonly leaves: readonly Leaf[];
  readonly matches: Map<string, Match>;
  readonly score: number;
  readonly container?: Container;
}

export function scoreOf(matches: ReadonlyMap<string, Match>, words: readonly string[]): number {
  return weigh(matches, worth) * (words.some((word) => guestWords.has(word)) ? 1 : 0.45);
}

/**
 * People have names: an object with only an e-mail is a guest's contact. An object that merely contains a guest is not the guest.
 */
export function innermost(people: readonly People[]): People[] {
  const named = people.filter(({ matches }) =>
    ['last_name', 'first_name', 'full_name'].some((field) => matches.has(field)),
  );
  // An object inside an item is part of that item.
  const inside = (one: People, other: People) =>
    one !== other &&
    (one.container?.kind === 'object' ||
      (isNameAlone(one) && one.container?.words.at(-1)?.startsWith('name') === true)) &&
    within(one, other) !== undefined;
  const holders = named.filter((outer) =>
    named.some((inner) => inside(inner, outer) && !isNameAlone(inner) && rest(outer, inner) < 3.5),
  );
  const whole = named.filter((one) => !holders.includes(one));
  return whole.filter((one) => !whole.some((other) => inside(one, other)));
}

/** An object with only names is part of the enclosing person. */
const isNameAlone = ({ matches }: People) => [...matches.keys()].every((field) => field.endsWith('_name'));

const pathOf = ({ head }: People) => String(head.from);

/** The inner path relative to an item of the outer; undefined if it is elsewhere or inside another list. */
function within(inner: People, outer: People): string | undefined {
  const item = outer.container?.kind === 'list' && !pathOf(outer).endsWith('[]') ? `${pathOf(outer)}[]` : pathOf(outer);
  if (!pathOf(inner).startsWith(`${item}.`)) return undefined;
  const path = pathOf(inner).slice(item.length + 1);
  return path.includes('[]') ? undefined : path;
}

/** The score of the outer object without the inner one. */
function rest(outer: People, inner: People): number {
  const place = within(inner, outer);
  const matches = matchFields(
    outer.leaves.filter(({ path }) => !path.startsWith(`${place}.`)),
    guestVocabulary,
  );
  return scoreOf(matches, outer.container?.words ?? []);
}

/** What looks like a guest, but is not one. */

/** The people of a hotel, an agency or a user; the guests of a hotel, and of the rooms in it, are not. */
export function isStranger({ from }: Container): boolean {
  const words = wordsOf(from.replace(/^[^[]*\.(?=[^.[]+\[\])/, ''));
  return words.some((word, at) => strangerWords.has(word) && !/^guests?$/.test(words[at + 1] ?? ''));
}

export const isGuestName = ({ words }: Container): boolean => guestWords.has(words.at(-1) ?? '');

/** The people of the hotel or of an agency are the same in every record. */
export function isSame(matches: ReadonlyMap<string, Match>): boolean {
  const leaves = ['full_name', 'last_name', 'email'].flatMap((field) => matches.get(field)?.leaf ?? []);
  return leaves.length > 0 && leaves.every(({ values }) => values.length > 2 && new Set(values).size === 1);
}

/** Most firms have one word for a name, and neither an address nor a birthday beside it. */
export function isFirm(matches: ReadonlyMap<string, Match>): boolean {
  const names = present(matches.get('full_name')?.leaf ?? { values: [] });
  const single = names.filter((name) => /^[\p{Script=Latin}\d.&-]+$/u.test(plain(name)));
  return single.length * 2 > names.length && !['email', 'phone', 'date_of_birth'].some((field) => matches.has(field));
}

/** Lists of money and of counts have names too: Cleaning Fee, Adults. */
const amountNames = new Set(['amount', 'price', 'quantity', 'qty', 'value', 'unit value', 'count', 'total']);

export function hasAmounts(items: readonly Json[]): boolean {
  const leaves = leavesOf(items).filter(({ kind, depth }) => kind === 'value' && depth === 0);
  if (leaves.some(({ own }) => own.includes('email') || own.includes('surname') || own.join(' ') === 'last name'))
    return false;
  return leaves.some(
    (leaf) => amountNames.has(leaf.own.join(' ')) && present(leaf).every((value) => /^-?[\d.,]+$/.test(plain(value))),
  );
}
