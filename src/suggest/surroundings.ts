import { isCurrency } from '../canonical/currency.ts';
import { pathWalker } from '../json-path/read.ts';
import { isObject, type Json } from '../terms.ts';
import { plain } from './kinds.ts';
import { isInEveryItem, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields } from './match.ts';
import type { Root } from './root.ts';

/** A currency that is stated once: beside the list of reservations, or in what encloses them, such as the property. */
export function currencyAround({ path = '', envelope }: Root): Match | undefined {
  const holders = /^(.+)\[\]\.[^.[\]]+$/.exec(path)?.[1];
  return (
    (holders === undefined ? undefined : currencyIn(pathWalker(holders)(envelope), '$parent')) ??
    currencyIn([envelope], '$body')
  );
}

function currencyIn(objects: readonly Json[], start: string): Match | undefined {
  const leaves = leavesOf(objects.filter(isObject)).filter(
    (leaf) =>
      leaf.kind === 'value' &&
      !leaf.path.includes('[') &&
      isInEveryItem(leaf) &&
      present(leaf).every((value) => isCurrency(plain(value))),
  );
  const found = matchFields(leaves, { lexicon: { currency: reservationLexicon.currency }, scope: new Set() }).get(
    'currency',
  );
  if (found === undefined) return undefined;
  const path = `${start}.${found.leaf.path}`;
  const reason = 'stated once for all reservations of the response';
  return { ...found, leaf: { ...found.leaf, path, source: path }, confidence: 0.85, reason };
}
