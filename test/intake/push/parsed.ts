import type { EventPath } from '../../../src/intake/push/event-path.ts';
import type { NewEvent } from '../../../src/intake/push/ports.ts';
import { readAhead } from '../../../src/intake/push/reservation-event.ts';
import { parseJson } from '../../../src/kit/json.ts';
import type { JsonObject } from '../../../src/terms.ts';

/** The event as the node has it that accepted it and applies it on arrival. */
export function parsed(path: EventPath, event: NewEvent): NewEvent {
  const { data } = parseJson(event.rawBody.toString('utf8')) as { data: JsonObject };
  return { ...event, data, ahead: readAhead(path, { ...event, data }) };
}
