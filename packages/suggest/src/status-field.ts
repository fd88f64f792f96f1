import { plain } from './kinds.ts';
import { isInEveryItem, type Leaf, present } from './leaf.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchOf } from './match.ts';
import { guessStatus, statedStatus } from './vocabulary.ts';

const lifecycle: ReadonlySet<string> = new Set(['checked_in', 'checked_out', 'no_show']);

/**
 * Systems often have an old status beside the current one, or the state of a message beside that of the stay. The field whose
 * spellings are known, and which shows arrival and departure, is the status; the other one fills its gaps.
 */
export function betterStatus(current: Match | undefined, leaves: readonly Leaf[]): Match | undefined {
  if (current === undefined) return undefined;
  const { not } = reservationLexicon.status;
  const isStatus = ({ own, around, kind, depth }: Leaf) =>
    kind === 'value' &&
    depth <= 3 &&
    [...own, ...around.slice(-2)].some((word) => word === 'status' || word === 'state') &&
    ![...own, ...around].some((word) => not.has(word));
  const worth = (leaf: Leaf): number => {
    const values = present(leaf);
    const known = values.map((value) => statedStatus(plain(value)));
    const share = known.filter((status) => status !== undefined).length / Math.max(1, values.length);
    const lives = !isConstant(leaf) && known.some((status) => status !== undefined && lifecycle.has(status));
    return share + (lives ? 0.5 : 0) + 0.2 * (values.length / leaf.values.length) - 0.05 * leaf.depth;
  };
  const isVague = isConstant(current.leaf) || isOfMessage(current.leaf);
  const varied = leaves.find(
    (leaf) =>
      leaf.depth <= 1 &&
      areStatuses(leaf) &&
      !leaf.own.some((word) => not.has(word)) &&
      (isConstant(current.leaf) || isCancelledIn(leaf)),
  );
  if (isVague && varied !== undefined)
    return matchOf('status', varied, 0.75, `all its values are statuses; ${current.leaf.path} says less`);
  const [best] = leaves.filter((leaf) => leaf !== current.leaf && isStatus(leaf)).sort((a, b) => worth(b) - worth(a));
  if (best === undefined || worth(best) < worth(current.leaf) + 0.2) return undefined;
  const gaps = best.values.some((value) => value === undefined);
  return {
    field: 'status',
    leaf: best,
    others: gaps ? [current.leaf] : [],
    confidence: 0.8,
    reason: 'its values are known statuses, more than those of other fields with this name',
  };
}

const isCancelledIn = (leaf: Leaf): boolean => present(leaf).some((value) => guessStatus(plain(value)) === 'cancelled');
/** Unknown words such as retrieved, and never a cancellation. */
const isOfMessage = (leaf: Leaf): boolean =>
  !isCancelledIn(leaf) && present(leaf).some((value) => guessStatus(plain(value)) === undefined);
const isConstant = (leaf: Leaf): boolean =>
  leaf.values.length > 2 && new Set(leaf.values.map((value) => plain(value ?? null))).size === 1;

/** At least two statuses: a field that is `new` or `booking` everywhere is a kind of record. */
export function areStatuses(leaf: Leaf): boolean {
  const meanings = present(leaf).map((value) => (plain(value).length > 1 ? guessStatus(plain(value)) : undefined));
  return isInEveryItem(leaf) && !meanings.includes(undefined) && new Set(meanings).size > 1;
}
