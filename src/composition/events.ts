import { durationMs } from '../documents/duration.ts';
import { type FetchedGuest, fetchGuest, fetchSingle } from '../intake/pull/request/single.ts';
import { goneIsCancelled } from '../intake/pull/run/unlisted.ts';
import type { Fetched, HydratorPorts } from '../intake/push/hydrate.ts';
import type { UpkeepPorts } from '../intake/push/upkeep.ts';
import type { EventWorkerPorts } from '../intake/push/worker.ts';
import { systemClock } from '../kit/clock.ts';
import { errorFacts } from '../kit/log.ts';
import { systemRandom } from '../kit/random.ts';
import { idOf } from '../pipeline/id-prefix.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { buryThin, claimThin, hydrateEvents, hydrateLater } from '../store/events/hydration.ts';
import { pruneRejections } from '../store/events/rejections.ts';
import { eventPruner } from '../store/events/retention.ts';
import { pruneSandboxReports } from '../store/events/sandbox.ts';
import { putEventsBack, setEventAside } from '../store/events/set-aside.ts';
import { workEvents } from '../store/events/work-events.ts';
import { storedId } from '../store/records/partner-ids.ts';
import { storedReservation } from '../store/runs/unlisted.ts';
import type { IntegrationName } from '../terms.ts';
import { pullPorts } from './pull.ts';

export function eventWorkerPorts(runtime: Runtime): EventWorkerPorts {
  const { pool, onChanged } = runtime;
  const find = (integration: string) => runtime.active().integrations.get(integration);
  const othersAt = othersAtOf(runtime);
  return {
    clock: runtime.clock,
    heartbeats: runtime.heartbeats,
    wake: runtime.wake,
    tracer: runtime.tracer,
    putBack: () => putEventsBack(pool),
    batch: (batching, work) => workEvents({ pool, onChanged, brandOf: find, othersAt }, batching, work),
    setAside: async (integration, error) => {
      const brand = find(integration);
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

/** The other brands that deliver to a destination. */
export const othersAtOf =
  (runtime: Pick<Runtime, 'active'>) =>
  (integration: string, destination: string): string[] =>
    [...runtime.active().integrations.values()].flatMap((one) =>
      one.integration !== integration && one.body.deliver.includes(destination) ? [one.integration] : [],
    );

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

/** Deletes events, rejections and sandbox reports past their retention. */
export function upkeepPorts(runtime: Runtime): UpkeepPorts {
  const { pool } = runtime;
  const kept = () => runtime.active().settings.retention;
  const prune = eventPruner(pool, systemClock);
  const pruned = () =>
    prune({ rawMs: durationMs(kept().raw), eventIdsMs: durationMs(kept().event_ids) }, () => systemClock.wait(20));
  return {
    clock: runtime.clock,
    random: systemRandom,
    heartbeats: runtime.heartbeats,
    tasks: [
      { name: 'events', run: pruned },
      { name: 'rejections', run: () => pruneRejections(pool) },
      { name: 'sandbox reports', run: () => pruneSandboxReports(pool, durationMs(kept().sandbox)) },
    ],
    onError: (task, error) => runtime.log.warn({ task, error: errorFacts(error) }, 'push: upkeep failed'),
  };
}
