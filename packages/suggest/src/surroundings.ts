import { isCurrency } from '../../../src/canonical/currency.ts';
import { pathWalker } from '../../../src/json-path/read.ts';
import { isObject, type Json } from '../../../src/terms.ts';
import { plain } from './kinds.ts';
import { isInEveryItem, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields } from './match.ts';
import type { Root } from './root.ts';

/**
 * What is stated once for several reservations: in the booking or property that encloses them, or, of a currency, beside their list.
 */
export function fieldsAround({ path = '', envelope }: Root): Match[] {
  const holders = /^(.+)\[\]\.[^.[\]]+$/.exec(path)?.[1];
  const parents = holders === undefined ? [] : pathWalker(holders)(envelope);
  const { currency, confirmation_number, channel, source } = reservationLexicon;
  const own = fieldsIn(parents, '$parent', { currency, confirmation_number, channel, source }, 0);
  return own.some(({ field }) => field === 'currency')
    ? own
    : [...own, ...fieldsIn([envelope], '$body', { currency }, 6)];
}

function fieldsIn(
  objects: readonly Json[],
  start: string,
  lexicon: typeof reservationLexicon | object,
  deepest: number,
): Match[] {
  const leaves = leavesOf(objects.filter(isObject)).filter(
    (leaf) => leaf.kind === 'value' && leaf.depth <= deepest && !leaf.path.includes('[') && isInEveryItem(leaf),
  );
  const found = matchFields(leaves, { lexicon: { ...lexicon }, scope: new Set(['reservation', 'booking']) });
  return [...found.values()]
    .filter(({ field, leaf }) => field !== 'currency' || present(leaf).every((value) => isCurrency(plain(value))))
    .map(({ leaf, confidence, ...match }) => {
      const path = `${start}.${leaf.path}`;
      const reason = 'stated once for all reservations that it contains';
      return { ...match, leaf: { ...leaf, path, source: path }, confidence: confidence * 0.9, reason };
    });
}
