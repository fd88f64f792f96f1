import { hash } from 'node:crypto';
import type { Json } from '../../terms.ts';
import type { Headers } from './verify.ts';

export type EventIdResult =
  | { readonly kind: 'ok'; readonly eventId: string }
  | { readonly kind: 'invalid'; readonly pointer: string; readonly detail: string };

/** Longer ids than these are a mistake of the sender, and would not fit an index. */
const maxLength = 256;

/**
 * The id that tells a repeated event from a new one: the first of the places that holds one, else a digest of the body's
 * bytes, so that a retry of the very same body is still known.
 */
export function findEventId(places: readonly string[], body: Json, headers: Headers, rawBody: Buffer): EventIdResult {
  for (const place of places) {
    const inHeader = place.startsWith('header.');
    const value = inHeader ? headers[place.slice(7).toLowerCase()] : at(body, place);
    const id = typeof value === 'number' ? String(value) : value;
    if (typeof id !== 'string' || id.trim() === '') continue;
    if (id.length <= maxLength) return { kind: 'ok', eventId: id };
    const pointer = inHeader ? '' : `/${place.replaceAll('.', '/')}`;
    return { kind: 'invalid', pointer, detail: `The event id is longer than ${maxLength} characters.` };
  }
  return { kind: 'ok', eventId: `sha256:${hash('sha256', rawBody)}` };
}

/** The text or number at a dotted path, as text. */
export function textAt(body: Json, path: string): string | undefined {
  const value = at(body, path);
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

function at(body: Json, path: string): Json | undefined {
  let value: Json | undefined = body;
  for (const key of path.split('.')) {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || !Object.hasOwn(value, key))
      return undefined;
    value = value[key];
  }
  return value;
}
