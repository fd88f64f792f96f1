import type { Clock } from '../../../kit/clock.ts';
import { type Heartbeats, type Loop, startLoop, type Wake } from '../../../kit/loop.ts';
import type { EntityType, EpochMs } from '../../../terms.ts';
import type { EventType } from './envelope.ts';

/**
 * Fetches the reservations of thin events from the partner's API before the events are processed. One request completes
 * every event of the reservation that was received before it. It is made under a lease in the store, outside any transaction.
 */
export interface HydratorPorts {
  readonly clock: Clock;
  readonly heartbeats?: Heartbeats;
  readonly wake: Pick<Wake, 'wait' | 'signal'>;
  /** Claims reservations whose events are due, under a lease. */
  readonly claim: (limit: number, leaseMs: number) => Promise<readonly Thin[]>;
  /** The connector's single request, with pull's credentials, rate limits, retries and circuit. */
  readonly fetchSingle: (integration: string, id: string, signal?: AbortSignal, type?: EntityType) => Promise<Fetched>;
  /** Completes the claimed events. */
  readonly hydrated: (thin: Thin, hydration: Hydration) => Promise<void>;
  readonly later: (thin: Thin, delayMs: number) => Promise<void>;
  /** Makes dead letters of the claimed events that had at least `fromAttempt` attempts. */
  readonly dead: (thin: Thin, message: string, detail: DeadDetail, fromAttempt: number) => Promise<void>;
  readonly onError?: (integration: string, error: unknown) => void;
}

export interface Hydration {
  readonly body: Buffer;
  readonly requestedAt: EpochMs;
  /** Only events of this type. */
  readonly only?: EventType;
}

export type DeadDetail = { readonly reason: string; readonly attempts: number };

/** A reservation or guest to fetch for its waiting events. */
export interface Thin {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  /** The attempts of its oldest event. */
  readonly attempt: number;
  /** The events that were claimed for it. */
  readonly seqs: readonly string[];
}

export type Fetched =
  | { readonly kind: 'found'; readonly body: Buffer; readonly requestedAt: EpochMs }
  /** The partner does not know the reservation; `isCancelled` if that cancels the stored one, whatever the event. */
  | { readonly kind: 'absent'; readonly isCancelled?: boolean }
  /** Retry later: an open circuit, a rate limit, a transient failure. */
  | { readonly kind: 'later'; readonly reason: string; readonly afterMs?: number }
  /** Terminal: credentials, configuration, an answer that is not JSON. */
  | { readonly kind: 'failed'; readonly reason: string };

/** Stored instead of a reservation that the partner does not have. */
const absentBody = Buffer.from('null');

const concurrency = 4;
const leaseMs = 300_000;
const pollMs = 5_000;
const firstDelayMs = 5_000;
const mostDelayMs = 15 * 60_000;
/** About three hours with the delays between them, which is longer than most partner outages. */
const tries = 16;

export function startHydrator(ports: HydratorPorts): Loop {
  return startLoop({
    name: 'hydrate',
    heartbeats: ports.heartbeats,
    // A turn waits for the partner's API.
    stallsAfterMs: leaseMs,
    turn: (signal) => hydrateOnce(ports, signal),
    pause: async (worked, signal) => {
      if (!worked) await ports.wake.wait('hydrate', pollMs, signal);
    },
    onError: (error) => ports.onError?.('', error),
  });
}

/** One round; returns how many reservations were claimed. */
export async function hydrateOnce(ports: HydratorPorts, signal?: AbortSignal): Promise<number> {
  const claimed = await ports.claim(concurrency, leaseMs);
  await Promise.all(
    claimed.map((thin) => hydrateOne(ports, thin, signal).catch((error) => ports.onError?.(thin.integration, error))),
  );
  return claimed.length;
}

async function hydrateOne(ports: HydratorPorts, thin: Thin, signal: AbortSignal | undefined): Promise<void> {
  const fetched = await ports.fetchSingle(thin.integration, thin.id, signal, thin.type);
  const attempts = thin.attempt;
  switch (fetched.kind) {
    case 'found':
      await ports.hydrated(thin, fetched);
      ports.wake.signal('events');
      return;
    case 'absent':
      // A cancellation can be applied without the reservation: many partners delete what was cancelled.
      await ports.hydrated(thin, {
        body: absentBody,
        requestedAt: ports.clock.now(),
        ...(fetched.isCancelled !== true && { only: 'reservation.cancelled' as const }),
      });
      ports.wake.signal('events');
      if (fetched.isCancelled === true) return;
      return ports.dead(thin, `The partner’s API does not know the ${thin.type}.`, { reason: 'absent', attempts }, 0);
    case 'failed': {
      const message = `The ${thin.type} could not be fetched from the partner’s API: ${fetched.reason}.`;
      return ports.dead(thin, message, { reason: fetched.reason, attempts }, 0);
    }
    case 'later':
      if (attempts >= tries) {
        const message = `The partner’s API did not return the ${thin.type} in ${attempts} attempts: ${fetched.reason}.`;
        await ports.dead(thin, message, { reason: fetched.reason, attempts }, tries);
      }
      // Later events of the same reservation still have tries left.
      return ports.later(thin, fetched.afterMs ?? Math.min(firstDelayMs * 2 ** (attempts - 1), mostDelayMs));
  }
}
