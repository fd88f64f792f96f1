import { isCurrency } from '../canonical/currency.ts';
import { dateFormat } from './formats.ts';
import { plain } from './kinds.ts';
import { isInEveryItem, type Leaf, present } from './leaf.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields, matchOf } from './match.ts';
import { areStatuses, betterStatus } from './status-field.ts';
import { areNights, stayIn } from './stay-dates.ts';

/**
 * The reservation's own fields: by name, and otherwise by values. A stay is two dates, the second never before the first; a status has
 * known spellings; an id is the first value that is unique in every record.
 */
export function matchReservation(leaves: readonly Leaf[]): Map<string, Match> {
  const found = matchFields(leaves, { lexicon: reservationLexicon, scope: new Set(['reservation', 'booking']) });
  const free = (leaf: Leaf) =>
    leaf.kind === 'value' && leaf.depth <= 2 && ![...found.values()].some((match) => match.leaf === leaf);
  const put = (field: string, leaf: Leaf | undefined, reason: string) => {
    if (leaf !== undefined) found.set(field, matchOf(field, leaf, 0.55, reason));
  };
  const better = betterStatus(found.get('status'), leaves);
  if (better !== undefined) found.set('status', better);
  if (!found.has('status'))
    put('status', shallowest(leaves.filter((leaf) => free(leaf) && areStatuses(leaf))), 'all its values are statuses');
  preferPlainId(found, leaves);
  // A number inside a room or a guest is not the booking's own, if the booking has one.
  const isOfAnother = found.get('id')?.leaf.around.some((word) => reservationLexicon.id.not.has(word));
  if (isOfAnother && found.has('confirmation_number')) found.delete('id');
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
    found.set('check_out', matchOf('check_out', leaf, 0.8, 'the arrival and the nights'));
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

function shallowest(leaves: readonly Leaf[]): Leaf | undefined {
  return [...leaves].sort((a, b) => a.depth - b.depth)[0];
}

/** If every record has a plain `id`, an id under another name is composed or external. */
function preferPlainId(found: Map<string, Match>, leaves: readonly Leaf[]): void {
  const current = found.get('id');
  const id = leaves.find(
    ({ path, depth, kind, own }) => depth === 0 && kind === 'value' && own.join(' ') === 'id' && !path.includes('['),
  );
  if (current === undefined || id === undefined || current.leaf === id || current.leaf.depth > 0) return;
  if (!isOwn(current.leaf) || !isOwn(id)) return;
  found.set('id', matchOf('id', id, 0.9, 'the plain id; every record has its own'));
  if (!found.has('confirmation_number') && current.leaf.own.includes('number'))
    found.set('confirmation_number', { ...current, field: 'confirmation_number', confidence: 0.7 });
}

function areCurrencies(leaf: Leaf): boolean {
  return (
    isInEveryItem(leaf) && present(leaf).every((value) => /^[A-Z]{3}$/.test(plain(value)) && isCurrency(plain(value)))
  );
}

/** A short text or number with a digit, unique in every record. */
function isOwn(leaf: Leaf): boolean {
  const values = present(leaf).map(plain);
  return (
    isInEveryItem(leaf) &&
    new Set(values).size === values.length &&
    dateFormat(present(leaf)) === undefined &&
    values.every((value) => /^[\w./-]{1,40}$/.test(value) && /\d/.test(value))
  );
}
