import type { Brand } from '../../brand/brand.ts';
import type { Connector } from '../../documents/connector.ts';
import type { EnvelopeDocument } from '../../documents/connector-events.ts';
import type { Integration } from '../../documents/integration.ts';
import { durationMs } from '../../documents/units.ts';
import type { Clock } from '../../kit/clock.ts';
import type { EpochMs } from '../../terms.ts';
import { type EventType, eventTypes } from './envelope.ts';
import type { Endpoint, ForeignEnvelope, PushSettings } from './ports.ts';
import { defaultVerification, type Verification } from './verification.ts';

/**
 * An in-memory cache of the endpoints. A known endpoint costs no query. Unknown ids are looked up together, with one query at
 * a time and at most twenty a second, so that a new endpoint works at once on every node and a flood of guessed ids hardly
 * loads the database.
 */
interface DirectoryPorts {
  readonly clock: Clock;
  readonly load: (ids: readonly string[]) => Promise<readonly Endpoint[]>;
  readonly onError?: (error: unknown) => void;
}

const spacingMs = 50;
const idsPerQuery = 500;
const maxWaiting = 5_000;
/** Known endpoints are reloaded in the background, for changes that no refused request reveals. */
const refreshAfterMs = 30_000;
const idForm = /^[A-Za-z0-9_-]{8,64}$/;

export function openDirectory(ports: DirectoryPorts) {
  const entries = new Map<string, { readonly endpoint: Endpoint; readonly checkedAt: EpochMs }>();
  const wanted = new Map<string, PromiseWithResolvers<Endpoint | undefined>>();
  let running = false;

  const ask = (endpointId: string): Promise<Endpoint | undefined> => {
    const request = wanted.get(endpointId);
    if (request) return request.promise;
    if (wanted.size >= maxWaiting) return Promise.resolve(entries.get(endpointId)?.endpoint);
    const asked = Promise.withResolvers<Endpoint | undefined>();
    wanted.set(endpointId, asked);
    if (!running) void run();
    return asked.promise;
  };

  const run = async () => {
    running = true;
    while (wanted.size > 0) {
      const asked = [...wanted].slice(0, idsPerQuery);
      for (const [id] of asked) wanted.delete(id);
      const checkedAt = ports.clock.now();
      try {
        const loaded = new Map(
          (await ports.load(asked.map(([id]) => id))).map((endpoint) => [endpoint.endpointId as string, endpoint]),
        );
        for (const [id, { resolve }] of asked) {
          const endpoint = loaded.get(id);
          if (endpoint) entries.set(id, { endpoint, checkedAt });
          else entries.delete(id);
          resolve(endpoint);
        }
      } catch (error) {
        ports.onError?.(error);
        for (const [, { reject }] of asked) reject(error);
      }
      if (wanted.size > 0) await ports.clock.wait(spacingMs);
    }
    running = false;
  };

  return {
    /** The endpoint as of `staleBefore` or later; rejects when the store must be asked and does not answer. */
    endpoint(endpointId: string, staleBefore: EpochMs): Endpoint | undefined | Promise<Endpoint | undefined> {
      const entry = entries.get(endpointId);
      if (entry === undefined) return idForm.test(endpointId) ? ask(endpointId) : undefined;
      if (entry.checkedAt < staleBefore) return ask(endpointId);
      if (ports.clock.now() - entry.checkedAt > refreshAfterMs) ask(endpointId).catch(() => {});
      return entry.endpoint;
    },
    /** Looks only in memory. */
    peek: (endpointId: string) => entries.get(endpointId)?.endpoint,
    /** Drops everything, after documents or endpoints changed. */
    clear: () => entries.clear(),
  };
}

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
