import type { EpochMs, Json, JsonObject } from '../../terms.ts';
import { type EnvelopeProblem, type EventType, readEnvelope } from './envelope.ts';
import { findEventId } from './event-id.ts';
import { readForeign } from './foreign-envelope.ts';
import type { PushSettings } from './ports.ts';
import type { Request } from './verify.ts';

/** One event of a body, in our own words. */
export interface ReadEvent {
  readonly eventId: string;
  readonly event: EventType;
  readonly occurredAt: EpochMs;
  readonly data: JsonObject;
  /** What is stored: the sender's bytes; of a foreign envelope our own around the sender's data. */
  readonly body: Buffer;
}

export type EventsRead =
  | {
      readonly kind: 'ok';
      readonly events: readonly ReadEvent[];
      /** What the sender is told; the first one's where there are several. */
      readonly eventId: string;
      /** How many it held that nobody asked for. */
      readonly ignored: number;
    }
  | { readonly kind: 'invalid'; readonly problems: readonly EnvelopeProblem[] };

/** What a body holds whose signature was right: one event in our envelope, or what the connector says of its sender's. */
export function readEvents(
  settings: PushSettings,
  body: Json,
  { headers, rawBody }: Request,
  receivedAt: EpochMs,
): EventsRead {
  if (settings.envelope) {
    return readForeign(settings.envelope, settings, { body, headers, rawBody, receivedAt });
  }
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
