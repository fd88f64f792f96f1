import type { Json, JsonObject } from '../../../src/terms.ts';
import { amountOf, isEqual, isProduct } from './amounts.ts';
import type { Container } from './containers.ts';
import { isSharedId, type Leaf, plain, present } from './leaf.ts';
import { leavesOf } from './leaves.ts';
import { chargeLexicon, chargeWords, reservationLexicon } from './lexicon.ts';
import { isUsed, type Match, matchFields, matchOf, type Vocabulary } from './match.ts';
import { fieldMap, goneCondition, type Section, sectionOf, withField, withWhere } from './section.ts';
import { isNightly } from './stay-dates.ts';
import { refersBack, type Table } from './tables.ts';
import { wordSet } from './words.ts';

const vocabulary: Vocabulary = {
  lexicon: chargeLexicon,
  scope: wordSet('charge item line service product unit fee levy'),
};

/** Money between the property and others, or already paid: never charged to the guest. */
const notTheGuests = wordSet(
  'owner owners host hosts commission commissions payout payouts payment payments refund refunds deposit deposits adjustment adjustments',
);

export interface Charges {
  readonly sections: readonly Section[];
  /** The total and its currency, for a reservation that lacks them. */
  readonly computed: JsonObject;
}

/** The charges: every list of amounts in the record, or a table of amounts that refers to it. */
export function findCharges(
  containers: readonly Container[],
  tables: readonly Table[],
  rooms: Section | undefined,
  reservation: ReadonlyMap<string, Match>,
): Charges {
  const id = reservation.get('id');
  const total = reservation.get('total_amount')?.leaf;
  const ofRooms = roomsTotal(rooms);
  const lists = containers
    .filter(
      ({ kind, from, words }) =>
        // The one element of a plural is a list of one: { addons: { addon: { … } } }.
        (kind === 'list' || words.at(-2) === `${words.at(-1)}s`) &&
        from !== rooms?.map.from &&
        !words.some((word) => notTheGuests.has(word)),
    )
    .map((container) => ({ container, leaves: leavesOf(container.items).map((leaf) => asTotal(leaf, total)) }))
    .map((one) => ({ ...one, matches: chargeMatches(one.leaves) }))
    .filter(({ container, matches }) =>
      container.words.some((word) => chargeWords.has(word))
        ? matches.has('amount') && (matches.has('code') || matches.has('description'))
        : ['amount', 'description', 'quantity'].every((field) => matches.has(field)),
    );
  const all = lists.filter(({ container }) => !lists.some((one) => container.inside.includes(one.container.from)));
  const outer = withoutTaxes(all, total);
  if (outer.length > 0) {
    const areLines = addUp(outer, total);
    const sections = outer.map(({ container, leaves, matches }) => {
      const more = container.words.some(isNight) ? pricesRooms : {};
      const section = chargeSection({ from: container.from }, leaves, matches, more);
      return areLines ? section : withLineAmounts(section, matches);
    });
    const [first, second] = sections;
    return { sections, computed: { ...ofRooms, ...(first && !second && sums(first)) } };
  }
  const nights = containers.filter(({ kind }) => kind === 'dates').sort((a, b) => b.depth - a.depth)[0];
  if (nights) return { sections: [nightSection(nights, rooms)], computed: sumOf(nights, '$item') };
  return joinedCharges(tables, id) ?? { sections: [], computed: { ...ofRooms, ...nightlyTotal(containers) } };
}

interface ChargeList {
  readonly container: Container;
  readonly leaves: readonly Leaf[];
  readonly matches: Map<string, Match>;
}

/** Taxes beside charges that already add up to the total are part of them. */
function withoutTaxes(lists: readonly ChargeList[], total: Leaf | undefined): readonly ChargeList[] {
  const others = lists.filter(({ container }) => !container.words.some((word) => taxWords.has(word)));
  return others.length < lists.length && addUp(others, total) ? others : lists;
}
const taxWords = wordSet('tax taxes vat levy levies');

/** Whether the amounts of all lines are the total in every record. */
function addUp(lists: readonly ChargeList[], total: Leaf | undefined): boolean {
  if (total === undefined || lists.length === 0) return false;
  const sums = total.values.map(() => 0);
  for (const { container, matches } of lists)
    for (const [at, value] of (matches.get('amount')?.leaf.values ?? []).entries())
      sums[container.owners[at] ?? 0] = (sums[container.owners[at] ?? 0] ?? 0) + amountOf(value);
  return sums.every((sum, record) => isEqual(amountOf(total.values[record]), sum));
}

/** Whole amounts beside a total in minor units are in minor units too. */
const asTotal = (leaf: Leaf, total: Leaf | undefined): Leaf =>
  total?.minor === true && present(leaf).every(Number.isInteger) ? { ...leaf, minor: true } : leaf;

/** An id that several lines share is the id of the article; an id that is unique per line only numbers the lines. */
function chargeMatches(leaves: readonly Leaf[]): Map<string, Match> {
  const usable = leaves.filter((leaf) => leaf.own.join(' ') !== 'id' || isSharedId(leaf));
  const matches = matchFields(usable, vocabulary);
  const tax = matches.get('tax_amount');
  // In a list of taxes, the tax is the amount of the line.
  if (tax !== undefined && !matches.has('amount')) {
    matches.set('amount', { ...tax, field: 'amount' });
    matches.delete('tax_amount');
  }
  byValues(matches, usable);
  const id = usable.find((leaf) => leaf.depth === 0 && isSharedId(leaf));
  if (id !== undefined && !matches.has('code'))
    matches.set('code', matchOf('code', id, 0.6, 'an id that several lines share'));
  return matches;
}

/** The only text of a line describes it; a whole number that gives the amount when multiplied by another field is the quantity. */
function byValues(matches: Map<string, Match>, leaves: readonly Leaf[]): void {
  const amount = matches.get('amount')?.leaf;
  const free = leaves.filter((leaf) => leaf.kind === 'value' && leaf.depth === 0 && !isUsed(matches, leaf));
  const put = (field: string, leaf: Leaf | undefined, reason: string) => {
    if (leaf !== undefined && amount !== undefined && !matches.has(field))
      matches.set(field, matchOf(field, leaf, 0.6, reason));
  };
  const texts = free.filter(
    (leaf) => present(leaf).length > 0 && present(leaf).every((value) => /\p{L}{3}/u.test(plain(value))),
  );
  const code = matches.get('code')?.leaf;
  const isWord =
    code !== undefined && present(code).some((value) => /\p{Ll}{3}|\p{Lu}{3}[_ ]\p{Lu}{3}/u.test(plain(value)));
  put('description', texts.length === 1 ? texts[0] : isWord ? code : undefined, 'the only text of the line');
  const isCount = (leaf: Leaf) =>
    present(leaf).every((value) => /^\d{1,3}$/.test(plain(value))) &&
    present(leaf).some((value) => Number(value) > 1) &&
    free.some((price) => price !== leaf && amount !== undefined && isProduct(leaf, price, amount));
  put('quantity', free.find(isCount), 'the amount divided by the price');
}

/** The nights of a room are charged as the room; in a general list of charges the kind is unknown. */
const pricesRooms: JsonObject = { charge_kind: { const: 'room' } };
const isNight = (word: string): boolean => /^(?:nights?|slices?)$/.test(word);

/** A line without a count is one line. */
function chargeSection(
  head: JsonObject,
  leaves: readonly Leaf[],
  matches: Map<string, Match>,
  more: JsonObject = {},
): Section {
  preferName(matches, leaves);
  preferLineTotal(matches, leaves);
  const once: JsonObject = { ...more, ...(!matches.has('quantity') && { quantity: { const: 1 } }) };
  const where = goneCondition(leaves) ?? paymentsOut(matches) ?? paymentTypesOut(leaves);
  const section = sectionOf('charges', withWhere(head, where), matches, once);
  return { ...section, leaves };
}

/** Lines of a bill with a negative count are payments. */
function paymentsOut(matches: ReadonlyMap<string, Match>): JsonObject | undefined {
  const quantity = matches.get('quantity')?.leaf;
  if (quantity === undefined || !present(quantity).some((value) => Number(value) < 0)) return undefined;
  return { [quantity.path]: { at_least: 0 } };
}

const paymentWord = /^(?:payments?|refunds?|deposits?|paid|prepayment|zahlung|pago|paiement|pagamento|betaling)$/i;

/** A bill may list payments among its lines; a type field marks them. */
function paymentTypesOut(leaves: readonly Leaf[]): JsonObject | undefined {
  for (const leaf of leaves) {
    if (leaf.kind !== 'value' || leaf.depth > 0 || !leaf.own.some((word) => typeWords.has(word))) continue;
    const kinds = [...new Set(present(leaf))];
    const payments = kinds.filter((value) => typeof value === 'string' && paymentWord.test(value));
    if (payments.length === 0 || payments.length === kinds.length) continue;
    return { [leaf.path]: { not: payments.length === 1 ? (payments[0] as Json) : payments } };
  }
  return undefined;
}
const typeWords = wordSet('type kind category class');

/** Where quantity times price gives another field in every line, that field is the amount of the line. */
function preferLineTotal(matches: Map<string, Match>, leaves: readonly Leaf[]): void {
  const amount = matches.get('amount');
  const quantity = matches.get('quantity');
  if (amount === undefined || quantity === undefined || !present(quantity.leaf).some((value) => Number(value) > 1))
    return;
  const total = leaves.find(
    (leaf) =>
      ![amount.leaf, quantity.leaf].includes(leaf) &&
      leaf.kind === 'value' &&
      isProduct(quantity.leaf, amount.leaf, leaf),
  );
  if (total === undefined) return;
  const reason = `quantity times ${amount.leaf.path} gives it in every line`;
  matches.set('amount', { ...amount, leaf: total, others: [], confidence: 0.95, reason });
}

/** A price beside a count is a unit price; the canonical amount is that of the whole line. */
function withLineAmounts(section: Section, matches: ReadonlyMap<string, Match>): Section {
  const amount = matches.get('amount')?.leaf;
  const quantity = matches.get('quantity')?.leaf;
  const fields = section.map.fields as JsonObject;
  const isUnitPrice = amount?.own.at(-1) === 'price' && !amount.own.includes('total') && !amount.own.includes('line');
  if (!isUnitPrice || quantity === undefined || typeof fields.amount !== 'string') return section;
  if (!present(quantity).some((value) => Number(value) > 1)) return section;
  const product = { product: [quantity.path, fields.amount] };
  return withField(section, 'amount', product, 'quantity × price', 0.7);
}

/** In a catalogue entry inside the line, the name is what was charged; the description only describes it. */
function preferName(matches: Map<string, Match>, leaves: readonly Leaf[]): void {
  const match = matches.get('description');
  if (match === undefined || match.leaf.depth === 0 || !match.leaf.own.includes('description')) return;
  const sibling = leaves.find(({ path }) => path === match.leaf.path.replace(/[^.]+$/, 'name'));
  if (sibling) matches.set('description', { ...match, leaf: sibling });
}

/** Taxes alone are not the total. */
function sums({ map, matches, leaves = [] }: Section): JsonObject {
  const { fields, ...list } = map;
  const { amount } = fields as JsonObject;
  const { currency } = reservationLexicon;
  const unit = matchFields(leaves, { lexicon: { currency }, scope: new Set() }).get('currency');
  const areTaxes = ['code', 'description'].some((field) => {
    const leaf = matches.get(field)?.leaf;
    return leaf !== undefined && present(leaf).every((value) => /tax|\bvat\b|levy/i.test(plain(value)));
  });
  return {
    ...(amount !== undefined && !areTaxes && { total_amount: { sum: { ...list, value: amount } } }),
    ...(unit && { currency: { pick: { ...list, value: unit.leaf.path } } }),
  };
}

/** An object from dates to amounts: one charge a night. */
function nightSection(nights: Container, rooms: Section | undefined): Section {
  const rate = rooms?.matches.get('rate_code')?.leaf;
  const inRoom = rate !== undefined && nights.from.startsWith(`${String(rooms?.map.from)}[]`);
  const fields: JsonObject = {
    description: '$key',
    amount: '$item',
    charge_date: '$key',
    ...pricesRooms,
    quantity: { const: 1 },
  };
  if (inRoom) fields.code = `$parent.${rate.path}`;
  const reason = 'an object from dates to numbers: the price of each night';
  const lines = ['description', 'amount'].map((field) => ({
    field: `charges.${field}`,
    path: nights.from,
    confidence: 0.8,
    reason,
  }));
  return { map: { from: nights.from, fields }, lines, matches: new Map() };
}

const sumOf = ({ from }: Container, value: string): JsonObject => ({ total_amount: { sum: { from, value } } });

/** The totals of the rooms. */
function roomsTotal(rooms: Section | undefined): JsonObject {
  const { total_amount } = reservationLexicon;
  const matches = matchFields(rooms?.leaves ?? [], { lexicon: { total_amount }, scope: wordSet('room') });
  const total = matches.get('total_amount');
  return total ? { total_amount: { sum: { from: rooms?.map.from ?? '', value: fieldMap(total).map } } } : {};
}

/** The prices of the nights, where nothing else is charged. */
function nightlyTotal(containers: readonly Container[]): JsonObject {
  for (const container of containers) {
    const amount = isNightly(container) ? chargeMatches(leavesOf(container.items)).get('amount') : undefined;
    if (amount) return sumOf(container, amount.leaf.path);
  }
  return {};
}

function joinedCharges(tables: readonly Table[], id: Match | undefined): Charges | undefined {
  const ids = new Set(id?.leaf.values.map((value) => String(value)) ?? []);
  for (const table of tables) {
    const matches = chargeMatches(table.leaves);
    const back = id && refersBack(table, ids);
    if (back === undefined || id === undefined || !matches.has('amount')) continue;
    const head = { join: { in: table.path, key: back.path, by: id.leaf.path } };
    const section = chargeSection(head, table.leaves, matches);
    return { sections: [section], computed: sums(section) };
  }
  return undefined;
}
