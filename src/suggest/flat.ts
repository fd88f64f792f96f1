import { withDialCode } from './dial-code.ts';
import type { FlatShape, Sections } from './document.ts';
import { isTiny, plain } from './kinds.ts';
import { type Leaf, present } from './leaf.ts';
import { chargeLexicon, guestLexicon, reservationLexicon, roomLexicon } from './lexicon.ts';
import { type Match, matchFields, matchOf, type Vocabulary } from './match.ts';
import { withAllChildren } from './rooms.ts';
import { type Section, sectionOf } from './section.ts';
import { phrases, wordSet } from './words.ts';

/** Several rows per reservation. */
export interface Flat extends FlatShape {
  readonly reservation: Map<string, Match>;
  readonly sections: Sections;
}

/** How rows are told apart by list: names of their number; without one, the fields that `identify` them. One field of `needs` must be there. */
const lists = {
  guests: {
    keys: phrases('guest id, guest no, guest number, guest:0.7, customer id, person id, profile id'),
    vocabulary: vocabularyOf(guestLexicon, ['guest', 'customer']),
    needs: ['last_name', 'email'],
    identify: ['first_name', 'last_name', 'email'],
    whole: withDialCode,
  },
  charges: {
    keys: phrases(
      'line no, line id, charge id, charge no, charge line, item no:0.9, posting id, transaction id, line:0.8, seq:0.6',
    ),
    vocabulary: vocabularyOf(chargeLexicon, ['charge', 'item', 'line']),
    needs: ['amount'],
    identify: ['code', 'description', 'amount'],
    whole: (section: Section) => section,
  },
  rooms: {
    keys: phrases('room no, room number, room id, room:0.7, unit no:0.9, unit id:0.8, stay id:0.9, room key:0.8'),
    vocabulary: vocabularyOf(roomLexicon, ['room', 'stay']),
    needs: ['room_type', 'adults'],
    identify: ['room_type', 'start_date'],
    whole: withAllChildren,
  },
};

/** Detects rows without inner lists in which the likely id of the reservation repeats. */
export function findFlat(leaves: readonly Leaf[]): Flat | undefined {
  if (leaves.some(({ kind }) => kind === 'many')) return undefined;
  const { id: lexeme } = reservationLexicon;
  // The id repeats here, so the uniqueness rule of `id` must not apply.
  const byName = matchFields(leaves, vocabularyOf({ row_key: lexeme }, ['reservation', 'booking']));
  const key = byName.get('row_key')?.leaf;
  if (key === undefined || present(key).length !== key.values.length || isCounted(key)) return undefined;
  const groups = new Set(key.values.map((value) => plain(value ?? null)));
  if (groups.size === key.values.length) return undefined;

  const { id: _, ...lexicon } = reservationLexicon;
  const reservation = matchFields(leaves, vocabularyOf(lexicon, ['reservation', 'booking']));
  reservation.delete('id');
  for (const [field, match] of reservation) if (match.leaf === key) reservation.delete(field);
  if (!areOneBooking(key, reservation.get('booking_date')?.leaf)) return undefined;
  const reason = `the same in several rows: ${groups.size} reservations in ${key.values.length} rows`;
  const own = new Map([['id', matchOf('id', key, 0.9, reason)], ...reservation]);
  const taken = new Set([...own.values()].map(({ leaf }) => leaf.path));
  const rest = () => leaves.filter(({ path }) => !taken.has(path));
  const part = (prefix: keyof typeof lists) => {
    const { keys, vocabulary, needs, identify, whole } = lists[prefix];
    const place = bestKey(rest(), keys);
    const matches = matchFields(
      rest().filter(({ path }) => path !== place?.path || prefix === 'guests'),
      vocabulary,
    );
    if (!needs.some((field) => matches.has(field))) return undefined;
    for (const { leaf } of matches.values()) taken.add(leaf.path);
    if (place) taken.add(place.path);
    // With a number, only a room needs another field: the same room may be booked for other days.
    const fields = place ? identify.filter((field) => field === 'start_date') : identify;
    const key = [...(place ? [place.path] : []), ...fields.flatMap((field) => matches.get(field)?.leaf.path ?? [])];
    return { section: whole(sectionOf(prefix, {}, matches), leaves), key: key.length > 1 ? key : key[0] };
  };
  const [guests, charges, rooms] = [part('guests'), part('charges'), part('rooms')];
  const found = Object.entries({ guests, rooms, charges });
  return {
    shape: Object.fromEntries([
      ['key', key.path],
      ...found.flatMap(([list, one]) => (one?.key === undefined ? [] : [[list, { key: one.key }]])),
    ]),
    reservation: own,
    sections: Object.fromEntries(found.map(([list, one]) => [list, one ? [one.section] : []])) as unknown as Sections,
    reason: `${key.path} is the same in several rows`,
  };
}

/** Small numbers count something, unless the name says id. */
const isCounted = (leaf: Leaf): boolean => !leaf.own.includes('id') && present(leaf).every(isTiny);

/** Rows of one reservation were booked at one time: any other id that repeats is that of a property or a guest. */
function areOneBooking(key: Leaf, booked: Leaf | undefined): boolean {
  const groups = key.values.map((value) => plain(value ?? null));
  const times = groups.map((_, at) => plain(booked?.values[at] ?? null));
  return groups.every((group, at) => times[at] === times[groups.indexOf(group)]);
}

function vocabularyOf(lexicon: Vocabulary['lexicon'], scope: readonly string[]): Vocabulary {
  return { lexicon, scope: new Set(scope) };
}

/** The leaf with the number of the row's guest, room or line. */
function bestKey(leaves: readonly Leaf[], wanted: ReturnType<typeof phrases>): Leaf | undefined {
  const lexicon = { guest_id: { phrases: wanted, not: wordSet('type name code document category class') } };
  return matchFields(leaves, { lexicon, scope: new Set() }).get('guest_id')?.leaf;
}
