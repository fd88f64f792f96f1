import type { OutgoingEvent } from '../../../sender/src/index.ts';

/** Reads events from text: one JSON object, an array, or one per line. Numbers keep their digits. */
export function readEvents(text: string): readonly OutgoingEvent[] | { readonly wrong: string } {
  const parsed = parseAll(text);
  if ('wrong' in parsed) return parsed;
  const events: OutgoingEvent[] = [];
  for (const [index, value] of parsed.values.entries()) {
    const which = parsed.values.length === 1 ? 'The event' : `Event ${index + 1}`;
    if (typeof value !== 'object' || value === null) return { wrong: `${which} is not an object.` };
    const { event, data, event_id: id, timestamp, brand_id: brand } = value as Record<string, unknown>;
    if (typeof event !== 'string') return { wrong: `${which} has no event, such as reservation.updated.` };
    if (typeof data !== 'object' || data === null || Array.isArray(data))
      return { wrong: `${which} has no data object.` };
    events.push({
      event,
      data: data as Record<string, unknown>,
      ...(typeof id === 'string' ? { event_id: id } : {}),
      ...(typeof timestamp === 'string' ? { timestamp } : {}),
      ...(typeof brand === 'string' ? { brand_id: brand } : {}),
    });
  }
  return events.length === 0 ? { wrong: 'The input contains no events.' } : events;
}

function parseAll(text: string): { readonly values: readonly unknown[] } | { readonly wrong: string } {
  try {
    const whole = parse(text);
    return { values: Array.isArray(whole) ? whole : [whole] };
  } catch {
    const lines = text.split('\n').filter((line) => line.trim() !== '');
    try {
      return { values: lines.map(parse) };
    } catch (error) {
      return {
        wrong: `The input is not JSON: ${error instanceof Error ? error.message.replace(/"[^"]*"\s/g, '') : ''}`,
      };
    }
  }
}

function parse(text: string): unknown {
  const exact = JSON as unknown as { rawJSON(source: string): unknown };
  return JSON.parse(text, (_key, value: unknown, context?: { source?: string }) =>
    typeof value === 'number' && context?.source !== undefined ? exact.rawJSON(context.source) : value,
  );
}
