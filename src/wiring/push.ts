import type { EnvelopeDocument } from '../documents/connector-envelope.ts';
import { durationMs } from '../documents/duration.ts';
import { type EventType, eventTypes } from '../intake/push/envelope.ts';
import type { ForeignEnvelope } from '../intake/push/foreign-envelope.ts';
import { type IntakePorts, openPushIntake, type PushIntake } from '../intake/push/intake.ts';
import type { PushSettings } from '../intake/push/ports.ts';
import { defaultVerification, type Verification } from '../intake/push/verify.ts';
import { systemClock } from '../kit/clock.ts';
import { open, seal } from '../kit/crypto.ts';
import { type StrictLimits, strictLimits } from '../kit/json-strict.ts';
import type { ActiveIntegration } from '../runtime/active.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { openIntakePool } from '../store/db/intake-pool.ts';
import { appendEvents } from '../store/events/append.ts';
import { loadEndpoints, type Sealer } from '../store/events/endpoints.ts';
import { writeRejections } from '../store/events/rejections.ts';

/** Webhook secrets are sealed with the workspace's key, like every other secret. One that does not open verifies nothing. */
export function sealerOf({ keyring, log }: Pick<Runtime, 'keyring' | 'log'>): Sealer {
  return {
    seal: (plain, boundTo) => seal(keyring, plain, boundTo),
    open: (sealed, boundTo) => {
      const opened = open(keyring, sealed, boundTo);
      if (opened.kind === 'ok') return opened.plaintext.toString('utf8');
      log.error(
        { code: 'documents.secret_sealed', secret: boundTo },
        'push: a webhook secret does not open with this key',
      );
      return undefined;
    },
  };
}

export function openIntake(runtime: Runtime, more: Pick<IntakePorts, 'answered'> = {}): PushIntake {
  const sealer = sealerOf(runtime);
  const pool = openIntakePool(runtime.pool, (error) =>
    runtime.log.warn({ error: error.message }, 'push: a database connection was lost; it is replaced'),
  );
  const intake = openPushIntake({
    ...more,
    clock: systemClock,
    loadEndpoints: (ids) => loadEndpoints(pool, sealer, ids),
    settings: (integration) => {
      const found = runtime.active().integrations.get(integration);
      return found && pushSettings(found);
    },
    jsonLimits: () => jsonLimits(runtime),
    insert: (events, written) => appendEvents(pool, events, written),
    writeRejections: (batch) => writeRejections(runtime.pool, batch),
    stored: () => runtime.wake.signal('events'),
    onError: (error) =>
      runtime.log.warn(
        { error: error instanceof Error ? error.message : String(error) },
        'push: the store did not take events',
      ),
  });
  return {
    ...intake,
    close: async () => {
      await intake.close();
      await pool.end();
    },
  };
}

export function jsonLimits(runtime: Runtime): StrictLimits {
  const { json_depth, array_length } = runtime.active().settings.limits;
  return { ...strictLimits, maxDepth: json_depth, maxArrayLength: array_length };
}

const settingsOf = new WeakMap<ActiveIntegration, PushSettings>();

export function pushSettings(integration: ActiveIntegration): PushSettings {
  const known = settingsOf.get(integration);
  if (known) return known;
  const { push } = integration.body;
  const { event_id: places = ['event_id', 'id'], envelope } = integration.connector.body.push ?? {};
  const settings: PushSettings = {
    enabled: push.enabled,
    brandId: integration.body.brand_id,
    verification: verificationOf(integration),
    ...(envelope && { envelope: foreignEnvelope(envelope) }),
    eventIdPlaces: places === false ? undefined : [places].flat(),
    rate: {
      perSecond: (push.rate.requests * 1000) / durationMs(push.rate.per),
      burst: push.rate.burst ?? push.rate.requests,
    },
  };
  settingsOf.set(integration, settings);
  return settings;
}

function verificationOf({ connector }: ActiveIntegration): Verification {
  const given = connector.body.push?.verification;
  if (given === undefined) return defaultVerification;
  if (given.type === 'standard_webhooks') return { ...given, toleranceS: 300 };
  if (given.type === 'token') {
    const { type, prefix, header, query } = given;
    return { type, prefix, ...(header !== undefined && { header }), ...(query !== undefined && { query }) };
  }
  const { timestamp_header: timestampHeader, tolerance, ...hmac } = given;
  return {
    ...hmac,
    toleranceS: durationMs(tolerance) / 1000,
    ...(timestampHeader !== undefined && { timestampHeader }),
  };
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
      typeof event === 'object' && !Array.isArray(event)
        ? { places: event.join, joinedBy: event.with }
        : { places: [event].flat() },
    names: namesOf(names),
    others,
    timestamp: timestamp === false ? undefined : { ...stated(timestamp, 'timestamp'), format },
    brand: brand === false ? undefined : stated(brand, 'brand'),
    data: [data].flat(),
  };
}

function namesOf(names: EnvelopeDocument['names']): ReadonlyMap<string, EventType> {
  const pairs = eventTypes.flatMap((ours) => {
    const theirs = names === undefined ? ours : (names[ours] ?? []);
    return [theirs].flat().map((name) => [name.toLowerCase(), ours] as const);
  });
  return new Map(pairs);
}
