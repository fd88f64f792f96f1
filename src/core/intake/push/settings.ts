import type { Brand } from '../../brand/brand.ts';
import type { Connector } from '../../documents/connector.ts';
import type { EnvelopeDocument } from '../../documents/connector-events.ts';
import type { Integration } from '../../documents/integration.ts';
import { durationMs } from '../../documents/units.ts';
import { type EventType, eventTypes } from './envelope.ts';
import { defaultVerification, type Verification } from './verification.ts';

/** The push settings from an integration's documents. */
export type PushSettings = ReturnType<typeof pushSettings>;

/** Where a sender with its own envelope keeps the fields of ours; compiled from the connector. */
export type ForeignEnvelope = ReturnType<typeof foreignEnvelope>;

/** How intake receives a brand's webhooks: read for every request, so compiled once. */
export function pushSettingsOf(brand: Pick<Brand, 'body' | 'connector'>): PushSettings {
  const known = compiled.get(brand.body);
  if (known?.connector === brand.connector.body) return known.settings;
  const settings = pushSettings(brand.body, brand.connector.body);
  compiled.set(brand.body, { connector: brand.connector.body, settings });
  return settings;
}

const compiled = new WeakMap<Integration, { readonly connector: Connector; readonly settings: PushSettings }>();

export function pushSettings({ push, brand_id: brandId }: Integration, connector: Connector) {
  const { envelope, thin, xml } = connector.push ?? {};
  return {
    enabled: push.enabled,
    /** The brand is not live yet: its events are reported, not stored. */
    rehearses: push.sandbox,
    brandId,
    verification: verificationOf(connector),
    /** How events in XML are answered; absent when they are JSON. */
    ...(xml && { xml: xml.answer }),
    /** Absent when the sender uses our envelope. */
    ...(envelope && { envelope: foreignEnvelope(envelope) }),
    /** Events name a reservation that is then fetched: one that is received twice does no harm. */
    isThin: thin !== undefined,
    eventIdPlaces: eventIdPlaces(connector),
    rate: {
      perSecond: (push.rate.requests * 1000) / durationMs(push.rate.per),
      burst: push.rate.burst ?? push.rate.requests,
    },
  };
}

/**
 * Paths in the event, or header.NAME; the first that holds an id wins. Undefined turns deduplication off. Where the event is the reservation
 * itself, the reservation's id is not the event's: its second event would be a duplicate.
 */
export function eventIdPlaces({ map, push }: Pick<Connector, 'push'> & Partial<Pick<Connector, 'map'>>) {
  const { event_id: places = ['event_id', 'id'], envelope, thin } = push ?? {};
  if (places === false) return undefined;
  const own: unknown[] = envelope?.data === '$item' ? [thin?.id ?? push?.map?.id ?? map?.id ?? 'id'].flat() : [];
  return [places].flat().filter((place) => !own.includes(place));
}

function verificationOf(connector: Connector): Verification {
  const given = connector.push?.verification;
  if (given === undefined) return defaultVerification;
  if (given.type === 'standard_webhooks') return { ...given, toleranceS: 300 };
  if (given.type === 'token' || given.type === 'basic') return given;
  const { timestamp_header: timestampHeader, timestamp_format: timestampFormat, tolerance, ...hmac } = given;
  return { ...hmac, timestampHeader, timestampFormat, toleranceS: durationMs(tolerance) / 1000 };
}

export function foreignEnvelope(document: EnvelopeDocument) {
  const { each, json, event, names, others, timestamp, timestamp_format: format, brand, data, optional } = document;
  const stated = (places: string | readonly string[], name: 'timestamp' | 'brand') => ({
    places: [places].flat(),
    optional: optional.includes(name),
  });
  return {
    /** The list of events in the body; a body without it is one event. */
    ...(each !== undefined && { each }),
    /** A key of the body with JSON in a text. */
    ...(json !== undefined && { json }),
    /** Undefined when the sender names no events: each one is an update. `joinedBy` joins all places; else the first with a value counts. */
    event:
      event === false
        ? undefined
        : typeof event === 'object' && !Array.isArray(event)
          ? { places: event.join, joinedBy: event.with }
          : { places: [event].flat() },
    /** The sender's event names in lower case, mapped to ours. */
    names: namesOf(names),
    others,
    /** Undefined when the sender never states it. */
    timestamp: timestamp === false ? undefined : { ...stated(timestamp, 'timestamp'), format },
    brand: brand === false ? undefined : stated(brand ?? 'brand_id', 'brand'),
    /** Places of an object, or the place of an id that is all of the data. */
    data: typeof data === 'object' && !Array.isArray(data) ? { id: data.id } : [data].flat(),
  };
}

function namesOf(names: EnvelopeDocument['names']): ReadonlyMap<string, EventType> {
  const pairs = eventTypes.flatMap((ours) => {
    const theirs = names === undefined ? ours : (names[ours] ?? []);
    return [theirs].flat().map((name) => [name.toLowerCase(), ours] as const);
  });
  return new Map(pairs);
}
