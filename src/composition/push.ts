import { type IntakePorts, openPushIntake, type PushIntake } from '../intake/push/intake.ts';
import type { NewEvent } from '../intake/push/ports.ts';
import { pushSettingsOf } from '../intake/push/push-settings.ts';
import { open, seal } from '../kit/crypto.ts';
import { type StrictLimits, strictLimits } from '../kit/json-strict.ts';
import { errorFacts } from '../kit/log.ts';
import { withoutCards } from '../privacy/cards.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { openIntakePool } from '../store/db/intake-pool.ts';
import type { Pool } from '../store/db/pool.ts';
import { appendEvents } from '../store/events/append.ts';
import { loadEndpoints, type Sealer } from '../store/events/endpoints.ts';
import { writeRejections } from '../store/events/rejections.ts';

/** Webhook secrets are sealed with the workspace's key, like all secrets. A secret that cannot be opened verifies no signature. */
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

export interface Intake extends PushIntake {
  /** Its own connections; readiness depends on them too. */
  readonly pool: Pool;
}

export function openIntake(runtime: Runtime, more: Pick<IntakePorts, 'answered'> = {}): Intake {
  const sealer = sealerOf(runtime);
  const pool = openIntakePool(runtime.pool, (error) =>
    runtime.log.warn({ error: errorFacts(error) }, 'push: lost a database connection, opening a new one'),
  );
  const intake = openPushIntake({
    ...more,
    clock: runtime.clock,
    tracer: runtime.tracer,
    loadEndpoints: (ids) => loadEndpoints(pool, sealer, ids),
    settings: (integration) => {
      const found = runtime.active().integrations.get(integration);
      return found && pushSettingsOf(found);
    },
    jsonLimits: () => jsonLimits(runtime),
    insert: (events, written) => appendEvents(pool, events.map(withoutCardsIn), written),
    writeRejections: (batch) => writeRejections(runtime.pool, batch),
    stored: () => runtime.wake.signal('events'),
    onError: (error) => runtime.log.warn({ error: errorFacts(error) }, 'push: storing events failed'),
  });
  return {
    ...intake,
    pool,
    close: async () => {
      await intake.close();
      await pool.end();
    },
  };
}

/** Card data is removed before the first write; the signature was verified over the bytes as sent. */
export function withoutCardsIn<Event extends Pick<NewEvent, 'rawBody'>>(event: Event): Event {
  const { bytes, cards } = withoutCards(event.rawBody);
  return cards === 0 ? event : { ...event, rawBody: bytes };
}

export function jsonLimits(runtime: Runtime): StrictLimits {
  const { json_depth, array_length } = runtime.active().settings.limits;
  return { ...strictLimits, maxDepth: json_depth, maxArrayLength: array_length };
}
