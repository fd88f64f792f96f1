import type { Json } from '../../../src/terms.ts';
import type { Container } from './containers.ts';
import { plain } from './kinds.ts';
import { present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { guestWords, strangerWords } from './lexicon.ts';
import type { Match } from './match.ts';
import { wordsOf } from './words.ts';

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
