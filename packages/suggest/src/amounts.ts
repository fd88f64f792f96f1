import type { Json } from '../../../src/terms.ts';
import { dateFormat, numberFormat } from './formats.ts';
import { isInEveryItem, isInMost, type Leaf, plain, present } from './leaf.ts';
import { isKnown } from './words.ts';

/** What the amounts of a record say about each other, whatever their names. */

export function amountOf(value: Json | undefined): number {
  const text = plain(value ?? null);
  return Number(/,\d{1,2}$/.test(text) ? text.replaceAll('.', '').replace(',', '.') : text.replaceAll(',', ''));
}

export const isEqual = (a: number, b: number): boolean => Math.abs(a - b) < 0.005;

/** Whether a count times a price is the total in every item. */
export const isProduct = (count: Leaf, price: Leaf, total: Leaf): boolean =>
  isInEveryItem(total) &&
  count.values.every((value, at) => isEqual(amountOf(value) * amountOf(price.values[at]), amountOf(total.values[at])));

/** The amount that includes the given one: with a third amount, such as the tax, the part is the whole in every record; else what was paid, if it is always more. */
export function wholeOf(part: Leaf, leaves: readonly Leaf[]): Leaf | undefined {
  const sums = leaves.filter((leaf) => leaf.kind === 'value' && leaf !== part && isInEveryItem(leaf));
  const all = sums.map((leaf) => ({ leaf, values: leaf.values.map(amountOf) }));
  // Longer numbers are ids.
  const amounts = all.filter(({ values }) => values.every((value) => Math.abs(value) < 1e10));
  const own = part.values.map(amountOf);
  if (own.length < 2 || own.some(Number.isNaN)) return undefined;
  const sum = amounts.find(({ values: whole }) => {
    const rest = whole.map((value, at) => value - (own[at] ?? 0));
    return (
      rest.every((value) => value >= 0) &&
      rest.some((value) => value > 0) &&
      amounts.some(({ values }) => values.every((value, at) => isEqual(value, rest[at] ?? Number.NaN)))
    );
  });
  // Nobody pays more than the total in every record.
  const isPaid = ({ own: words }: Leaf) => words.includes('total') && words.includes('paid');
  const paid = amounts.find(({ leaf, values }) => isPaid(leaf) && values.every((value, at) => value > Number(own[at])));
  return (sum ?? paid)?.leaf;
}

const moneyWords = new Set('amount total price cost sum gross value'.split(' '));
const taxWords = new Set('tax taxes vat'.split(' '));
/** Words by which an amount says whether it includes taxes; a tax itself has none of them. */
const taxedWords = new Set('before after excl excluding incl including inc with without net'.split(' '));

const isAboutTax = (word: string, { own }: Leaf): boolean =>
  taxedWords.has(word) || (taxWords.has(word) && own.some((one) => taxedWords.has(one)));

/** The largest amount of every record, without those that are paid by or to others; without a name, the largest number. */
export function largestOf(leaves: readonly Leaf[], others: ReadonlySet<string>): Leaf | undefined {
  const free = leaves.filter((leaf) => !leaf.own.some((word) => others.has(word) && !isAboutTax(word, leaf)));
  const named = free.filter(
    (leaf) =>
      leaf.kind === 'value' &&
      isInMost(leaf) &&
      leaf.own.some((word) => moneyWords.has(word)) &&
      numberFormat(present(leaf)) !== undefined &&
      present(leaf).some((value) => amountOf(value) > 0),
  );
  const amounts = named.length > 0 ? named : free.filter(areAmounts);
  const isLargest = (one: Leaf) =>
    amounts.every((other) =>
      one.values.every((value, at) => value === undefined || amountOf(value) >= amountOf(other.values[at])),
    );
  return amounts.find(isLargest);
}

/** Numbers of which the largest is far from the smallest: ids are close to each other. */
function areAmounts(leaf: Leaf): boolean {
  const numbers = present(leaf).map(amountOf);
  const isNumber =
    leaf.kind === 'value' && isInMost(leaf) && numbers.length > 1 && numbers.every((one) => one === 0 || one >= 10);
  // A name that is understood would say that it is an amount.
  if (leaf.own.some(isKnown)) return false;
  return isNumber && Math.max(...numbers) > 1.2 * Math.min(...numbers) && dateFormat(present(leaf)) === undefined;
}
