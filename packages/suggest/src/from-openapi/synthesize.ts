import { isObject, type Json, type JsonObject } from '../../../../src/terms.ts';
import { wordSet, wordsOf } from '../words.ts';
import { day, numberFor, recordCount, textFor } from './example-values.ts';
import { enumOf, flattened, propertiesOf, textOf, typeOf } from './schema.ts';

/**
 * A made-up response in the shape of a schema, so that a description is read by the same rules as a sample. Values follow the
 * type, the format and the words of the name; records differ where real ones would (ids, dates, statuses).
 * Deterministic: the same schema gives the same response.
 */
export function synthesize(schema: JsonObject, statuses: readonly string[] = []): Json {
  return new Synthesis(statuses).value(schema, '', { around: [], index: 0, depth: 0 }) ?? null;
}

const maxDepth = 10;
/** A schema that contains itself many times over must not grow without bound. */
const maxNodes = 60_000;

interface SchemaPlace {
  /** The words of the objects around the value. */
  readonly around: readonly string[];
  /** The number of the record, so that records differ. */
  readonly index: number;
  readonly depth: number;
}

class Synthesis {
  readonly #statuses: readonly string[];
  /** The enclosing schemas: a type inside itself is left out. */
  readonly #open = new Set<Json>();
  #nodes = 0;
  #lists = 0;

  constructor(statuses: readonly string[]) {
    this.#statuses = statuses;
  }

  value(input: Json | undefined, name: string, place: SchemaPlace): Json | undefined {
    this.#nodes += 1;
    const isTooDeep = place.depth > maxDepth || this.#nodes > maxNodes;
    if (input === undefined || isTooDeep || this.#open.has(input)) return undefined;
    this.#open.add(input);
    const value = this.#inside(input, name, place);
    this.#open.delete(input);
    return value;
  }

  #inside(input: Json, name: string, place: SchemaPlace): Json | undefined {
    const schema = flattened(input);
    const words = wordsOf(name);
    const { around, index } = place;
    switch (typeOf(schema)) {
      case 'array':
        return this.#list(schema, name, place);
      case 'object':
        return this.#object(schema, words, place);
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

  #list(schema: JsonObject, name: string, { around, index, depth }: SchemaPlace): Json {
    const items = flattened(schema.items);
    // The first lists of objects may be the records, or contain them; lists inside records are short.
    const outer = typeOf(items) === 'object' && this.#lists === 0;
    const length = outer ? recordCount : identifies(items, name) ? 3 : 2;
    if (outer) this.#lists += 1;
    const list: Json[] = [];
    for (let item = 0; item < length; item += 1) {
      // Elements inside a record differ from each other and between records.
      const inside = { around, index: outer ? item : index + item * recordCount, depth: depth + 1 };
      const value = this.value(schema.items, name, inside);
      if (value !== undefined) list.push(value);
    }
    if (outer) this.#lists -= 1;
    return list;
  }

  #object(schema: JsonObject, words: readonly string[], { around, index, depth }: SchemaPlace): JsonObject | undefined {
    const properties = Object.entries(propertiesOf(schema));
    const inside = { around: [...around, ...words], index, depth: depth + 1 };
    if (properties.length === 0 && isObject(schema.additionalProperties)) return this.#map(schema, inside);
    const object: JsonObject = {};
    for (const [key, property] of properties) {
      if (isAside(wordsOf(key), property)) continue;
      const value = isTypeOfId(key, propertiesOf(schema), words)
        ? idTypes[Math.floor(index / recordCount) % idTypes.length]
        : this.value(property, key, inside);
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
  #map(schema: JsonObject, { around, index, depth }: SchemaPlace): JsonObject {
    const byDate = /\bdates?\b/i.test(textOf(schema.description));
    const keys = byDate ? [day(index), day(index + 1)] : [String(70_000 + index * 2), String(70_001 + index * 2)];
    const map: JsonObject = {};
    for (const [item, key] of keys.entries()) {
      const value = this.value(schema.additionalProperties, '', { around, index: index + item * recordCount, depth });
      if (value !== undefined) map[key] = value;
    }
    return map;
  }
}

/**
 * Parts of a reservation that hold no field of ours. A description lists them all, a real answer has only a few. Their dates,
 * names and amounts would be mistaken for those of the reservation.
 */
const asideObjects = wordSet(
  'queue cashiering routing payment payments folio folios comment comments alert alerts preference preferences policy policies trace traces task tasks scheduled move anonymization membership memberships award awards address addresses last attachment attachments link links action actions history notes offshore promotion block warning warnings activity user indicators tracking transport gaming',
);
/** Free text. */
const asideTexts = wordSet('note notes comment comments remark remarks message');
/** Money that is not the price. */
const asideAmounts = wordSet('auth deposit limit commission balance');

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
