import type { Json, JsonObject } from '../../../../src/terms.ts';
import { wordsOf } from '../words.ts';

/**
 * An API description as far as a connector needs it, whatever format it was written in. The reader has
 * already resolved all references.
 */
export interface ApiDescription {
  readonly title?: string;
  /** Absolute addresses, the most likely first. */
  readonly servers: readonly string[];
  readonly schemes: readonly SecurityScheme[];
  readonly operations: readonly Operation[];
}

export interface Operation {
  readonly method: string;
  readonly path: string;
  /** Name, summary and description, as one text. */
  readonly about: string;
  readonly parameters: readonly Parameter[];
  readonly bodyType?: string;
  /** JSON Schema of a successful JSON response. */
  readonly response?: JsonObject;
  /** Names of the headers of a successful response. */
  readonly responseHeaders?: readonly string[];
  /** A recorded response, where the description has one. */
  readonly sample?: Json;
  /** Names of the security schemes it accepts; undefined if the description does not say. */
  readonly security?: readonly string[];
}

export interface Parameter {
  readonly in: 'query' | 'path' | 'header' | 'body';
  /** Of a body, the path of the field. */
  readonly name: string;
  readonly about: string;
  readonly required: boolean;
  readonly schema: JsonObject;
}

export interface SecurityScheme {
  readonly name: string;
  readonly type: 'bearer' | 'basic' | 'api_key' | 'oauth2' | 'other';
  /** Of an API key. */
  readonly in?: 'header' | 'query' | 'cookie';
  readonly key?: string;
  /** Of OAuth 2: the grants it offers, and where tokens are issued. */
  readonly flows?: readonly {
    readonly grant: string;
    readonly tokenUrl?: string;
    readonly scopes: readonly string[];
  }[];
}

/** A proposal with its reason. */
export interface Proposed<Value> {
  readonly value: Value;
  readonly confidence: number;
  readonly reason: string;
}

const keyWords = new Set(['key', 'token', 'secret', 'apikey', 'auth', 'password', 'license', 'licence']);

/** A header or a field that carries a credential: a key or a token, or an id of the application that asks. */
export function isCredential({ name }: Parameter): boolean {
  const words = wordsOf(name);
  if (name.toLowerCase() === 'authorization') return false;
  return (
    words.some((word) => keyWords.has(word)) ||
    (words.includes('id') && /\b(?:app|client|partner)\b/.test(words.join(' ')))
  );
}

const propertyWords = new Set(['hotel', 'property', 'enterprise', 'location', 'site', 'branch', 'establishment']);

/** A parameter that names the property: hotelId, propertyID, x-hotelid, hotelCode. */
export function namesProperty({ name }: Parameter): boolean {
  const words = wordsOf(name).filter((word) => word !== 'x');
  if (/^(?:x-)?(?:hotel|property)id$/i.test(name)) return true;
  // filter[property]
  if (words.length === 2 && words[0] === 'filter' && propertyWords.has(words[1] ?? '')) return true;
  return (
    words.length <= 2 &&
    words.some((word) => propertyWords.has(word)) &&
    words.some((word) => word === 'id' || word === 'code')
  );
}
