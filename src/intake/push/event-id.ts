import { hash } from 'node:crypto';
import { randomId } from '../../kit/ids.ts';
import { firstText, pointerTo, type Scope } from './place.ts';

export type EventIdResult =
  | { readonly kind: 'ok'; readonly eventId: string }
  | { readonly kind: 'invalid'; readonly pointer: string; readonly detail: string };

/** Longer ids than these are a mistake of the sender, and would not fit an index. */
const maxLength = 256;

/** Where in its body an event stands, for bodies that hold several. */
export interface Nth {
  readonly index: number;
  readonly pointer: string;
}

/**
 * The id that tells a repeated event from a new one: the first of the places that holds one, else a digest of the body's
 * bytes, so that a retry of the very same body is still known. Where even equal bodies are different events (no places at all), it
 * is a new one each time. What several events of a body share is told apart by their place in it.
 */
export function findEventId(
  places: readonly string[] | undefined,
  scope: Scope,
  rawBody: Buffer,
  nth?: Nth,
): EventIdResult {
  if (places === undefined) return { kind: 'ok', eventId: randomId('evt') };
  const found = firstText(scope, places);
  const shared = found === undefined || /^(?:header|\$body)\./.test(found.place);
  const id = found?.text ?? `sha256:${hash('sha256', rawBody)}`;
  const eventId = nth !== undefined && shared ? `${id}/${nth.index}` : id;
  if (eventId.length <= maxLength) return { kind: 'ok', eventId };
  const pointer = found === undefined ? '' : pointerTo(found.place, nth?.pointer ?? '');
  return { kind: 'invalid', pointer, detail: `The event id is longer than ${maxLength} characters.` };
}
