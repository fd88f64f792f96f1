import type { ActiveIntegration } from '../active.ts';
import { durationMs } from '../documents/duration.ts';
import type { Ground } from '../ground.ts';
import { type IntakePorts, openPushIntake, type PushIntake } from '../intake/push/intake.ts';
import type { PushSettings } from '../intake/push/ports.ts';
import { defaultVerification, type Verification } from '../intake/push/verify.ts';
import { systemClock } from '../kit/clock.ts';
import { open, seal } from '../kit/crypto.ts';
import { type StrictLimits, strictLimits } from '../kit/json-strict.ts';
import { loadEndpoints, type Sealer } from '../store/endpoints.ts';
import { appendEvents } from '../store/events.ts';
import { openIntakePool } from '../store/intake-pool.ts';
import { writeRejections } from '../store/rejections.ts';

/** Webhook secrets are sealed with the workspace's key, like every other secret. One that does not open verifies nothing. */
export function sealerOf({ keyring, log }: Pick<Ground, 'keyring' | 'log'>): Sealer {
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

export function openIntake(ground: Ground, more: Pick<IntakePorts, 'answered'> = {}): PushIntake {
  const sealer = sealerOf(ground);
  const pool = openIntakePool(ground.pool, (error) =>
    ground.log.warn({ error: error.message }, 'push: a database connection was lost; it is replaced'),
  );
  const intake = openPushIntake({
    ...more,
    clock: systemClock,
    loadEndpoints: (ids) => loadEndpoints(pool, sealer, ids),
    settings: (integration) => {
      const found = ground.active().integrations.get(integration);
      return found && pushSettings(found);
    },
    jsonLimits: () => jsonLimits(ground),
    insert: (events, written) => appendEvents(pool, events, written),
    writeRejections: (batch) => writeRejections(ground.pool, batch),
    stored: () => ground.wake.signal('events'),
    onError: (error) =>
      ground.log.warn(
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

export function jsonLimits(ground: Ground): StrictLimits {
  const { json_depth, array_length } = ground.active().settings.limits;
  return { ...strictLimits, maxDepth: json_depth, maxArrayLength: array_length };
}

const settingsOf = new WeakMap<ActiveIntegration, PushSettings>();

export function pushSettings(integration: ActiveIntegration): PushSettings {
  const known = settingsOf.get(integration);
  if (known) return known;
  const { push } = integration.body;
  const places = integration.connector.body.push?.event_id ?? ['event_id', 'id'];
  const settings: PushSettings = {
    enabled: push.enabled,
    brandId: integration.body.brand_id,
    verification: verificationOf(integration),
    eventIdPlaces: [places].flat(),
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
  if (given.type === 'standard_webhooks') return { type: given.type, toleranceS: 300 };
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
