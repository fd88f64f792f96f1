import type { Json, JsonObject } from '../terms.ts';
import type { Container } from './containers.ts';
import { consentOf, documentKind, fromFullName } from './guest-fields.ts';
import { plain } from './kinds.ts';
import { type Leaf, leavesOf, present } from './leaves.ts';
import { bookerWords, fullNameLexeme, guestLexicon, guestWords, secondNameLexeme, strangerWords } from './lexicon.ts';
import { type Match, matchFields, type Vocabulary } from './match.ts';
import { matchReservation } from './reservation-fields.ts';
import { goneCondition, type Section, sectionOf, withWhere } from './section.ts';
import { refersBack, refersTo, type Table } from './tables.ts';

const vocabulary: Vocabulary = {
  lexicon: { ...guestLexicon, full_name: fullNameLexeme, second_name: secondNameLexeme },
  scope: new Set(['guest', 'customer', 'person', 'profile', 'client']),
};

const worth: ReadonlyMap<string, number> = new Map<string, number>(
  Object.entries({
    last_name: 3,
    first_name: 2,
    full_name: 3,
    email: 3,
    phone: 2,
    date_of_birth: 1,
    nationality: 1,
    document_number: 1,
  }),
);

interface People {
  readonly head: JsonObject;
  readonly leaves: readonly Leaf[];
  readonly matches: Map<string, Match>;
  readonly score: number;
  readonly container?: Container;
}

/** The guests: lists and objects of people in the record, or a table of people that it refers to. */
export function findGuests(
  containers: readonly Container[],
  recordLeaves: readonly Leaf[],
  tables: readonly Table[],
  stays: string | undefined,
): { readonly sections: readonly Section[]; readonly taken: readonly string[] } {
  const bodies = bodiesIn(containers);
  const people = containers
    .filter(({ from }) => !bodies.includes(from))
    .filter(({ kind, words }) => kind !== 'dates' && !words.some((word) => strangerWords.has(word)))
    .filter(({ words, items }) => !words.some((word) => moneyWords.has(word)) && !hasAmounts(items))
    .map((container): People => {
      const leaves = leavesOf(container.items);
      const matches = matchFields(leaves, vocabulary);
      return { head: { from: container.from }, leaves, matches, score: scoreOf(matches, container.words), container };
    })
    .filter(({ score }) => score >= 2.5);
  const chosen = innermost(people);
  const joinedPeople = chosen.length > 0 ? [] : joined(recordLeaves, tables);
  const found = chosen.length > 0 ? withBooker(chosen) : joinedPeople;
  if (found.length > 0)
    return { sections: found.map((one) => toSection(one, stays)), taken: chosen.map(({ head }) => String(head.from)) };
  const direct = recordLeaves.filter(
    ({ depth, path }) => depth === 0 || (depth === 1 && bodies.some((body) => path.startsWith(`${body}.`))),
  );
  const matches = matchFields(direct, vocabulary);
  for (const field of ['guest_id', 'document_type']) if (!strong(matches.get(field))) matches.delete(field);
  if (scoreOf(matches, ['guest']) < 3) return { sections: [], taken: [] };
  return {
    sections: [toSection({ head: { from: '$item' }, leaves: direct, matches, score: 0 })],
    taken: [...matches.values()].map(({ leaf }) => leaf.path),
  };
}

/** Objects that hold the reservation itself, dates and all, such as `attributes` in JSON:API. */
function bodiesIn(containers: readonly Container[]): string[] {
  return containers.flatMap(({ kind, depth, items, from }) => {
    if (kind !== 'object' || depth !== 1) return [];
    const found = matchReservation(leavesOf(items).filter((leaf) => leaf.depth === 0));
    return found.has('check_in') && found.has('check_out') ? [from] : [];
  });
}

/** Lists of money and of counts have names too: Cleaning Fee, Adults. */
const moneyWords = new Set(
  'fee fees tax taxes charge charges rate rates discount discounts breakdown financials payment payments invoice price prices'.split(
    ' ',
  ),
);
const amountNames = new Set(['amount', 'price', 'quantity', 'qty', 'value', 'unit value', 'count', 'total']);

function hasAmounts(items: readonly Json[]): boolean {
  const leaves = leavesOf(items).filter(({ kind, depth }) => kind === 'value' && depth === 0);
  if (leaves.some(({ own }) => own.includes('email') || own.includes('surname') || own.join(' ') === 'last name'))
    return false;
  return leaves.some(
    (leaf) => amountNames.has(leaf.own.join(' ')) && present(leaf).every((value) => /^-?[\d.,]+$/.test(plain(value))),
  );
}

const strong = (match: Match | undefined) =>
  match?.leaf.own.some((word) => guestWords.has(word) || word === 'document' || word === 'doc');

function scoreOf(matches: ReadonlyMap<string, Match>, words: readonly string[]): number {
  let score = 0;
  for (const [field, match] of matches) score += (worth.get(field) ?? 0) * match.confidence;
  return score * (words.some((word) => guestWords.has(word)) ? 1 : 0.45);
}

/**
 * People have names: an object with only an e-mail is a guest's contact. An object that merely contains a guest is not the guest,
 * and rooms inside a guest are not guests.
 */
function innermost(people: readonly People[]): People[] {
  const named = people.filter(({ matches }) =>
    ['last_name', 'first_name', 'full_name'].some((field) => matches.has(field)),
  );
  // An object inside an item is part of that item.
  const inside = (one: People, other: People) =>
    one !== other &&
    (one.container?.kind === 'object' ||
      (isNameAlone(one) && one.container?.words.at(-1)?.startsWith('name') === true)) &&
    within(one, other) !== undefined;
  const holders = named.filter((outer) =>
    named.some((inner) => inside(inner, outer) && !isNameAlone(inner) && rest(outer, inner) < 3.5),
  );
  const whole = named.filter((one) => !holders.includes(one));
  const kept = whole.filter((one) => !whole.some((other) => inside(one, other)));
  return kept.filter(
    (one) =>
      isNamedGuests(one) ||
      !kept.some(
        (other) => other.score > one.score * 1.5 && pathOf(one).startsWith(`${pathOf(other).replace(/\[\]$/, '')}[].`),
      ),
  );
}

/** An inner list with a name for guests. */
const isNamedGuests = ({ container }: People) =>
  container?.kind === 'list' && guestWords.has(container.words.at(-1) ?? '');

/** An object with only names is part of the enclosing person. */
const isNameAlone = ({ matches }: People) => [...matches.keys()].every((field) => field.endsWith('_name'));

const pathOf = ({ head }: People) => String(head.from);

/** The inner path relative to an item of the outer; undefined if it is elsewhere or inside another list. */
function within(inner: People, outer: People): string | undefined {
  const item = outer.container?.kind === 'list' && !pathOf(outer).endsWith('[]') ? `${pathOf(outer)}[]` : pathOf(outer);
  if (!pathOf(inner).startsWith(`${item}.`)) return undefined;
  const path = pathOf(inner).slice(item.length + 1);
  return path.includes('[]') ? undefined : path;
}

/** The score of the outer object without the inner one. */
function rest(outer: People, inner: People): number {
  const place = within(inner, outer);
  const matches = matchFields(
    outer.leaves.filter(({ path }) => !path.startsWith(`${place}.`)),
    vocabulary,
  );
  return scoreOf(matches, outer.container?.words ?? []);
}

/** The booker replaces a missing guest and is never an additional one. */
function withBooker(people: readonly People[]): People[] {
  const isBooker = ({ container }: People) => container?.words.some((word) => bookerWords.has(word)) === true;
  const bookers = people.filter(isBooker);
  const others = people.filter((one) => !isBooker(one));
  const [main, ...rest] = others;
  const [booker] = bookers;
  if (main === undefined || booker === undefined) return [...(others.length > 0 ? others : bookers)];
  if (main.container?.kind !== 'object' || booker.container?.kind !== 'object') return others;
  return [{ ...main, head: { from: { first: [String(main.head.from), String(booker.head.from)] } } }, ...rest];
}

function joined(recordLeaves: readonly Leaf[], tables: readonly Table[]): People[] {
  return tables.flatMap((table) => {
    const matches = matchFields(table.leaves, vocabulary);
    const score = scoreOf(matches, table.words);
    const references = recordLeaves.filter(
      (leaf) => (leaf.kind === 'value' || leaf.kind === 'list') && refersTo(leaf, table, recordLeaves),
    );
    const [first] = references;
    if (score < 3.5 || table.id === undefined || first === undefined) return [];
    const from: Json = references.length === 1 ? first.path : references.map(({ path }) => path);
    const key = table.id.path;
    const head = {
      from,
      join: { in: table.path, key, by: '$item' },
      ...(table.kind && { where: { [table.kind.key]: table.kind.value } }),
      ...(references.length > 1 && { unique: key }),
    };
    const known = references.map(({ path }) => ({ [key]: { not_same_as: `$record.${path}` } }));
    const further = companions(recordLeaves, tables, table).map((join): People => {
      const where = Object.assign({}, ...known) as JsonObject;
      return {
        head: { join, ...(references.length === 1 && { where }), unique: key },
        leaves: table.leaves,
        matches: new Map(matches),
        score,
      };
    });
    return [{ head, leaves: table.leaves, matches, score }, ...further];
  });
}

/** Link tables: each row refers to a reservation and a person. */
function companions(recordLeaves: readonly Leaf[], tables: readonly Table[], people: Table): Json[] {
  return tables.flatMap((between) => {
    // Objects of several kinds refer to each other by their own relationships.
    if (between.kind !== undefined || people.kind !== undefined) return [];
    // Lines of a bill refer to both as well.
    if (between === people || between.leaves.some(({ own, around }) => [...own, ...around].includes('amount')))
      return [];
    const person = between.leaves.find(
      (leaf) => leaf !== between.id && leaf.kind === 'value' && refersTo(leaf, people),
    );
    if (person === undefined) return [];
    for (const leaf of recordLeaves) {
      const ids = new Set(leaf.values.map((value) => plain(value ?? null)));
      if (leaf.kind !== 'value' || ids.size !== leaf.values.length) continue;
      const back = refersBack(between, ids);
      if (back === undefined || back === person) continue;
      return [
        [
          { in: between.path, key: back.path, by: leaf.path },
          { in: people.path, key: people.id?.path ?? '', by: person.path },
        ],
      ];
    }
    return [];
  });
}

function toSection({ head, leaves, matches }: People, stays?: string): Section {
  const full = matches.get('full_name');
  const second = matches.get('second_name');
  matches.delete('full_name');
  matches.delete('second_name');
  const section = sectionOf(
    'guests',
    head.from === '$item' || head.from === stays ? head : withWhere(head, goneCondition(leaves)),
    matches,
    consentOf(leaves, matches),
  );
  const fields = section.map.fields as JsonObject;
  const lines = [...section.lines];
  if (full !== undefined) lines.push(...fromFullName(full, matches, fields));
  if (second !== undefined && typeof fields.last_name === 'string')
    fields.last_name = { join: [fields.last_name, second.leaf.path] };
  documentKind(matches, fields);
  return { ...section, lines };
}
