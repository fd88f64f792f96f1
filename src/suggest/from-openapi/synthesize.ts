import { isObject, type Json, type JsonObject } from '../../terms.ts';
import { wordsOf } from '../words.ts';
import { inFormat, writtenFormat } from './date-examples.ts';
import { enumOf, exampleOf, flattened, propertiesOf, textOf, typeOf } from './schema.ts';

/**
 * A made-up response in the shape of a schema, so that a description is read by the same rules as a sample. Values follow the
 * type, the format and the words of the name; records differ where real ones would (ids, dates, statuses).
 * Deterministic: the same schema gives the same response.
 */
export function synthesize(schema: JsonObject, statuses: readonly string[] = []): Json {
  return new Synthesis(statuses).value(schema, '', [], 0, 0) ?? null;
}

/** As many records as the longest list of statuses that is usual, so that each one occurs. */
const recordCount = 18;
const maxDepth = 10;
/** A schema that contains itself many times over must not grow without bound. */
const maxNodes = 60_000;

class Synthesis {
  readonly #statuses: readonly string[];
  /** The enclosing schemas: a type inside itself is left out. */
  readonly #open = new Set<Json>();
  #nodes = 0;
  #lists = 0;

  constructor(statuses: readonly string[]) {
    this.#statuses = statuses;
  }

  value(
    input: Json | undefined,
    name: string,
    around: readonly string[],
    index: number,
    depth: number,
  ): Json | undefined {
    this.#nodes += 1;
    if (input === undefined || depth > maxDepth || this.#nodes > maxNodes || this.#open.has(input)) return undefined;
    this.#open.add(input);
    const value = this.#inside(input, name, around, index, depth);
    this.#open.delete(input);
    return value;
  }

  #inside(input: Json, name: string, around: readonly string[], index: number, depth: number): Json | undefined {
    const schema = flattened(input);
    const words = wordsOf(name);
    switch (typeOf(schema)) {
      case 'array':
        return this.#list(schema, name, around, index, depth);
      case 'object':
        return this.#object(schema, words, around, index, depth);
      case 'integer':
      case 'number':
        return numberFor(words, around, typeOf(schema) === 'integer', index);
      case 'boolean':
        return index % 2 === 0;
      case 'string':
        return this.#text(schema, words, around, index);
      default:
        return undefined;
    }
  }

  #list(schema: JsonObject, name: string, around: readonly string[], index: number, depth: number): Json {
    const items = flattened(schema.items);
    // The first lists of objects may be the records, or contain them; lists inside records are short.
    const outer = typeOf(items) === 'object' && this.#lists === 0;
    const length = outer ? recordCount : identifies(items, name) ? 3 : 2;
    if (outer) this.#lists += 1;
    const list: Json[] = [];
    for (let item = 0; item < length; item += 1) {
      // Elements inside a record differ from each other and between records.
      const value = this.value(schema.items, name, around, outer ? item : index + item * recordCount, depth + 1);
      if (value !== undefined) list.push(value);
    }
    if (outer) this.#lists -= 1;
    return list;
  }

  #object(
    schema: JsonObject,
    words: readonly string[],
    around: readonly string[],
    index: number,
    depth: number,
  ): JsonObject | undefined {
    const properties = Object.entries(propertiesOf(schema));
    const inside = [...around, ...words];
    if (properties.length === 0 && isObject(schema.additionalProperties))
      return this.#map(schema, inside, index, depth);
    const object: JsonObject = {};
    for (const [key, property] of properties) {
      if (isAside(wordsOf(key), property)) continue;
      const value = isTypeOfId(key, propertiesOf(schema), words)
        ? idTypes[Math.floor(index / recordCount) % idTypes.length]
        : this.value(property, key, inside, index, depth + 1);
      if (value !== undefined) object[key] = value;
    }
    return Object.keys(object).length === 0 ? undefined : object;
  }

  #text(schema: JsonObject, words: readonly string[], around: readonly string[], index: number): string {
    const isStatus = words.at(-1) === 'status' || words.at(-1) === 'state';
    if (isStatus && around.length <= 1 && this.#statuses.length > 0 && enumOf(schema).length === 0)
      return this.#statuses[index % this.#statuses.length] ?? '';
    return textFor(schema, words, around, index);
  }

  /** An object keyed by data: by date where the description says so, else by id. */
  #map(schema: JsonObject, around: readonly string[], index: number, depth: number): JsonObject {
    const byDate = /\bdates?\b/i.test(textOf(schema.description));
    const keys = byDate ? [day(index), day(index + 1)] : [String(70_000 + index * 2), String(70_001 + index * 2)];
    const map: JsonObject = {};
    for (const [item, key] of keys.entries()) {
      const value = this.value(schema.additionalProperties, '', around, index + item * recordCount, depth + 1);
      if (value !== undefined) map[key] = value;
    }
    return map;
  }
}

/**
 * Parts of a reservation that hold no field of ours. A description lists them all, a real answer has only a few. Their dates,
 * names and amounts would be mistaken for those of the reservation.
 */
const asideObjects = new Set(
  'queue cashiering routing payment payments folio folios comment comments alert alerts preference preferences policy policies trace traces task tasks scheduled move anonymization membership memberships award awards address addresses last attachment attachments link links action actions history notes offshore promotion block warning warnings activity user indicators tracking transport gaming'.split(
    ' ',
  ),
);
/** Free text. */
const asideTexts = new Set('note notes comment comments remark remarks message'.split(' '));
/** Money that is not the price. */
const asideAmounts = new Set('auth deposit limit commission balance'.split(' '));

function isAside(words: readonly string[], property: Json): boolean {
  const type = typeOf(flattened(property));
  if (type === 'object' || type === 'array')
    return (
      words.at(-1) === 'balance' ||
      (words.at(-1) === 'list' && words.at(-2) === 'id' && !isIdList(words)) ||
      words.some((word) => asideObjects.has(word))
    );
  if (type === 'string') return words.some((word) => asideTexts.has(word));
  return type === 'number' && words.some((word) => asideAmounts.has(word));
}

/** The id types to assume if the description does not list them. */
const idTypes = ['Reservation', 'Confirmation', 'CancellationNumber'];

function identifies(items: JsonObject, name: string): boolean {
  return isTypeOfId('type', propertiesOf(items), wordsOf(name));
}

/** `reservationIdList`, `ids`: but not the ids of something else. */
const isIdList = (words: readonly string[]) =>
  words.includes('id') &&
  words.every((word) => ['id', 'list', 'reservation', 'booking', 'unique', 'all'].includes(word));

function isTypeOfId(key: string, properties: JsonObject, words: readonly string[]): boolean {
  return (
    key === 'type' &&
    properties.id !== undefined &&
    Object.keys(properties).length <= 3 &&
    enumOf(flattened(properties.type)).length === 0 &&
    isIdList(words)
  );
}

const has = (words: readonly string[], ...wanted: string[]) => wanted.some((word) => words.includes(word));

function numberFor(words: readonly string[], around: readonly string[], whole: boolean, index: number): number {
  if (has(words, 'adults', 'adult', 'persons', 'pax', 'guests') && !has(words, 'id')) return 1 + (index % 2);
  if (has(words, 'children', 'child', 'infants', 'infant', 'kids')) return index % 2;
  if (has(words, 'nights', 'rooms') && has(words, 'number', 'no')) return 1 + (index % 3);
  if (has(words, 'id', 'number', 'no', 'reference', 'key') || (words.length === 0 && whole)) return 400_100 + index * 7;
  if (has(words, 'age')) return 8;
  if (has(words, 'nights', 'quantity', 'count', 'rooms', 'units')) return 1 + (index % 3);
  if (has(words, 'total', 'page', 'limit', 'offset') && whole && around.length <= 1) return 180;
  if (whole && !has(words, 'amount', 'price', 'total', 'cents')) return index % 5;
  const money = has([...around, ...words], 'total') ? 300.5 : 90.5;
  return whole ? Math.round(money * 100) + index : money + index;
}

function textFor(schema: JsonObject, words: readonly string[], around: readonly string[], index: number): string {
  const choices = enumOf(schema);
  if (choices.length > 0) return String(choices[index % choices.length]);
  const format = textOf(schema.format);
  const shown = format === '' ? writtenFormat([exampleOf(schema)], textOf(schema.description)) : undefined;
  if (format === 'date' || format === 'date-time' || shown !== undefined || isDateName(words)) {
    const date = dateFor(format, words, around, index);
    return shown === undefined || shown === 'iso' ? date : inFormat(date, shown);
  }
  if (format === 'time') return '15:00';
  if (format === 'uuid') return `1f0c2a7e-0000-4000-8000-${String(100_000_000_000 + index)}`;
  const all = [...around, ...words];
  if (format === 'email' || has(words, 'email', 'mail')) return `guest${index}@mail.example`;
  if (has(words, 'phone', 'telephone', 'mobile', 'cell', 'tel')) return `+35191234${String(5_000 + index)}`;
  if (has(words, 'currency')) return 'EUR';
  if (has(words, 'nationality', 'citizenship')) return pick(['PT', 'DE', 'FR'], index);
  if (has(words, 'country') || (has(words, 'code') && has(around, 'nationality', 'country')))
    return pick(['PT', 'DE'], index);
  if (has(words, 'isocode') || (has(words, 'iso') && has(all, 'nationality', 'country')))
    return pick(['PT', 'DE'], index);
  if (has(words, 'first', 'given', 'forename')) return pick(['Ana', 'Rui', 'Mia'], index);
  if (has(words, 'last', 'surname', 'family')) return pick(['Moura', 'Lopes', 'Reis'], index);
  if (has(words, 'status')) return pick(['Confirmed', 'Cancelled', 'CheckedIn'], index);
  if (has(words, 'adults', 'adult')) return String(1 + (index % 2));
  if (has(words, 'children', 'child')) return String(index % 2);
  if (has(words, 'amount', 'price', 'total', 'balance', 'deposit')) return `${120 + index}.50`;
  if (has(words, 'board', 'meal')) return pick(['BB', 'HB', 'RO'], index);
  if (has(words, 'number', 'id', 'ref', 'reference', 'confirmation', 'locator')) return `A${100_200 + index}`;
  if (has(words, 'channel')) return pick(['BDC', 'WEB', 'EXP'], index);
  if (has(words, 'code')) return pick(['STD', 'DLX', 'FAM'], index);
  if (has(words, 'name')) return pick(['Deluxe', 'Standard', 'Family'], index);
  return pick(['alpha', 'beta', 'gamma', 'delta'], index);
}

function pick(values: readonly string[], index: number): string {
  return values[index % values.length] ?? '';
}

function isDateName(words: readonly string[]): boolean {
  if (has(words, 'date', 'birthday', 'dob')) return true;
  const name = words.join(' ');
  return /^(?:.* )?(?:check in|check out|arrival|departure)$/.test(name);
}

function dateFor(format: string, words: readonly string[], around: readonly string[], index: number): string {
  const near = [...around.slice(-1), ...words];
  const offset = has(near, 'birth', 'dob', 'birthday', 'born')
    ? -14_000
    : has(words, 'departure', 'depart', 'out', 'end', 'to', 'until', 'checkout', 'leave')
      ? 3
      : has(words, 'created', 'create', 'booked', 'booking', 'made', 'inserted')
        ? -40
        : has(words, 'modified', 'updated', 'changed', 'cancelled', 'cancellation')
          ? -10
          : 0;
  const date = day(offset + (index % recordCount));
  return format === 'date-time' ? `${date}T12:00:00Z` : date;
}

/** Days after 2026-06-01, without a clock. */
function day(offset: number): string {
  const ms = 1_780_272_000_000 + offset * 86_400_000;
  return new Date(ms).toISOString().slice(0, 10);
}
