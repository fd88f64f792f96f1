import type { Brand } from '../../brand/brand.ts';
import type { Connector } from '../../documents/connector.ts';
import type { EnvelopeDocument } from '../../documents/connector-envelope.ts';
import { durationMs } from '../../documents/duration.ts';
import type { Integration } from '../../documents/integration.ts';
import { type EventType, eventTypes } from './envelope.ts';
import type { ForeignEnvelope, PushSettings } from './ports.ts';
import { defaultVerification, type Verification } from './verification.ts';

/** How intake receives a brand's webhooks: read for every request, so compiled once. */
export function pushSettingsOf(brand: Pick<Brand, 'body' | 'connector'>): PushSettings {
  const known = compiled.get(brand.body);
  if (known?.connector === brand.connector.body) return known.settings;
  const settings = pushSettings(brand.body, brand.connector.body);
  compiled.set(brand.body, { connector: brand.connector.body, settings });
  return settings;
}

const compiled = new WeakMap<Integration, { readonly connector: Connector; readonly settings: PushSettings }>();

export function pushSettings({ push, brand_id: brandId }: Integration, connector: Connector): PushSettings {
  const { event_id: places = ['event_id', 'id'], envelope, thin } = connector.push ?? {};
  return {
    enabled: push.enabled,
    rehearses: push.sandbox,
    brandId,
    verification: verificationOf(connector),
    ...(envelope && { envelope: foreignEnvelope(envelope) }),
    isThin: thin !== undefined,
    eventIdPlaces: places === false ? undefined : [places].flat(),
    rate: {
      perSecond: (push.rate.requests * 1000) / durationMs(push.rate.per),
      burst: push.rate.burst ?? push.rate.requests,
    },
  };
}

function verificationOf(connector: Connector): Verification {
  const given = connector.push?.verification;
  if (given === undefined) return defaultVerification;
  if (given.type === 'standard_webhooks') return { ...given, toleranceS: 300 };
  if (given.type === 'token' || given.type === 'basic') return given;
  const { timestamp_header: timestampHeader, timestamp_format: timestampFormat, tolerance, ...hmac } = given;
  return { ...hmac, timestampHeader, timestampFormat, toleranceS: durationMs(tolerance) / 1000 };
}

/** A sender's envelope as intake uses it. */
export function foreignEnvelope(document: EnvelopeDocument): ForeignEnvelope {
  const { each, event, names, others, timestamp, timestamp_format: format, brand, data, optional } = document;
  const stated = (places: string | readonly string[], name: 'timestamp' | 'brand') => ({
    places: [places].flat(),
    optional: optional.includes(name),
  });
  return {
    ...(each !== undefined && { each }),
    event:
      event === false
        ? undefined
        : typeof event === 'object' && !Array.isArray(event)
          ? { places: event.join, joinedBy: event.with }
          : { places: [event].flat() },
    names: namesOf(names),
    others,
    timestamp: timestamp === false ? undefined : { ...stated(timestamp, 'timestamp'), format },
    brand: brand === false ? undefined : stated(brand ?? 'brand_id', 'brand'),
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
