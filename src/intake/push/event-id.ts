import { hash } from 'node:crypto';
import { randomId } from '../../kit/ids.ts';
import { firstText, pointerTo, type Scope } from './place.ts';

export type EventIdResult =
  | { readonly kind: 'ok'; readonly eventId: string }
  | { readonly kind: 'invalid'; readonly pointer: string; readonly detail: string };

/** Longer ids are a sender's mistake and would not fit into the index. */
const maxLength = 256;

/** The position of an event in a body that holds several. */
export interface Nth {
  readonly index: number;
  readonly pointer: string;
}

/**
 * The id by which repeated events are deduplicated: the first place that holds one, else a digest of the raw body, so that a
 * retry with the same bytes is recognised. Without any places, or without a raw body to digest, equal bodies are different events and
 * each gets a new id.
 * Events that share an id because they came in one body get their position appended.
 */
export function findEventId(
  places: readonly string[] | undefined,
  scope: Scope,
  rawBody: Buffer | undefined,
  nth?: Nth,
): EventIdResult {
  if (places === undefined) return { kind: 'ok', eventId: randomId('evt') };
  const found = firstText(scope, places);
  const shared = found === undefined || /^(?:header|\$body)\./.test(found.place);
  const id = found?.text ?? (rawBody && `sha256:${hash('sha256', rawBody)}`);
  if (id === undefined) return { kind: 'ok', eventId: randomId('evt') };
  const eventId = nth !== undefined && shared ? `${id}/${nth.index}` : id;
  if (eventId.length <= maxLength) return { kind: 'ok', eventId };
  const pointer = found === undefined ? '' : pointerTo(found.place, nth?.pointer ?? '');
  return { kind: 'invalid', pointer, detail: `The event id is longer than ${maxLength} characters.` };
}
