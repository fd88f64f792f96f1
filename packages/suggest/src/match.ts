import type { Json } from '../../../src/terms.ts';
import { compatibility } from './kinds.ts';
import { type Leaf, present } from './leaf.ts';
import type { Lexeme } from './lexicon.ts';
import { fit, wordSet } from './words.ts';

/** A field and the leaf chosen for it. */
export interface Match {
  readonly field: string;
  readonly leaf: Leaf;
  /** Alternatives, tried in order if the first is empty. */
  readonly others: readonly Leaf[];
  readonly confidence: number;
  readonly reason: string;
}

export interface Vocabulary {
  readonly lexicon: Readonly<Record<string, Lexeme>>;
  /** Words that only name the owner: the guest in guestEmail. */
  readonly scope: ReadonlySet<string>;
}

const least = 0.5;

/**
 * The best leaf for each field: the surest pairs first, no leaf twice. Only a channel may fall back to the source: systems that set a
 * channel only for outside bookings name the origin of the others there.
 */
export function matchFields(leaves: readonly Leaf[], { lexicon, scope }: Vocabulary): Map<string, Match> {
  const pairs: Omit<Match, 'others'>[] = [];
  for (const [field, lexeme] of Object.entries(lexicon)) {
    for (const leaf of leaves) {
      const scored = scoreOf(field, lexeme, leaf, scope);
      if (scored !== undefined) pairs.push({ field, leaf, ...scored });
    }
  }
  pairs.sort((a, b) => b.confidence - a.confidence || a.leaf.path.length - b.leaf.path.length);
  const matches = new Map<string, Match>();
  const taken = new Set<string>();
  for (const pair of pairs) {
    if (matches.has(pair.field) || taken.has(pair.leaf.path)) continue;
    matches.set(pair.field, { ...pair, others: [] });
    taken.add(pair.leaf.path);
  }
  for (const [field, match] of matches) {
    const others = alternatives(match, pairs, field === 'channel' ? new Set() : taken);
    if (others.length > 0) matches.set(field, { ...match, others });
  }
  return matches;
}

function scoreOf(
  field: string,
  { phrases, not }: Lexeme,
  leaf: Leaf,
  scope: ReadonlySet<string>,
): { confidence: number; reason: string } | undefined {
  const bare = leaf.own.filter((word) => !scope.has(word));
  const named = Math.max(
    fit(leaf.own, leaf.around, phrases, not),
    bare.length > 0 && bare.length < leaf.own.length ? fit(bare, leaf.around, phrases, not) : 0,
  );
  const name = named * 0.985 ** leaf.depth * (isOthers(field, leaf) ? 0.3 : 1);
  if (name < 0.4) return undefined;
  const { score, seen } = compatibility(field, leaf);
  if (score < 0.4) return undefined;
  const share = present(leaf).length / Math.max(1, leaf.values.length);
  const confidence = (0.72 * name + 0.28 * score) * (0.88 + 0.12 * share);
  if (confidence < least) return undefined;
  const byName = named >= 0.95 ? 'its name says so' : named >= 0.75 ? 'its name is close' : 'its name may mean it';
  const how = leaf.isKey ? 'records are grouped under it' : byName;
  return { confidence, reason: `${how}; ${seen}` };
}

const others = wordSet('owner owners host hosts commission commissions payout payouts');

/** What the owner, the host or an agent gets is not what the guest pays. */
function isOthers(field: string, { own, around }: Leaf): boolean {
  return (field === 'total_amount' || field === 'amount') && [...own, ...around].some((word) => others.has(word));
}

/** Leaves with values where the chosen one is empty. */
function alternatives(match: Match, pairs: readonly Omit<Match, 'others'>[], taken: Set<string>): Leaf[] {
  const missing = new Set(match.leaf.values.flatMap((value, index) => (value === undefined ? [index] : [])));
  const others: Leaf[] = [];
  for (const { field, leaf } of pairs) {
    if (missing.size === 0 || others.length === 2) break;
    if (field !== match.field || leaf === match.leaf || taken.has(leaf.path) || leaf.kind !== 'value') continue;
    const filled = [...missing].filter((index) => leaf.values[index] !== undefined);
    if (filled.length === 0) continue;
    for (const index of filled) missing.delete(index);
    others.push(leaf);
    taken.add(leaf.path);
  }
  return others;
}

/** A leaf that was chosen by other signs than its name. */
export const matchOf = (field: string, leaf: Leaf, confidence: number, reason: string): Match => {
  return { field, leaf, others: [], confidence, reason };
};

/** Whether a leaf has a field already. */
export const isUsed = (matches: ReadonlyMap<string, Match>, { path }: Leaf): boolean =>
  [...matches.values()].some(({ leaf }) => leaf.path === path);

/** How much was found: the confidence of each match, times the worth of its field. */
export function weigh(matches: ReadonlyMap<string, Match>, worth: Readonly<Record<string, number>>): number {
  return [...matches].reduce((sum, [field, { confidence }]) => sum + (worth[field] ?? 0) * confidence, 0);
}

/** The values of a match, one per item. */
export function valuesOf({ leaf, others }: Pick<Match, 'leaf' | 'others'>): (Json | undefined)[] {
  return leaf.values.map(
    (value, index) => value ?? others.map((other) => other.values[index]).find((one) => one !== undefined),
  );
}
