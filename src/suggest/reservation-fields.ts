import { isCurrency } from '../canonical/currency.ts';
import { dateFormat } from './formats.ts';
import { plain } from './kinds.ts';
import { type Leaf, present } from './leaves.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields } from './match.ts';
import { guessStatus, statedStatus } from './vocabulary.ts';

/**
 * The reservation's own fields: by name, and otherwise by values. A stay is two dates, the second never before the first; a status has
 * known spellings; an id is the first value that is unique in every record.
 */
export function matchReservation(leaves: readonly Leaf[]): Map<string, Match> {
  const found = matchFields(leaves, { lexicon: reservationLexicon, scope: new Set(['reservation', 'booking']) });
  const free = (leaf: Leaf) =>
    leaf.kind === 'value' && leaf.depth <= 2 && ![...found.values()].some((match) => match.leaf === leaf);
  const put = (field: string, leaf: Leaf | undefined, reason: string) => {
    if (leaf !== undefined) found.set(field, { field, leaf, others: [], confidence: 0.55, reason });
  };
  const better = betterStatus(found.get('status'), leaves);
  if (better !== undefined) found.set('status', better);
  if (!found.has('status'))
    put('status', shallowest(leaves.filter((leaf) => free(leaf) && areStatuses(leaf))), 'all its values are statuses');
  preferPlainId(found, leaves);
  if (!found.has('currency'))
    put(
      'currency',
      shallowest(leaves.filter((leaf) => free(leaf) && areCurrencies(leaf))),
      'all its values are currencies',
    );
  if (!found.has('check_in') || !found.has('check_out')) {
    const stay = stayIn(leaves.filter(free), found.get('check_in')?.leaf, found.get('check_out')?.leaf);
    const reason = 'two dates of which the second is never before the first';
    if (stay && !found.has('check_in')) put('check_in', stay[0], reason);
    if (stay && !found.has('check_out')) put('check_out', stay[1], reason);
  }
  const arrival = found.get('check_in');
  const nights = arrival === undefined || found.has('check_out') ? undefined : leaves.find(areNights);
  if (arrival !== undefined && nights !== undefined) {
    const { path } = arrival.leaf;
    const source = { path, add_days: nights.path };
    const leaf = { ...arrival.leaf, source, path: `${path} + ${nights.path}` };
    found.set('check_out', {
      field: 'check_out',
      leaf,
      others: [],
      confidence: 0.8,
      reason: 'the arrival and the nights',
    });
  }
  if (!found.has('id') && !found.has('confirmation_number'))
    put(
      'id',
      leaves.find((leaf) => leaf.depth === 0 && free(leaf) && isOwn(leaf)),
      'every record has its own',
    );
  // Without an id every record would be lost.
  if (!found.has('id') && !found.has('confirmation_number'))
    put('id', idInList(leaves), 'the first of a list of ids; every record has its own');
  return found;
}

function idInList(leaves: readonly Leaf[]): Leaf | undefined {
  const isId = ({ own, around }: Leaf) =>
    [...own, ...around.slice(-2)].some((word) => ['id', 'ids', 'number', 'reference', 'code'].includes(word));
  return leaves
    .filter((leaf) => leaf.kind === 'many' && isId(leaf))
    .map((leaf): Leaf => {
      const path = leaf.path.replace('.*.', '[0].');
      const values = leaf.values.map((all) => (Array.isArray(all) ? all[0] : undefined));
      return { ...leaf, kind: 'value', path, source: path, values };
    })
    .find(isOwn);
}

const lifecycle: ReadonlySet<string> = new Set(['checked_in', 'checked_out', 'no_show']);

/**
 * Systems often have an old status beside the current one, or the state of a message beside that of the stay. The field whose
 * spellings are known, and which shows arrival and departure, is the status; the other one fills its gaps.
 */
function betterStatus(current: Match | undefined, leaves: readonly Leaf[]): Match | undefined {
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
    const lives = known.some((status) => status !== undefined && lifecycle.has(status));
    return share + (lives ? 0.5 : 0) + 0.2 * (values.length / leaf.values.length) - 0.05 * leaf.depth;
  };
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

function shallowest(leaves: readonly Leaf[]): Leaf | undefined {
  return [...leaves].sort((a, b) => a.depth - b.depth)[0];
}

const everywhere = (leaf: Leaf) => leaf.values.length > 0 && present(leaf).length === leaf.values.length;

/** At least two statuses: a field that is `new` or `booking` everywhere is a kind of record. */
function areStatuses(leaf: Leaf): boolean {
  const told = present(leaf).map((value) => (plain(value).length > 1 ? guessStatus(plain(value)) : undefined));
  return everywhere(leaf) && !told.includes(undefined) && new Set(told).size > 1;
}

/** If every record has a plain `id`, an id under another name is composed or external. */
function preferPlainId(found: Map<string, Match>, leaves: readonly Leaf[]): void {
  const current = found.get('id');
  const id = leaves.find(({ depth, kind, own }) => depth === 0 && kind === 'value' && own.join(' ') === 'id');
  if (current === undefined || id === undefined || current.leaf === id || current.leaf.depth > 0) return;
  if (!isOwn(current.leaf) || !isOwn(id)) return;
  found.set('id', {
    ...current,
    leaf: id,
    others: [],
    confidence: 0.9,
    reason: 'the plain id; every record has its own',
  });
}

function areCurrencies(leaf: Leaf): boolean {
  return (
    everywhere(leaf) && present(leaf).every((value) => /^[A-Z]{3}$/.test(plain(value)) && isCurrency(plain(value)))
  );
}

const nightNames = new Set([
  'nights',
  'night',
  'number of nights',
  'number nights',
  'num nights',
  'night count',
  'nights count',
  'length of stay',
  'length stay',
  'los',
  'nachte',
  'nuits',
  'noches',
  'notti',
]);

function areNights(leaf: Leaf): boolean {
  return (
    leaf.kind === 'value' &&
    leaf.depth <= 1 &&
    nightNames.has(leaf.own.join(' ')) &&
    everywhere(leaf) &&
    present(leaf).every((value) => /^\d{1,3}$/.test(plain(value)))
  );
}

/** A short text or number with a digit, unique in every record. */
function isOwn(leaf: Leaf): boolean {
  const values = present(leaf).map(plain);
  return (
    everywhere(leaf) &&
    new Set(values).size === values.length &&
    dateFormat(present(leaf)) === undefined &&
    values.every((value) => /^[\w./-]{1,40}$/.test(value) && /\d/.test(value))
  );
}

/** The first two sibling dates that can be a stay: the second is 1 to 366 days after the first in every record. */
function stayIn(leaves: readonly Leaf[], start: Leaf | undefined, end: Leaf | undefined): [Leaf, Leaf] | undefined {
  const dates = leaves.filter((leaf) => everywhere(leaf) && dateFormat(present(leaf))?.share === 1);
  const parent = ({ path }: Leaf) => path.slice(0, Math.max(0, path.lastIndexOf('.')));
  for (const first of start ? [start] : dates) {
    for (const second of end ? [end] : dates) {
      if (first === second || parent(first) !== parent(second)) continue;
      const nights = first.values.map((value, index) =>
        daysBetween(plain(value ?? null), plain(second.values[index] ?? null)),
      );
      if (nights.every((count) => count !== undefined && count >= 1 && count <= 366)) return [first, second];
    }
  }
  return undefined;
}

/** Days between two dates of one format, with the year first or last. */
function daysBetween(from: string, to: string): number | undefined {
  const ms = (text: string): number => {
    const first = /^(\d{4})[-/.]?(\d{2})[-/.]?(\d{2})/.exec(text);
    if (first) return Date.UTC(Number(first[1]), Number(first[2]) - 1, Number(first[3]));
    const last = /^(\d{1,2})[-/.](\d{1,2})[-/.](\d{4})/.exec(text);
    return last ? Date.UTC(Number(last[3]), Number(last[2]) - 1, Number(last[1])) : Number.NaN;
  };
  const days = (ms(to) - ms(from)) / 86_400_000;
  return Number.isNaN(days) ? undefined : days;
}
