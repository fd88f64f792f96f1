import type { Json } from '../terms.ts';
import { withDialCode } from './dial-code.ts';
import type { FlatShape, Sections } from './document.ts';
import { isTiny, plain } from './kinds.ts';
import { type Leaf, present } from './leaf.ts';
import { chargeLexicon, guestLexicon, reservationLexicon, roomLexicon } from './lexicon.ts';
import { type Match, matchFields, matchOf, type Vocabulary } from './match.ts';
import { withAllChildren } from './rooms.ts';
import { type Section, sectionOf } from './section.ts';
import { phrases } from './words.ts';

/** Several rows per reservation. */
export interface Flat extends FlatShape {
  readonly reservation: Map<string, Match>;
  readonly sections: Sections;
}

const keys = {
  guests: phrases('guest id, guest no, guest number, guest:0.7, customer id, person id, profile id'),
  rooms: phrases('room no, room number, room id, room:0.7, unit no:0.9, unit id:0.8, stay id:0.9, room key:0.8'),
  charges: phrases(
    'line no, line id, charge id, charge no, charge line, item no:0.9, posting id, transaction id, line:0.8, seq:0.6',
  ),
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
  const part = (
    prefix: 'guests' | 'rooms' | 'charges',
    vocabulary: Vocabulary,
    keep: (matches: Map<string, Match>) => boolean,
  ) => {
    const place = bestKey(rest(), keys[prefix]);
    const matches = matchFields(
      rest().filter(({ path }) => path !== place?.path || prefix === 'guests'),
      vocabulary,
    );
    if (!keep(matches)) return undefined;
    for (const { leaf } of matches.values()) taken.add(leaf.path);
    if (place) taken.add(place.path);
    const section = sectionOf(prefix, {}, matches);
    const whole = { guests: withDialCode, rooms: withAllChildren, charges: (one: Section) => one }[prefix];
    return { section: whole(section, leaves), key: keyOf(prefix, place, matches) };
  };
  const guests = part(
    'guests',
    vocabularyOf(guestLexicon, ['guest', 'customer']),
    (matches) => matches.has('last_name') || matches.has('email'),
  );
  const charges = part('charges', vocabularyOf(chargeLexicon, ['charge', 'item', 'line']), (matches) =>
    matches.has('amount'),
  );
  const rooms = part(
    'rooms',
    vocabularyOf(roomLexicon, ['room', 'stay']),
    (matches) => matches.has('room_type') || matches.has('adults'),
  );
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
  const lexicon = {
    guest_id: { phrases: wanted, not: new Set(['type', 'name', 'code', 'document', 'category', 'class']) },
  };
  return matchFields(leaves, { lexicon, scope: new Set() }).get('guest_id')?.leaf;
}

const identifying = {
  guests: ['first_name', 'last_name', 'email'],
  rooms: ['room_type', 'start_date'],
  charges: ['code', 'description', 'amount'],
};

/** The number, plus the start date for a room; without a number, the fields that identify the item. */
function keyOf(
  prefix: keyof typeof identifying,
  place: Leaf | undefined,
  matches: ReadonlyMap<string, Match>,
): Json | undefined {
  const paths = (fields: readonly string[]) => fields.flatMap((field) => matches.get(field)?.leaf.path ?? []);
  const start = prefix === 'rooms' ? paths(['start_date']) : [];
  const parts = place ? [place.path, ...start] : paths(identifying[prefix]);
  return parts.length === 0 ? undefined : parts.length === 1 ? parts[0] : parts;
}
