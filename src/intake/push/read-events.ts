import type { Json } from '../../terms.ts';
import { readEnvelope } from './envelope.ts';
import { findEventId } from './event-id.ts';
import type { EventsRead } from './foreign-envelope.ts';
import { readForeign } from './foreign-envelope.ts';
import type { PushSettings } from './ports.ts';
import type { Request } from './verification.ts';

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
