import type { JsonObject } from '../../../src/terms.ts';
import { type Container, isListed } from './containers.ts';
import { withDialCode } from './dial-code.ts';
import { joinedPeople, withoutRepeats } from './joined-people.ts';
import { type Leaf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { bookerWords, fullNameLexeme, guestWords, strangerWords } from './lexicon.ts';
import { type Match, matchOf } from './match.ts';
import {
  hasAmounts,
  innermost,
  isFirm,
  isGuestName,
  isSame,
  isStranger,
  matchGuest,
  type People,
  scoreOf,
} from './people.ts';
import { matchReservation } from './reservation-fields.ts';
import { type FieldLine, goneCondition, type Section, sectionOf, withWhere } from './section.ts';
import type { Table } from './tables.ts';
import { guessDocument } from './vocabulary.ts';

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
    .filter((container) => container.kind !== 'dates' && !isStranger(container))
    .filter((container) => isGuestName(container) || !hasAmounts(container.items))
    .map((container): People => {
      const leaves = leavesOf(container.items);
      const matches = matchGuest(leaves);
      // Of a list of first and last names, the name of the list does not matter.
      const areNames = container.kind === 'list' && matches.has('first_name') && matches.has('last_name');
      const score = scoreOf(matches, areNames ? ['guest'] : container.words);
      return { head: { from: container.from }, leaves, matches, score, container };
    })
    .filter(({ score, matches }) => score >= 2.5 && !isFirm(matches))
    .filter(({ container, matches }) => container?.kind !== 'object' || isGuestName(container) || !isSame(matches));
  const chosen = innermost(people);
  const persons = chosen.length > 0 ? withBooker(chosen) : joinedPeople(recordLeaves, tables);
  const isContact = (word: string) => word === 'contact' || word === 'address';
  const direct = recordLeaves.filter(
    ({ depth, path, around }) =>
      depth === 0 || (depth === 1 && (around.some(isContact) || bodies.some((body) => path.startsWith(`${body}.`)))),
  );
  if (persons[0] !== undefined && !persons.some(hasContact)) addContact(persons[0], direct);
  const sections = withoutRepeats(
    persons,
    persons.map((one) => toSection(one, stays)),
  );
  if (persons.length > 0)
    return { sections: [...sections, ...standIn(persons, direct)], taken: chosen.map(({ head }) => String(head.from)) };
  const matches = matchGuest(direct);
  for (const field of ['guest_id', 'document_type']) if (!strong(matches.get(field))) matches.delete(field);
  const name = matches.has('full_name') || matches.has('last_name') ? undefined : direct.find(areNames);
  if (name) matches.set('full_name', matchOf('full_name', name, 0.9, 'its values look like the names of people'));
  if (scoreOf(matches, ['guest']) < 2.4) return { sections: [], taken: [] };
  return {
    sections: [toSection({ head: { from: '$item' }, leaves: direct, matches, score: 0 })],
    taken: [...matches.values()].map(({ leaf }) => leaf.path),
  };
}

/** The person that the record itself names, where its only list of guests is empty. */
function standIn([list, further]: readonly People[], direct: readonly Leaf[]): Section[] {
  const { container } = list ?? {};
  if (container?.kind !== 'list' || container.inside.length > 0 || further !== undefined) return [];
  const isMissing = (_: unknown, record: number) => !container.owners.includes(record);
  const leaves = direct.map((leaf) => ({ ...leaf, values: leaf.values.filter(isMissing) }));
  const matches = matchGuest(leaves.filter((leaf) => present(leaf).length > 0));
  if (scoreOf(matches, ['guest']) < 3) return [];
  const head = { from: '$item', where: { [`${container.from}[0]`]: { exists: false } } };
  return [toSection({ head, leaves, matches, score: 0 })];
}

/** Two or three words with capitals, hardly ever the same. */
function areNames({ kind, own, values }: Leaf): boolean {
  const names = values.map((value) => plain(value ?? null));
  const isName = (name: string) => /^\p{Lu}[\p{L}'’.-]*(?: \p{L}[\p{L}'’.-]*){1,3}$/u.test(name);
  const isOther = own.some((word) => fullNameLexeme.not.has(word) && word !== 'partner');
  return (
    kind === 'value' && !isOther && names.length > 2 && names.every(isName) && new Set(names).size > names.length * 0.7
  );
}

/** Objects that hold the reservation itself, dates and all, such as `attributes` in JSON:API. */
function bodiesIn(containers: readonly Container[]): string[] {
  return containers.flatMap(({ kind, depth, items, from }) => {
    if (kind !== 'object' || depth !== 1) return [];
    const matches = matchReservation(leavesOf(items).filter((leaf) => leaf.depth === 0));
    return matches.has('check_in') && matches.has('check_out') ? [from] : [];
  });
}

const hasContact = ({ matches }: People) => matches.has('email') || matches.has('phone');

const strong = (match: Match | undefined) =>
  match?.leaf.own.some((word) => guestWords.has(word) || word === 'document' || word === 'doc');

/** The booker replaces a missing guest, and is an additional one only if the guests have no address or phone. */
function withBooker(people: readonly People[]): People[] {
  const isBooker = ({ container }: People) => container?.words.some((word) => bookerWords.has(word)) === true;
  const bookers = people.filter(isBooker);
  const others = people.filter((one) => !isBooker(one));
  const [main, ...rest] = others;
  const [booker] = bookers;
  if (main === undefined || booker === undefined) return [...(others.length > 0 ? others : bookers)];
  if (!others.some(hasContact)) return [booker, ...others];
  if (main.container?.kind !== 'object' || booker.container?.kind !== 'object') return others;
  return [{ ...main, head: { from: { first: [String(main.head.from), String(booker.head.from)] } } }, ...rest];
}

function toSection({ head, leaves, matches }: People, stays?: string): Section {
  const [only, other] = ['first_name', 'last_name'].flatMap((field) => matches.get(field) ?? []);
  // A name of several words without the other name is the full name.
  const isWhole =
    only !== undefined && other === undefined && present(only.leaf).every((name) => /\S\s+\S/.test(plain(name)));
  if (isWhole) matches.delete(only.field);
  const full = matches.get('full_name') ?? (isWhole ? only : undefined);
  const second = matches.get('second_name');
  matches.delete('second_name');
  // { profileId: { id, type } }: the type is that of the id.
  const holder = /^(.+)\.id$/.exec(matches.get('guest_id')?.leaf.path ?? '')?.[1];
  if (holder !== undefined && matches.get('document_type')?.leaf.path === `${holder}.type`)
    matches.delete('document_type');
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
  return withDialCode({ ...section, lines }, leaves);
}

/** Fields of a guest that are derived from several leaves. */

/** First and last name from a full name. */
function fromFullName(full: Match, matches: ReadonlyMap<string, Match>, fields: JsonObject): FieldLine[] {
  const { leaf, confidence } = full;
  const line = (field: string, reason: string) => ({
    field: `guests.${field}`,
    path: leaf.path,
    confidence: Math.round(confidence * 95) / 100,
    reason,
  });
  return (['first_name', 'last_name'] as const).flatMap((field) => {
    if (matches.has(field)) return [];
    fields[field] = { path: leaf.path, name: field === 'first_name' ? 'first' : 'last' };
    return [line(field, 'taken out of the full name')];
  });
}

/** The document type from the path of its number: passport.number is a passport. */
function documentKind(matches: ReadonlyMap<string, Match>, fields: JsonObject): void {
  const number = matches.get('document_number');
  if (number === undefined || matches.has('document_type')) return;
  const kinds = [number.leaf, ...number.others].flatMap((leaf) => {
    const named = leaf.own.filter((word) => word !== 'number' && word !== 'no').join('');
    const kind =
      guessDocument(leaf.around.slice(-2).join('')) ?? guessDocument(leaf.around.at(-1) ?? '') ?? guessDocument(named);
    return kind === undefined ? [] : [{ const: kind, when: { [leaf.path]: { exists: true } } }];
  });
  if (kinds.length > 0) fields.document_type = { first: kinds };
}

/** Consent from a list of options that mentions marketing. */
function consentOf(leaves: readonly Leaf[], matches: ReadonlyMap<string, Match>): JsonObject {
  if (matches.has('marketing_consent')) return {};
  for (const leaf of leaves) {
    if (leaf.kind !== 'list') continue;
    const option = present(leaf)
      .flat()
      .find((value) => typeof value === 'string' && /marketing|newsletter/i.test(value));
    if (typeof option !== 'string') continue;
    const said = { const: true, when: { [leaf.path]: { contains: option } } };
    return { marketing_consent: { first: [said, { const: false, when: { [leaf.path]: { exists: true } } }] } };
  }
  return {};
}

/** The e-mail address and phone of the record are its first guest's, if the guests have none and the record names nobody else. */
function addContact({ container, matches }: People, beside: readonly Leaf[]): void {
  const names = ['full_name', 'first_name', 'last_name'].flatMap((field) => matches.get(field)?.leaf ?? []);
  const own = matchGuest(beside.filter((leaf) => !leaf.own.some((word) => others.has(word))));
  const isFirst = (name: string, record: number) =>
    name.includes(plain(names.at(-1)?.values[container?.owners.indexOf(record) ?? 0] ?? null));
  const holder = (own.get('full_name') ?? own.get('last_name'))?.leaf.values ?? [];
  if (container === undefined || holder.some((name, record) => name && !isFirst(plain(name), record))) return;
  const first = `$record.${container.from.replaceAll('[]', '[0]')}${container.kind === 'list' ? '[0]' : ''}`;
  const when = Object.fromEntries(names.map(({ path }) => [path, { same_as: `${first}.${path}` }]));
  for (const { field, leaf } of ['email', 'phone'].flatMap((name) => own.get(name) ?? [])) {
    const path = `$record.${leaf.path}`;
    const source = isListed(container) ? { path, when } : path;
    matches.set(field, matchOf(field, { ...leaf, path, source }, 0.7, 'beside the guests, none of whom has one'));
  }
}

const others = new Set([...strangerWords].filter((word) => word !== 'address'));
