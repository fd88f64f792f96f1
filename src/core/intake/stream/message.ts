import type { EpochMs, Json } from '../../../terms.ts';
import { at, firstText, pointerTo, textOf } from '../push/envelope.ts';
import { readForeign } from '../push/foreign-envelope.ts';
import type { MessageKind, Stream, StreamEvent } from './ports.ts';

/** A message of a stream: its offset, and the event if one of our brands is concerned. */
export interface ReadMessage {
  readonly kind: MessageKind;
  readonly offset?: string | undefined;
  readonly event?: StreamEvent;
  readonly occurredAt?: EpochMs | undefined;
  /** The property of somebody else that it names, and where. */
  readonly property?: { readonly text: string; readonly place: string };
  /** What is not as the connector says: the setting that is wrong, and the places as pointers. */
  readonly refused?: { readonly reason: string; readonly places: string };
}

/** What of a stream reads its messages. */
type Reader = Pick<Stream, 'eventPath' | 'offsetPath' | 'brandPlaces'> & {
  readonly brands: Pick<Stream['brands'], 'get'>;
};

const nothingAt = (setting: string, place: string) => {
  const places = pointerTo(place, '');
  return { reason: `${setting} finds nothing at ${places}`, places };
};

/** Every message moves the offset, also one of another property or one that cannot be read: the same connector would refuse it again. */
export function readMessage(stream: Reader, payload: Json | undefined): ReadMessage {
  const item = payload === undefined ? undefined : at(payload, `data.${stream.eventPath}`);
  if (item === undefined) return { kind: 'invalid', refused: nothingAt('stream.event', `data.${stream.eventPath}`) };
  const offset = textOf(at(item, stream.offsetPath));
  const scope = { item, body: item, headers: {} };
  const named = firstText(scope, stream.brandPlaces);
  if (named === undefined) {
    return { kind: 'invalid', offset, refused: nothingAt('push.envelope.brand', stream.brandPlaces[0] ?? '') };
  }
  const brand = stream.brands.get(named.text);
  if (brand?.settings.envelope === undefined) return { kind: 'other_property', offset, property: named };
  const arrival = { body: item, headers: {}, rawBody: Buffer.from(JSON.stringify(item)) };
  const read = readForeign(brand.settings.envelope, brand.settings, arrival);
  if (read.kind === 'invalid') {
    const places = read.problems.map(({ pointer }) => pointer).join(' ');
    return { kind: 'invalid', offset, refused: { reason: `push.envelope cannot read ${places}`, places } };
  }
  const [first] = read.events;
  if (first === undefined) return { kind: 'ignored', offset };
  const { eventId, event, occurredAt, body: rawBody } = first;
  const { integration } = brand;
  const known = {
    kind: 'event',
    offset,
    occurredAt,
    event: { integration, eventId, event, occurredAt, rawBody },
  } as const;
  return offset === undefined ? { ...known, refused: nothingAt('stream.offset', stream.offsetPath) } : known;
}
