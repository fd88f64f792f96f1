import type { ListName } from '../../../src/core/canonical/fields.ts';
import type { Json, JsonObject } from '../../../src/terms.ts';
import type { FlatShape, Sections } from './document.ts';
import { daysOf } from './formats.ts';
import { isInEveryItem, isTiny, isUnique, type Leaf, parentOf, plain, present } from './leaf.ts';
import { chargeLexicon, reservationLexicon } from './lexicon.ts';
import { type Match, matchFields, matchOf } from './match.ts';
import { matchReservation } from './reservation-fields.ts';
import { type Section, sectionOf } from './section.ts';
import { phrases, wordSet } from './words.ts';

/** One reservation in several rows: a row per room, guest, night or line of the bill. */
export interface Rows {
  /** What the rows of a reservation share; it becomes the id. */
  readonly key: Match;
  /** The reservation of each row. */
  readonly groups: readonly string[];
  /** The row's own id. */
  readonly own: Leaf | undefined;
  readonly reason: string;
}

export function findRows(leaves: readonly Leaf[]): Rows | undefined {
  return repeatedId(leaves) ?? masterRows(leaves);
}

/** The likely id of the reservation repeats. */
function repeatedId(leaves: readonly Leaf[]): Rows | undefined {
  const { id, booking_date, check_in, check_out } = reservationLexicon;
  // Under another name, because the rules for an id demand that it does not repeat.
  const matches = matchFields(leaves, {
    lexicon: { row_key: id, booking_date, check_in, check_out },
    scope: new Set(['reservation', 'booking']),
  });
  const key = matches.get('row_key')?.leaf;
  // Small numbers count something, unless the name says id.
  if (key === undefined || !isInEveryItem(key)) return undefined;
  if (!key.own.includes('id') && present(key).every(isTiny)) return undefined;
  const groups = key.values.map((value) => plain(value ?? null));
  const { size } = new Set(groups);
  // Rows of one reservation were booked at one time for one stay: any other id that repeats is that of a property or a guest.
  if (size === groups.length || varies(matches.get('booking_date')?.leaf, groups)) return undefined;
  const [starts = [], ends = []] = ['check_in', 'check_out'].map((field) => daysOf(matches.get(field)?.leaf.values));
  const isApart = (at: number, other: number) =>
    groups[at] === groups[other] && Number(starts[at]) > Number(ends[other]);
  if (groups.some((_, at) => groups.some((_one, other) => isApart(at, other)))) return undefined;
  const reason = `the same in several rows: ${size} reservations in ${groups.length} rows`;
  const own = leaves.find((leaf) => leaf.depth === 0 && leaf.own.includes('id') && isUnique(leaf));
  return { key: matchOf('id', key, 0.9, reason), groups, own, reason: `${key.path} is the same in several rows` };
}

const masterWords = wordSet('master parent main lead group');

/** The rows of a group name the id of their first row. */
function masterRows(leaves: readonly Leaf[]): Rows | undefined {
  const id = matchReservation(leaves).get('id');
  const ids = id?.leaf.values.map((value) => plain(value ?? null)) ?? [];
  const isOther = (value: Json | undefined, at: number) =>
    value !== undefined && plain(value) !== ids[at] && ids.includes(plain(value));
  const master = leaves.find(
    (leaf) =>
      leaf !== id?.leaf &&
      leaf.kind === 'value' &&
      leaf.depth === 0 &&
      leaf.own.some((word) => masterWords.has(word)) &&
      leaf.values.some(isOther),
  );
  if (id === undefined || master === undefined) return undefined;
  const empty = [...new Set(present(master).filter((value) => /^0+$/.test(plain(value))))];
  const groups = master.values.map((value, at) =>
    value === undefined || empty.includes(value) ? (ids[at] ?? '') : plain(value),
  );
  const first: Json = empty.length === 0 ? master.path : { path: master.path, empty };
  const key = { ...id.leaf, source: { first: [first, id.leaf.path] } };
  const reason = `${master.path} names the ${id.leaf.path} of another row: rows of one reservation`;
  return { key: { ...id, leaf: key }, groups, own: id.leaf, reason };
}

/** Whether rows of one reservation have different values. */
export function varies(leaf: Leaf | undefined, groups: readonly string[]): boolean {
  return groups.some((group, at) => {
    const first = leaf?.values[groups.indexOf(group)];
    const value = leaf?.values[at];
    return value !== undefined && first !== undefined && plain(value) !== plain(first);
  });
}

/** The fields of the first row of each reservation. */
export function firstRows(leaves: readonly Leaf[], groups: readonly string[]): Leaf[] {
  const isFirst = (at: number) => groups.indexOf(groups[at] ?? '') === at;
  return leaves.map((leaf) => ({ ...leaf, values: leaf.values.filter((_, at) => isFirst(at)) }));
}

/** Names of the number of a row's guest, room or line. */
const numbers = {
  guests: phrases('guest id, guest no, guest number, guest:0.7, customer id, person id, profile id'),
  rooms: phrases('room no, room number, room id, room:0.7, unit no:0.9, unit id:0.8, stay id:0.9, room key:0.8'),
  charges: phrases(
    'line no, line id, charge id, charge no, charge line, item no:0.9, posting id, transaction id, line:0.8, seq:0.6',
  ),
};
const notNumbers = wordSet('type name code document category class');

function numberOf(list: keyof typeof numbers, leaves: readonly Leaf[]): Leaf | undefined {
  const lexicon = { guest_id: { phrases: numbers[list], not: notNumbers } };
  return matchFields(leaves, { lexicon, scope: new Set() }).get('guest_id')?.leaf;
}

/** The lines of a bill, one in each row. */
export function chargesInRows(leaves: readonly Leaf[], groups: readonly string[]): Section | undefined {
  const number = numberOf('charges', leaves);
  const others = leaves.filter((leaf) => leaf !== number);
  const matches = matchFields(others, { lexicon: chargeLexicon, scope: wordSet('charge item line') });
  const { amount } = Object.fromEntries(matches);
  const isLine = ['code', 'description'].some((field) => {
    const leaf = matches.get(field)?.leaf;
    return varies(leaf, groups) && parentOf(leaf?.path ?? '') === parentOf(amount?.leaf.path ?? '');
  });
  return amount && isLine && varies(amount.leaf, groups) ? sectionOf('charges', { from: '$item' }, matches) : undefined;
}

/** `shape.flat`: rows with the same key are one guest, room or line; without a key, rows with the same content. */
export function flatOf({ key, own, reason, groups }: Rows, leaves: readonly Leaf[], sections: Sections): FlatShape {
  const inRows = (list: ListName) => sections[list].find(({ map }) => map.from === '$item');
  const names = [...(inRows('guests')?.matches.values() ?? [])];
  const isRowOfRoom = own?.path === key.leaf.path || !names.some(({ leaf }) => varies(leaf, groups));
  const keys = (['guests', 'rooms', 'charges'] as const).flatMap((list): [string, JsonObject][] => {
    const section = inRows(list);
    const number = section && numberOf(list, leaves);
    const start = list === 'rooms' ? section?.matches.get('start_date')?.leaf.path : undefined;
    // The same room may be booked for other days.
    if (number) return [[list, { key: start ? [number.path, start] : number.path }]];
    return section && list === 'rooms' && own && isRowOfRoom ? [[list, { key: own.path }]] : [];
  });
  return { shape: { key: key.leaf.source, ...Object.fromEntries(keys) }, reason };
}
