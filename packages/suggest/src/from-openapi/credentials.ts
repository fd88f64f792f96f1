import { wordsOf } from '../words.ts';
import type { Parameter } from './model.ts';

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
