import { isCurrency } from '../../../src/core/canonical/values.ts';
import { largestOf, wholeOf } from './amounts.ts';
import { dateFormat, daysOf } from './formats.ts';
import { isInEveryItem, isInMost, isUnique, type Leaf, parentOf, plain, present } from './leaf.ts';
import { reservationLexicon } from './lexicon.ts';
import { type Match, matchFields, matchOf, valuesOf } from './match.ts';
import { areStatuses, betterStatus } from './status.ts';
import { areNights, putStay } from './stay-dates.ts';
import { guessStatus } from './vocabulary.ts';

/**
 * The reservation's own fields: by name, and otherwise by values. A stay is two dates, the second never before the first; a status has
 * known spellings; an id is the first value that is unique in every record.
 */
export function matchReservation(all: readonly Leaf[]): Map<string, Match> {
  const leaves = all.filter((leaf) => !isRegion(leaf, all));
  const matches = matchFields(leaves, { lexicon: reservationLexicon, scope: new Set(['reservation', 'booking']) });
  const free = (leaf: Leaf) =>
    leaf.kind === 'value' && leaf.depth <= 2 && ![...matches.values()].some((match) => match.leaf === leaf);
  const put = (field: string, leaf: Leaf | undefined, reason: string) => {
    if (leaf !== undefined) matches.set(field, matchOf(field, leaf, 0.55, reason));
  };
  const better = betterStatus(matches.get('status'), leaves);
  if (better !== undefined) matches.set('status', better);
  preferPlainId(matches, leaves);
  // Only a few records have the days of a service; every one has those of its stay.
  for (const field of ['check_in', 'check_out']) if (!coversMost(matches.get(field))) matches.delete(field);
  const booked = matches.get('booking_date');
  // A day that is weakly taken for that of the booking may be one of the stay.
  if (booked && booked.confidence < 0.7) matches.delete('booking_date');
  putStay(matches, leaves.filter(free), ['check_in', 'check_out']);
  if (booked && free(booked.leaf)) matches.set('booking_date', booked);
  const arrival = matches.get('check_in');
  const nights = arrival === undefined || matches.has('check_out') ? undefined : leaves.find(areNights);
  if (arrival !== undefined && nights !== undefined) {
    const { path } = arrival.leaf;
    const source = { path, add_days: nights.path };
    const leaf = { ...arrival.leaf, source, path: `${path} + ${nights.path}` };
    matches.set('check_out', matchOf('check_out', leaf, 0.8, 'the arrival and the nights'));
  }
  for (const { field, twin = field, reason, find } of byValues)
    if (!matches.has(field) && !matches.has(twin))
      put(field, find(shallowFirst(leaves.filter(free)), matches, leaves), reason);
  const id = matches.get('id');
  const beside = id && isElsewhere(id.leaf, matches) ? leaves.find((leaf) => isBesideDates(leaf, matches)) : undefined;
  if (beside !== undefined) matches.set('id', matchOf('id', beside, 0.7, 'a number of its own beside the dates'));
  const total = matches.get('total_amount');
  const whole = total && wholeOf(total.leaf, leaves);
  if (whole !== undefined)
    matches.set('total_amount', matchOf('total_amount', whole, 0.8, `includes ${total?.leaf.path} and another amount`));
  return matches;
}

/** The state of an address: TN. */
const isRegion = (leaf: Leaf, leaves: readonly Leaf[]): boolean =>
  leaf.own.join(' ') === 'state' &&
  present(leaf).every((value) => /^[A-Z]{2,3}$/.test(plain(value))) &&
  leaves.some(({ own, path }) => parentOf(path) === parentOf(leaf.path) && ['city', 'zip'].includes(own.at(-1) ?? ''));

const coversMost = (match: Match | undefined): boolean =>
  match !== undefined && valuesOf(match).filter((value) => value !== undefined).length >= match.leaf.values.length / 2;

interface ByValues {
  readonly field: string;
  /** A field that serves as well. */
  readonly twin?: string;
  readonly reason: string;
  /** Among leaves without a field, those of the record itself first; `all` has lists as well. */
  readonly find: (free: readonly Leaf[], matches: ReadonlyMap<string, Match>, all: readonly Leaf[]) => Leaf | undefined;
}

/** How a field looks, whatever its name. */
const byValues: readonly ByValues[] = [
  {
    field: 'status',
    reason: 'its values are statuses',
    find: (free) => free.find(areStatuses) ?? free.find(tellsCancellations),
  },
  {
    field: 'currency',
    reason: 'all its values are currencies',
    find: (free, _, all) => free.find(areCurrencies) ?? firstsOf(all).find(areCurrencies),
  },
  {
    field: 'total_amount',
    reason: 'the largest amount',
    find: (free) => largestOf(free, reservationLexicon.total_amount.not),
  },
  {
    field: 'booking_date',
    reason: 'the first date of the record, before the arrival',
    find: (free, matches) => earliest(free, matches.get('check_in')?.leaf),
  },
  {
    field: 'channel',
    twin: 'source',
    reason: 'names of booking sites',
    find: (free, _, all) => free.find(areChannels) ?? firstsOf(all).find(areChannels),
  },
  {
    field: 'id',
    reason: 'every record has its own',
    // Without an id every record would be lost; a confirmation number that is unique can be the id.
    find: (free, matches, all) => {
      const number = matches.get('confirmation_number');
      if (number && isUnique(number.leaf)) return undefined;
      const own = free.filter((leaf) => leaf.depth === 0 && isOwn(leaf));
      return own[0] ?? firstsOf(all.filter(isNumbered)).find(isOwn);
    },
  },
];

/** Whether a leaf is in another object than the record and its dates, such as the number of a message. */
const isElsewhere = ({ path, depth }: Leaf, matches: ReadonlyMap<string, Match>): boolean =>
  depth > 0 && parentOf(path) !== parentOf(matches.get('check_in')?.leaf.path ?? path);
const isBesideDates = (leaf: Leaf, matches: ReadonlyMap<string, Match>): boolean =>
  leaf.kind === 'value' && !isElsewhere(leaf, matches) && isNumbered(leaf) && isOwn(leaf);

const isNumbered = ({ own, around }: Leaf) =>
  [...own, ...around.slice(-2)].some((word) => ['id', 'ids', 'number', 'reference', 'code'].includes(word));

/** Fields of objects in a list, read from its first item. */
const firstsOf = (leaves: readonly Leaf[]): Leaf[] =>
  leaves
    .filter(({ kind }) => kind === 'many')
    .map((leaf): Leaf => {
      const path = leaf.path.replace('.*.', '[0].');
      const values = leaf.values.map((all) => (Array.isArray(all) ? all[0] : undefined));
      return { ...leaf, kind: 'value', path, source: path, values };
    });

/** The earliest date that is at most three years before the arrival in every record, and never after it. */
function earliest(leaves: readonly Leaf[], arrival: Leaf | undefined): Leaf | undefined {
  if (arrival === undefined) return undefined;
  const arrivals = daysOf(arrival.values);
  const { not } = reservationLexicon.booking_date;
  const [first] = leaves
    .filter((leaf) => !leaf.own.some((word) => not.has(word)) && isInEveryItem(leaf))
    .map((leaf) => ({ leaf, days: daysOf(leaf.values).map((day, at) => (arrivals[at] ?? 0) - day) }))
    .filter(({ days }) => days.every((count) => count >= 0 && count < 1100) && days.some((count) => count > 0))
    .sort((a, b) => sumOf(b.days) - sumOf(a.days));
  return first?.leaf;
}
const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, one) => sum + one, 0);

const sites =
  /^(?:booking\.?com|airbnb|expedia|agoda|vrbo|homeaway|hostelworld|c?trip(?:\.com)?|hotels\.com|hrs|despegar|direct|website|walk.?in)\b/i;

const areChannels = (leaf: Leaf): boolean =>
  !leaf.own.some((word) => ['number', 'reference', 'ref', 'confirmation'].includes(word)) &&
  present(leaf).filter((value) => sites.test(plain(value))).length * 3 >= leaf.values.length;

/** Some of its codes mean cancelled, and a few others cover the rest. */
function tellsCancellations(leaf: Leaf): boolean {
  const codes = [...new Set(present(leaf).map(plain))];
  const gone = codes.filter((code) => guessStatus(code) === 'cancelled');
  const isNamedAfter = leaf.own.some((word) => /^cancel|policy/.test(word));
  return isInEveryItem(leaf) && !isNamedAfter && gone.length > 0 && gone.length < codes.length && codes.length <= 6;
}

function shallowFirst(leaves: readonly Leaf[]): Leaf[] {
  return [...leaves].sort((a, b) => a.depth - b.depth);
}

/** If every record has a plain `id`, an id under another name is composed or external. */
function preferPlainId(matches: Map<string, Match>, leaves: readonly Leaf[]): void {
  const current = matches.get('id');
  const id = leaves.find(
    ({ path, depth, kind, own }) => depth === 0 && kind === 'value' && own.join(' ') === 'id' && !path.includes('['),
  );
  if (current === undefined || id === undefined || current.leaf === id || current.leaf.depth > 0) return;
  if (!isOwn(current.leaf) || !isOwn(id)) return;
  matches.set('id', matchOf('id', id, 0.9, 'the plain id; every record has its own'));
  if (!matches.has('confirmation_number') && current.leaf.own.includes('number'))
    matches.set('confirmation_number', { ...current, field: 'confirmation_number', confidence: 0.7 });
}

function areCurrencies(leaf: Leaf): boolean {
  return isInMost(leaf) && present(leaf).every((value) => /^[A-Z]{3}$/.test(plain(value)) && isCurrency(plain(value)));
}

/** A short text or number with a digit, unique in every record. */
function isOwn(leaf: Leaf): boolean {
  return (
    isUnique(leaf) &&
    dateFormat(present(leaf)) === undefined &&
    present(leaf).every((value) => /^[\w./-]{1,40}$/.test(plain(value)) && /\d/.test(plain(value)))
  );
}
