import type { EpochMs, Json, JsonObject } from '../../terms.ts';
import { type EnvelopeProblem, type EventType, readEnvelope } from './envelope.ts';
import { findEventId } from './event-id.ts';
import { readForeign } from './foreign-envelope.ts';
import type { PushSettings } from './ports.ts';
import type { Request } from './verification.ts';

/** One event of a body, in our envelope's terms. */
export interface ReadEvent {
  readonly eventId: string;
  readonly event: EventType;
  /** Undefined when the sender states no time. */
  readonly occurredAt: EpochMs | undefined;
  readonly data: JsonObject;
  /** The bytes to store: the sender's, or for a foreign envelope our own envelope around the sender's data. */
  readonly body: Buffer;
}

export type EventsRead =
  | {
      readonly kind: 'ok';
      readonly events: readonly ReadEvent[];
      /** The id in the answer: the first event's when there are several. */
      readonly eventId: string;
      /** How many events of the body the connector ignores. */
      readonly ignored: number;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly EnvelopeProblem[] };

/** Reads the events of a verified body: one event in our envelope, or those of the sender's own envelope. */
export function readEvents(settings: PushSettings, body: Json, { headers, rawBody }: Request): EventsRead {
  if (settings.envelope) return readForeign(settings.envelope, settings, { body, headers, rawBody });
  const read = readEnvelope(body, settings.brandId);
  const id = findEventId(settings.eventIdPlaces, { item: body, body, headers }, rawBody);
  if (read.kind === 'invalid' || id.kind === 'invalid') {
    const problems = read.kind === 'invalid' ? [...read.problems] : [];
    if (id.kind === 'invalid') problems.push(id);
    return { kind: 'invalid', problems };
  }
  const { eventId } = id;
  return { kind: 'ok', events: [{ ...read.envelope, eventId, body: rawBody }], eventId, ignored: 0 };
}
