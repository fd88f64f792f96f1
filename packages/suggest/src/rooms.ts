import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import type { Container } from './containers.ts';
import { daysOf } from './formats.ts';
import { isInEveryItem, isSharedId, isTiny, type Leaf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { roomLexicon, roomWords } from './lexicon.ts';
import { isUsed, type Match, matchFields, matchOf, type Vocabulary, weigh } from './match.ts';
import { hasAmounts } from './people.ts';
import { goneCondition, type Section, sectionOf, withField, withWhere } from './section.ts';
import { firstLeaves, isNightly, nightLeaves, putStay } from './stay-dates.ts';
import { countPersons, type Table, withLookups } from './tables.ts';
import { guessBoard, guessStatus } from './vocabulary.ts';
import { fit, phrases, wordSet, wordsOf } from './words.ts';

const vocabulary: Vocabulary = { lexicon: roomLexicon, scope: wordSet('room stay unit requested n no num nb nbr') };
const worth = { room_type: 3, rate_code: 2, adults: 2, children: 1, board: 2, start_date: 1, end_date: 1 };

export interface RoomContext {
  readonly containers: readonly Container[];
  readonly recordLeaves: readonly Leaf[];
  readonly tables: readonly Table[];
  /** Paths that belong to guests or to the reservation. */
  readonly taken: (path: string) => boolean;
  /** The list of stays in each record, if the record itself has no dates. */
  readonly stays: string | undefined;
  /** Of the guests: a room may bear the name of its guest. */
  readonly surnames: readonly string[];
  /** The arrival as start_date, the departure as end_date. */
  readonly dates: ReadonlyMap<string, Match>;
  readonly status: Match | undefined;
}

/** The rooms: a list in the record, or the record itself if it is one room. */
export function findRooms(context: RoomContext): Section | undefined {
  const { containers, recordLeaves, tables, taken, dates, stays, surnames, status } = context;
  const nightly = containers.filter((one) => one.kind === 'list' && !taken(one.from) && isNightly(one));
  const leaves = [
    ...recordLeaves,
    ...nightly.flatMap((nights) => firstLeaves(nights, recordLeaves[0]?.values.length ?? 0)),
  ];
  const own = matchFields(
    withLookups(
      leaves.filter((leaf) => (!taken(leaf.path) || isHeadCount(leaf)) && !isBareName(leaf)),
      tables,
    ),
    vocabulary,
  );
  withBoard(
    own,
    recordLeaves.filter(({ path, depth }) => depth <= 1 && !taken(path)),
  );
  const persons = countPersons(containers, tables);
  const best = containers
    .filter(({ kind, from }) => kind === 'list' && (from === stays || !taken(from) || isRoomList(from)))
    .filter((container) => !nightly.includes(container))
    .map((container) => {
      const isGuest = (value: Json) => surnames.some((name) => plain(value).endsWith(` ${name}`));
      const own = leavesOf(container.items).filter((leaf) => !isBareName(leaf) || !present(leaf).every(isGuest));
      const leaves = [...own.map(named), ...nightLeaves(container)];
      const matches = withBoard(matchFields(withLookups(leaves, tables), vocabulary), leaves);
      putStay(matches, leaves, ['start_date', 'end_date']);
      headsIn(matches, leaves);
      if (matches.has('adults')) putOfParent(matches, container, containers);
      const type = matches.has('room_type') || !matches.has('adults') ? undefined : productIn(leaves, matches);
      if (type) matches.set('room_type', type);
      return { container, leaves, matches, score: weigh(matches, worth) };
    })
    .filter(({ score, matches, container }) => score >= leastScore(container, matches, context))
    .sort((a, b) => b.score - a.score || a.container.depth - b.container.depth)[0];
  if (best) {
    const one = new Set(best.container.owners).size === best.container.owners.length;
    const { from } = best.container;
    for (const field of ['room_type', 'board', 'rate_code', 'adults', 'children']) {
      const match = own.get(field);
      const isShared = one || field === 'board' || field === 'rate_code';
      // Of several rooms, none has the type or the people of the whole.
      const when = isShared ? undefined : { [`$record.${from}[1]`]: { exists: false } };
      const isKnown = match?.leaf.kind === 'value' && (isShared || !from.includes('['));
      const source = isKnown ? inRecord(match.leaf.source, when) : undefined;
      if (match && source !== undefined && !best.matches.has(field))
        best.matches.set(field, { ...match, leaf: { ...match.leaf, path: `$record.${match.leaf.path}`, source } });
    }
    putOfParent(best.matches, best.container, containers);
    for (const [field, { leaf }] of from === stays ? [] : dates) {
      const source = inRecord(leaf.source, undefined);
      const whole =
        source && matchOf(field, { ...leaf, path: `$record.${leaf.path}`, source }, 0.75, 'those of the booking');
      if (whole && !best.matches.has(field)) best.matches.set(field, whole);
    }
    // Keep cancelled stays: the status of the reservation covers them.
    const where = from === stays ? undefined : goneCondition(best.leaves);
    const section = sectionOf('rooms', withWhere({ from }, where && orSameAs(status, where)), best.matches);
    return withAllChildren({ ...section, leaves: best.leaves }, best.leaves);
  }
  for (const field of ['start_date', 'end_date', ...Object.keys(persons)]) own.delete(field);
  for (const [field, match] of dates) own.set(field, { ...match, field });
  const type = own.get('room_type');
  const free = recordLeaves.filter(({ path }) => !taken(path));
  const product = type === undefined || isSameEverywhere(type) ? productIn(free, own, areShared) : undefined;
  if (product) own.set('room_type', product);
  headsIn(own, recordLeaves);
  if (weigh(own, worth) < (product ? 1.5 : 3.5) && Object.keys(persons).length === 0) return undefined;
  return withAllChildren(sectionOf('rooms', { from: '$item' }, own, persons), recordLeaves);
}

/** A room that was cancelled with its booking stays, like the booking. */
function orSameAs(status: Match | undefined, where: JsonObject): Json {
  const [[path, test] = []] = Object.entries(where);
  const isShared = isObject(test) && [test.not].flat().some((value) => status?.leaf.values.includes(value));
  return isShared && path ? [where, { [path]: { same_as: `$record.${status?.leaf.path}` } }] : where;
}

/** A field with more than the numbers of an id. */
const isNamed = (match: Match | undefined): boolean =>
  match !== undefined && (match.field !== 'room_type' || present(match.leaf).some((value) => /\D/.test(plain(value))));

/** The fields of the list around a list, such as a type with its rooms; their values are one per item of that list. */
function putOfParent(matches: Map<string, Match>, { inside }: Container, containers: readonly Container[]): void {
  const parent = containers.find((one) => one.from === inside.at(-1) && one.kind === 'list');
  const leaves = leavesOf(parent?.items ?? [])
    .filter(({ kind, depth }) => kind === 'value' && depth === 0)
    .map(named)
    .map((leaf) => ({ ...leaf, path: `$parent.${leaf.path}`, source: `$parent.${leaf.path}` }));
  for (const [field, match] of matchFields(leaves, vocabulary))
    if (field !== 'adults' && field !== 'children' && !isNamed(matches.get(field))) matches.set(field, match);
}

/** A source in the record, as an item of a list reads it. */
function inRecord(source: Json, when: JsonObject | undefined): Json | undefined {
  if (typeof source === 'string') return when ? { path: `$record.${source}`, when } : `$record.${source}`;
  return isObject(source) && isObject(source.pick)
    ? { pick: { ...source.pick, from: `$record.${source.pick.from}` }, ...(when && { when }) }
    : undefined;
}

/** A board under another name: all its values are boards, and not all of them the same. */
function withBoard(matches: Map<string, Match>, leaves: readonly Leaf[]): Map<string, Match> {
  const board = leaves.find((leaf) => {
    const meanings = new Set(present(leaf).map((value) => guessBoard(plain(value))));
    return leaf.kind === 'value' && !isUsed(matches, leaf) && meanings.size > 1 && !meanings.has(undefined);
  });
  if (board !== undefined && !matches.has('board'))
    matches.set('board', matchOf('board', board, 0.6, 'all its values are boards'));
  return matches;
}

/** A list whose name says nothing about rooms must look like them: a type, and how many people. */
function leastScore(container: Container, matches: ReadonlyMap<string, Match>, { stays }: RoomContext): number {
  const isRoomField = ({ own, depth }: Leaf) => depth === 0 && roomWords.has(own[0] ?? '');
  const words = container.words.some((word) => roomWords.has(word)) || leavesOf(container.items).some(isRoomField);
  const isNamed = container.from === stays || words;
  if (!isNamed && !(matches.has('room_type') && matches.has('adults'))) return Number.POSITIVE_INFINITY;
  if (!isNamed) return hasAmounts(container.items) ? 4 : 3.5;
  // A list that is named after rooms needs no more than their names.
  // What a property has is not what was booked.
  const isOffered = container.words.some((word) => ['property', 'properties', 'listing', 'hotel'].includes(word));
  const areRooms = isRoomList(container.from) && !isOffered && (matches.has('room_type') || matches.has('adults'));
  return container.from === stays || areRooms ? 2 : 3.5;
}

/** Whether a list is named after rooms. */
const isRoomList = (path: string): boolean => wordsOf(path.replace(/.*\./, '')).some((word) => roomWords.has(word));

const daysOfStay = (matches: ReadonlyMap<string, Match>): number[][] =>
  ['start_date', 'end_date'].map((field) => daysOf(matches.get(field)?.leaf.values));

const childPhrases = phrases(
  'children, child, child count, kids, infants, infant, infant count, teens, teen, teenagers, juniors, junior, youths, small children',
);
const notChildren = wordSet(
  'age ages bed beds price rate amount fee tax allowed policy adult adults max total name unit room pet pets dog dogs car cars cot cots',
);

/** Children in several fields, by age: the canonical count is their sum. */
function withAllChildren(section: Section, leaves: readonly Leaf[]): Section {
  const main = section.matches.get('children')?.leaf;
  const fields = section.map.fields as JsonObject;
  if (main === undefined || main.kind !== 'value' || main.path.startsWith('$')) return section;
  const counted = section.matches.get('adults')?.leaf;
  const isSame = (a: Leaf, b: Leaf) =>
    a.values.every((value, index) => Number(value ?? 0) === Number(b.values[index] ?? 0));
  const isCount = (leaf: Leaf) => {
    const own = leaf.own.filter((word, index) => !/^(?:[a-z]|\d+|number|num|count|guests)$/.test(word) || index === 0);
    return (
      leaf.kind === 'value' &&
      leaf.path !== main.path &&
      leaf.path !== counted?.path &&
      parentOf(leaf) === parentOf(main) &&
      fit(own, [], childPhrases, notChildren) >= 0.75 &&
      present(leaf).length > 0 &&
      present(leaf).every((value) => /^\d{1,2}$/.test(plain(value))) &&
      (leaf.own.includes('infants') || !(isSame(leaf, main) && present(leaf).some((value) => Number(value) > 0)))
    );
  };
  const more = leaves.filter(isCount);
  if (more.length === 0) return section;
  const sum = [fields.children as Json, ...more.map(({ source }) => source)];
  return withField(section, 'children', { sum }, 'all fields of children are added up');
}

/** Typed members of one list, such as [type=CHD].count, are siblings too. */
const parentOf = ({ path }: Leaf): string => path.replace(/(?:\[[^\]]*=[^\]]*\]\.[^.]+|\.?[^.]+)$/, '');

/** The one property of an account, or a word such as "rooms", is not what distinguishes a booking. */
function isSameEverywhere({ leaf, confidence }: Match): boolean {
  const texts = present(leaf).map(plain);
  return confidence < 0.9 && texts.length > 2 && new Set(texts).size === 1;
}

const otherNames = wordSet(
  'status state channel source origin customer guest user hotel property account country city company agent agency rate payment currency partner provider platform brand chain tax note notes holder contact person member group market segment language first last full display nick',
);

/** Texts that some records share, but not all. */
const areShared = (texts: readonly string[]) => new Set(texts).size > 1 && new Set(texts).size < texts.length;

/** What is booked, if no field is named after a room: the longest of the short texts. A weak guess. */
function productIn(
  leaves: readonly Leaf[],
  matches: ReadonlyMap<string, Match>,
  fits = (_: readonly string[]) => true,
) {
  const [best] = leaves
    .filter((leaf) => leaf.kind === 'value' && leaf.depth <= 2 && !isUsed(matches, leaf) && isInEveryItem(leaf))
    .filter(({ own, around }) => ![...own, ...around].some((word) => otherNames.has(word)))
    .map((leaf) => ({ leaf, texts: present(leaf).map(plain) }))
    .filter(({ texts }) => fits(texts) && !texts.some(isTiny))
    .filter(({ texts }) => texts.every((text) => text.length <= 60 && /\p{L}{3}/u.test(text) && !/[@:/]/.test(text)))
    .filter(({ texts }) => !texts.some((text) => guessStatus(text) !== undefined || guessBoard(text) !== undefined))
    .sort((a, b) => b.texts.join('').length - a.texts.join('').length);
  return best && matchOf('room_type', best.leaf, 0.5, 'short texts; nothing is named after a room');
}

/** Adults and children of a list of people, or by their numbers: counts beside each other, of which the adults are hardly ever none. */
function headsIn(own: Map<string, Match>, leaves: readonly Leaf[]): void {
  for (const leaf of leaves)
    if (leaf.counts !== undefined && !own.has(leaf.counts))
      own.set(leaf.counts, matchOf(leaf.counts, leaf, 0.8, 'counted in a list of people'));
  const children = own.get('children')?.leaf;
  const named = own.get('adults')?.leaf;
  const [arrivals, departures] = daysOfStay(own);
  const nights = departures?.map((day, at) => day - (arrivals?.[at] ?? 0)) ?? [];
  const isCount = (leaf: Leaf) =>
    leaf.kind === 'value' &&
    leaf.depth <= 2 &&
    present(leaf).length > 0 &&
    present(leaf).every((value) => /^1?\d$/.test(plain(value))) &&
    !leaf.values.every((value, at) => Number(value) === nights[at]);
  const counts = leaves.filter(isCount);
  const isAlways = ({ values }: Leaf) => values.filter((value) => Number(value) > 0).length >= values.length * 0.8;
  const isSeveral = (leaf: Leaf) => present(leaf).some((value) => Number(value) > 1);
  const siblings = (leaf: Leaf) => counts.filter((one) => one !== leaf && parentOf(one) === parentOf(leaf));
  const isNext = (one: Leaf, leaf: Leaf) => one === leaves[leaves.indexOf(leaf) + 1] && !isAlways(one);
  const isBesideOther = (leaf: Leaf) =>
    isSeveral(leaf) && siblings(leaf).some((one) => one.path.includes('=') || isNext(one, leaf));
  const adults = counts.find(
    (leaf) => isAlways(leaf) && (children ? siblings(leaf).includes(children) : isBesideOther(leaf)),
  );
  if (adults && !named) own.set('adults', matchOf('adults', adults, 0.5, 'a count, rarely none, beside another'));
  const isOther = (leaf: Leaf) =>
    named ? isNext(leaf, named) && isSeveral(leaf) && !leaf.own.some((word) => notChildren.has(word)) : !isAlways(leaf);
  const main = named ?? adults;
  const other = main && siblings(main).find(isOther);
  if (other && !children) own.set('children', matchOf('children', other, 0.5, 'a count beside that of the adults'));
}

const bareNames = wordSet('name type code title kind label description');

/** In a list of rooms a plain `name` is the room's; at the top of a record it is not. */
const isBareName = ({ own, depth }: Leaf): boolean => depth === 0 && bareNames.has(own.join(' '));
const named = (leaf: Leaf): Leaf =>
  isBareName(leaf) || (leaf.depth === 0 && isSharedId(leaf)) ? { ...leaf, own: ['room', ...leaf.own] } : leaf;

const headWords = wordSet('adult adults child children kids');

/** The number of people may be among the fields of the guest who booked. */
function isHeadCount({ own, kind, values }: Leaf): boolean {
  return (
    kind === 'value' &&
    own.some((word) => headWords.has(word)) &&
    values.every((value) => value === undefined || /^\d{1,2}$/.test(plain(value)))
  );
}
