import { type FetchedGuest, fetchGuest, fetchSingle } from '../core/intake/pull/request/single.ts';
import { goneIsCancelled } from '../core/intake/pull/run/unlisted.ts';
import type { Fetched, HydratorPorts } from '../core/intake/push/hydrate.ts';
import { type IntakePorts, openPushIntake, type PushIntake } from '../core/intake/push/intake.ts';
import type { NewEvent } from '../core/intake/push/ports.ts';
import { pushSettingsOf } from '../core/intake/push/settings.ts';
import { type EventWorkerPorts, openSession } from '../core/intake/push/worker.ts';
import { idOf } from '../core/pipeline/id-prefix.ts';
import { openIntakePool, type Pool } from '../core/store/db/pool.ts';
import { appendEvents } from '../core/store/events/append.ts';
import { loadEndpoints, type Sealer } from '../core/store/events/endpoints.ts';
import { buryThin, claimThin, hydrateEvents, hydrateLater } from '../core/store/events/hydration.ts';
import { writeRejections } from '../core/store/events/rejections.ts';
import { putEventsBack, setEventAside } from '../core/store/events/set-aside.ts';
import { type EventStore, workEvents } from '../core/store/events/work-events.ts';
import { storedId } from '../core/store/records/partner-ids.ts';
import { storedReservation } from '../core/store/runs/stored-reservations.ts';
import { openText, seal } from '../kit/crypto.ts';
import { type StrictLimits, strictLimits } from '../kit/json.ts';
import { errorFacts } from '../kit/log.ts';
import { withoutCards } from '../operator/privacy/cards.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { IntegrationName } from '../terms.ts';
import { pullPorts } from './pull.ts';

/** Webhook secrets are sealed with the workspace's key, like all secrets. A secret that cannot be opened verifies no signature. */
export function sealerOf({ keyring, log }: Pick<Runtime, 'keyring' | 'log'>): Sealer {
  return {
    seal: (plain, boundTo) => seal(keyring, plain, boundTo),
    open: (sealed, boundTo) => {
      const text = openText(keyring, sealed, boundTo);
      if (text === undefined) {
        const secret = { code: 'documents.secret_sealed', secret: boundTo };
        log.error(secret, 'push: a webhook secret does not open with this key');
      }
      return text;
    },
  };
}

export interface Intake extends PushIntake {
  /** Its own connections; readiness depends on them too. */
  readonly pool: Pool;
}

/** `applies`: events are applied as they arrive, by a node that also works. */
export function openIntake(
  runtime: Runtime,
  { applies = false, ...more }: Pick<IntakePorts, 'answered'> & { readonly applies?: boolean } = {},
): Intake {
  const sealer = sealerOf(runtime);
  const pool = openIntakePool(runtime.pool, (error) =>
    runtime.log.warn({ error: errorFacts(error) }, 'push: lost a database connection, opening a new one'),
  );
  const worker = eventWorkerPorts(runtime);
  const applying = applies ? { store: eventStore(runtime), session: () => openSession(worker) } : undefined;
  const intake = openPushIntake({
    ...more,
    clock: runtime.clock,
    tracer: runtime.tracer,
    loadEndpoints: (ids) => loadEndpoints(pool, sealer, ids),
    settings: (integration) => {
      const brand = runtime.active().integrations.get(integration);
      return brand && pushSettingsOf(brand);
    },
    jsonLimits: () => jsonLimits(runtime),
    insert: (events, written) => appendEvents(pool, events.map(withoutCardsIn), written, applying),
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

const eventStore = ({ pool, handover, active }: Runtime): EventStore => ({
  pool,
  handover,
  brandOf: (integration) => active().integrations.get(integration),
  othersAt: (integration, destination) =>
    [...active().integrations.values()].flatMap((one) =>
      one.integration !== integration && one.body.deliver.includes(destination) ? [one.integration] : [],
    ),
});

export function eventWorkerPorts(runtime: Runtime): EventWorkerPorts {
  const { pool } = runtime;
  const store = eventStore(runtime);
  return {
    clock: runtime.clock,
    heartbeats: runtime.heartbeats,
    wake: runtime.wake,
    tracer: runtime.tracer,
    putBack: () => putEventsBack(pool),
    batch: (batching, work) => workEvents(store, batching, work),
    setAside: async (integration, error) => {
      const brand = store.brandOf(integration);
      if (brand) await setEventAside(pool, brand, error);
    },
    worked: (integration, settled, durationMs) => {
      const outcomes: Record<string, number> = {};
      for (const one of settled) {
        const name = one.state === 'hydrate' ? 'hydrate' : one.outcome;
        outcomes[name] = (outcomes[name] ?? 0) + 1;
      }
      runtime.log.info(
        { integration, events: settled.length, ...outcomes, duration_ms: durationMs },
        'events: processed',
      );
    },
    onError: (integration, error) => runtime.log.error({ integration, error: errorFacts(error) }, 'events: failed'),
  };
}

/** Fetches the reservations of events that carry only an id. */
export function hydratorPorts(runtime: Runtime): HydratorPorts {
  const { pool } = runtime;
  const pull = pullPorts(runtime);
  /** Whether the absence of a reservation cancels the stored one. */
  const isGone = async (integration: string, id: string): Promise<boolean> => {
    const brand = runtime.active().integrations.get(integration);
    if (brand?.connector.body.pull?.gone !== 'cancelled') return false;
    const stored = await storedReservation(pool, integration, await storedId(pool, brand, idOf(id, brand.idPrefix)));
    return stored !== undefined && goneIsCancelled(stored);
  };
  return {
    clock: runtime.clock,
    heartbeats: runtime.heartbeats,
    wake: runtime.wake,
    claim: (limit, leaseMs) => claimThin(pool, limit, leaseMs),
    fetchSingle: async (integration, id, signal, type) => {
      if (type === 'guest') return fetchedOf(await fetchGuest(pull, integration as IntegrationName, id, signal));
      const single = await fetchSingle(pull, integration as IntegrationName, id, signal);
      if (single.kind === 'absent') return { ...single, isCancelled: await isGone(integration, id) };
      return fetchedOf(single);
    },
    hydrated: (thin, hydration) => hydrateEvents(pool, thin, hydration),
    later: (thin, delayMs) => hydrateLater(pool, thin, delayMs),
    dead: async (thin, message, detail, fromAttempt) => {
      const brand = runtime.active().integrations.get(thin.integration);
      if (brand) await buryThin(pool, brand, thin, { message, detail, fromAttempt });
    },
    onError: (integration, error) =>
      runtime.log.error(
        { integration, error: errorFacts(error) },
        'events: fetching the reservation of a thin event failed',
      ),
  };
}

function fetchedOf(single: FetchedGuest): Fetched {
  if (single.kind === 'absent') return single;
  if (single.kind !== 'found') return { ...single, reason: single.code };
  return { kind: 'found', body: Buffer.from(JSON.stringify(single.body)), requestedAt: single.requestedAt };
}
