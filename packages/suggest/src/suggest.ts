import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { findCharges } from './charges.ts';
import { containersOf } from './containers.ts';
import { envelopeLines, type FlatShape, listsOf, pullOf, type Sections, shapeOf, unmappedIn } from './document.ts';
import { findGuests } from './guests.ts';
import { isUnique, type Leaf } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { reservationLexicon } from './lexicon.ts';
import { isUsed, type Match, matchOf } from './match.ts';
import { findPaging } from './paging.ts';
import { plainJson } from './plain-json.ts';
import { matchReservation } from './reservation-fields.ts';
import { findRooms } from './rooms.ts';
import { findRoot, keyLeaf, type Root } from './root.ts';
import { chargesInRows, findRows, firstRows, flatOf, type Rows, varies } from './rows.ts';
import { type FieldLine, fieldMap, lineOf } from './section.ts';
import { codedStatuses, spellingsOf, statedElsewhere } from './spellings.ts';
import { computedStatus, signsBeside } from './status.ts';
import { liftedLeaves } from './stay-dates.ts';
import { cancellationsBeside, fieldsAround } from './surroundings.ts';
import { type Table, tablesOf, withLookups } from './tables.ts';
import { wordsOf } from './words.ts';
import { asWritten, writtenPath } from './written-paths.ts';

export interface SuggestOptions {
  /** The connector's name; new-pms by default. */
  readonly name?: string;
  /** As pull.adapter: the sample is what it made of a response. */
  readonly adapter?: string;
}

export type Suggestion =
  | {
      readonly kind: 'ok';
      /** The proposed document. */
      readonly connector: JsonObject;
      /** The reason for each field, including `shape.root_path`, `shape.flat` and `pull.pagination`. */
      readonly fields: readonly FieldLine[];
      /** Paths of the sample's records that are not mapped. */
      readonly unmapped: readonly string[];
      /** Statuses without words, each with its count: only the partner can say what they mean. */
      readonly unknown: readonly string[];
    }
  | {
      readonly kind: 'nothing';
      /** Its lists have no item: an answer with reservations may be understood. */
      readonly isEmpty: boolean;
      readonly message: string;
    };

/** Proposes a connector from a response alone, with a reason for each line. It has no knowledge of particular partners. */
export function suggestConnector(sample: Json, options: SuggestOptions = {}): Suggestion {
  const plain = plainJson(sample);
  const suggestion = suggestPlain(plain.sample, options);
  if (suggestion.kind !== 'ok') return suggestion;
  const read = plain.paths === undefined ? suggestion : putBack(suggestion, plain.paths);
  return { ...read, unmapped: unmappedIn(sample, read.connector) };
}

type Fields = Omit<Suggestion & { kind: 'ok' }, 'unmapped'>;

/** With the paths that the response itself has. */
function putBack({ connector, fields, ...rest }: Fields, paths: ReadonlyMap<string, string>): Fields {
  const written = writtenPath(isObject(connector.shape) ? connector.shape.root_path : undefined, paths);
  const lines = fields.map((line) => ({ ...line, path: written(line.path) }));
  return { ...rest, connector: asWritten(connector, paths), fields: lines };
}

function suggestPlain(sample: Json, options: SuggestOptions): Fields | (Suggestion & { kind: 'nothing' }) {
  const root = findRoot(sample);
  if (root === undefined) {
    const lists = listsIn(sample);
    const isEmpty = lists.length > 0 && lists.every((list) => list.length === 0);
    if (isEmpty)
      return {
        kind: 'nothing',
        isEmpty,
        message: 'The list in the sample is empty: take an answer with reservations in it.',
      };
    return {
      kind: 'nothing',
      isEmpty,
      message:
        'No list in the sample has records with the two dates of a stay. If it is a response with reservations, its dates have a form or a place that is not recognised: write the connector by hand (docs/reference/mapping.md) and try it with innbound map.',
    };
  }
  const paging = findPaging(root.envelope, root.path);
  const own = leavesOf(root.records);
  const leaves = [
    ...own,
    ...keyLeaf(root.keys, own),
    ...(root.stays === undefined ? [] : liftedLeaves(root.records, root.stays)),
  ];
  const fieldsOfRoot = fieldsOf(root, leaves);
  const { values, unknown } = spellingsOf(fieldsOfRoot.reservation, fieldsOfRoot.sections);
  const further =
    fieldsOfRoot.flat === undefined
      ? cancellationsBeside(root, fieldsOfRoot.reservation.get('id'), fieldsOfRoot.map.status)
      : undefined;
  const shape = { ...shapeOf(root, paging, fieldsOfRoot.flat), ...(further && { also: [further.also] }) };
  const map = { ...fieldsOfRoot.map, ...(further && { status: further.status }), ...listsOf(fieldsOfRoot.sections) };
  const connector: JsonObject = {
    connector: options.name ?? 'new-pms',
    pull: { ...(options.adapter && { adapter: options.adapter }), ...pullOf(paging) },
    ...(Object.keys(shape).length > 0 && { shape }),
    map,
    ...(Object.keys(values).length > 0 && { values }),
    unknown_status: 'other',
  };
  return {
    kind: 'ok',
    connector,
    fields: [
      ...envelopeLines(root, paging, fieldsOfRoot.flat),
      ...(further ? [further.line] : []),
      ...fieldsOfRoot.lines,
      ...Object.values(fieldsOfRoot.sections)
        .flat()
        .flatMap(({ lines }) => lines),
    ],
    unknown,
  };
}

/** Every list that is in no other list. */
const listsIn = (value: Json): readonly (readonly Json[])[] =>
  Array.isArray(value) ? [value] : isObject(value) ? Object.values(value).flatMap(listsIn) : [];

interface MappedFields {
  readonly reservation: ReadonlyMap<string, Match>;
  readonly map: JsonObject;
  readonly lines: readonly FieldLine[];
  readonly sections: Sections;
  readonly flat?: FlatShape;
}

function fieldsOf(root: Root, all: readonly Leaf[]): MappedFields {
  const unkeyed = all.filter(({ isKey }) => isKey !== true);
  const rows = findRows(unkeyed);
  // Rows may come from several responses, so they can neither join a table of one response nor have a key in it.
  const [tables, leaves] = rows ? [[], unkeyed] : [tablesOf(root.envelope, root.path), all];
  const containers = containersOf(root.records);
  const { sections: guests, taken } = findGuests(containers, leaves, tables, root.stays);
  // A list of stays that contains its guests is still the list of rooms.
  const people = taken.filter((from) => from !== root.stays);
  const isPersonal = (path: string) =>
    people.some((from) => path === from || path.startsWith(`${from}.`) || path.startsWith(`${from}[`));
  const plain = leaves.filter(({ path }) => !isPersonal(path));
  const lines = rows && chargesInRows(plain, rows.groups);
  const others = lines ? plain.filter((leaf) => !isUsed(lines.matches, leaf)) : plain;
  const reservation = wholeFields(root, others, tables, rows);
  const [start, end] = [reservation.get('check_in'), reservation.get('check_out')];
  const own = new Set(
    [...reservation.values()].filter((one) => one !== start && one !== end).map(({ leaf }) => leaf.path),
  );
  const rooms = findRooms({
    containers,
    recordLeaves: leaves,
    tables,
    taken: (path) => isPersonal(path) || own.has(path),
    stays: root.stays,
    surnames: guests.flatMap(({ matches }) => matches.get('last_name')?.leaf.values ?? []).map((name) => String(name)),
    dates: new Map([...(start ? [['start_date', start] as const] : []), ...(end ? [['end_date', end] as const] : [])]),
    status: reservation.get('status'),
  });
  const impersonal = containers.filter(({ from }) => !isPersonal(from));
  const charges = findCharges(impersonal, tables, rooms, reservation);
  const { map, ...fields } = reservationFields(reservation, leaves, charges.computed);
  const sections = {
    guests,
    rooms: rooms === undefined ? [] : [rooms],
    charges: [...charges.sections, ...(lines ? [lines] : [])],
  };
  if (rows === undefined) return { ...fields, map, sections };
  const total = reservation.get('total_amount')?.leaf;
  const isPart = total !== undefined && typeof map.total_amount === 'string' && varies(total, rows.groups);
  const sum = isPart && { total_amount: { sum: `$rows.*.${total.path}` } };
  return { ...fields, map: { ...map, ...sum }, sections, flat: flatOf(rows, leaves, sections) };
}

/** The fields of the reservation itself. */
function wholeFields(
  root: Root,
  leaves: readonly Leaf[],
  tables: readonly Table[],
  rows: Rows | undefined,
): Map<string, Match> {
  const reservation = matchReservation(
    withLookups(rows ? firstRows(leaves, rows.groups) : leaves, tables, ['status', 'state', 'channel', 'source']),
  );
  const listed = idOfList(root.path, leaves);
  if (listed && Number(reservation.get('id')?.confidence ?? 0) < 0.88) reservation.set('id', listed);
  const number = reservation.get('confirmation_number');
  // A confirmation number that is unique in every record can be the id.
  if (!reservation.has('id') && number !== undefined && isUnique(number.leaf))
    reservation.set('id', { ...number, field: 'id' });
  const second =
    number !== undefined && reservation.get('id')?.leaf === number.leaf ? secondNumber(number, leaves) : undefined;
  if (second !== undefined) reservation.set('confirmation_number', second);
  if (rows === undefined) {
    for (const match of fieldsAround(root))
      if (match.confidence > (reservation.get(match.field)?.confidence ?? 0)) reservation.set(match.field, match);
    return reservation;
  }
  const inAllRows = (leaf: Leaf) => leaves.find(({ path }) => path === leaf.path) ?? leaf;
  const further = [...reservation].filter(([field, { leaf }]) => field !== 'id' && leaf.path !== rows.key.leaf.path);
  return new Map([
    ['id', rows.key],
    ...further.map(([field, match]) => [field, { ...match, leaf: inAllRows(match.leaf) }] as const),
  ]);
}

/** The id that is named after the list: OrderId in Orders. */
function idOfList(path: string | undefined, leaves: readonly Leaf[]): Match | undefined {
  const [name = ''] = wordsOf(path?.replace(/.*\./, '') ?? '');
  const names = [name, name.replace(/s$/, '')].map((one) => `${one} id`);
  const leaf = leaves.find((one) => one.depth === 0 && names.includes(one.own.join(' ')) && isUnique(one));
  return leaf && matchOf('id', leaf, 0.85, 'named after the list; every record has its own');
}

/** A further number beside the one that became the id. */
function secondNumber(first: Match, leaves: readonly Leaf[]): Match | undefined {
  const others = leaves.filter(({ path, kind }) => path !== first.leaf.path && kind === 'value');
  const number = matchReservation(others).get('confirmation_number');
  return number !== undefined && number.confidence >= 0.7 ? number : undefined;
}

const fromCharges = {
  path: 'the charges',
  confidence: 0.6,
  reason: 'not a field of the reservation; computed from its charges',
};

/** The reservation's own fields; `computed` fills those without a leaf. */
function reservationFields(
  matches: ReadonlyMap<string, Match>,
  leaves: readonly Leaf[],
  computed: JsonObject,
): Omit<MappedFields, 'sections' | 'flat'> {
  const map: JsonObject = {};
  const lines: FieldLine[] = [];
  for (const field of Object.keys(reservationLexicon)) {
    const match = matches.get(field);
    if (match === undefined) {
      const own = field === 'status' ? computedStatus(leaves) : { map: computed[field], ...fromCharges };
      const { map: stand, ...line } = own;
      if (stand === undefined) continue;
      map[field] = stand;
      lines.push({ field, ...line });
      continue;
    }
    const { map: said, remark } = fieldMap(match);
    const cases = field === 'status' ? [...signsBeside(match, leaves), ...statedElsewhere(match, leaves)] : [];
    map[field] = cases.length === 0 ? said : { first: [...cases, said] };
    const isGuess = field === 'status' && (cases.length > 0 || codedStatuses(match).length > 0);
    const sure = isGuess ? { ...match, confidence: Math.min(match.confidence, 0.85) } : match;
    lines.push(lineOf('', sure, cases.length === 0 ? remark : 'other fields say more and come first'));
  }
  return { reservation: matches, map, lines };
}
