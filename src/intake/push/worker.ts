import type { Clock, Timers } from '../../kit/clock.ts';
import type { Heartbeats } from '../../kit/heartbeats.ts';
import { type Loop, startLoop } from '../../kit/loop.ts';
import { isConnectionFailure } from '../../kit/sql-state.ts';
import type { Tracer } from '../../kit/trace.ts';
import type { EventPath, Lane, Settled } from './event-path.ts';
import { tracedLane } from './event-spans.ts';
import { workLane } from './work-lane.ts';

/**
 * Processes accepted events. Each integration is a lane that one node works at a time, in batches. The transaction that
 * applies a batch is also its lease, so a killed node leaves nothing behind and nothing is done twice.
 *
 *   pending ──▶ done          changed, unchanged, superseded or dropped by a rule
 *      │  ├────▶ dead          cannot become canonical: kept as a dead letter
 *      │  ├────▶ hydrate ──▶ pending    contains only a reservation id: the reservation is fetched first
 *      │  └────▶ waiting ──▶ pending    failed unexpectedly: retried later on its own, finally dead
 */
export interface EventWorkerPorts {
  /** Measured by uptime: a wall clock that is set back must not delay events that were set aside. */
  readonly clock: Pick<Clock & Timers, 'uptimeMs' | 'wait'>;
  readonly heartbeats?: Heartbeats;
  readonly wake: {
    wait(topic: string, maxMs: number, signal?: AbortSignal): Promise<void>;
    signal(topic: string): void;
  };
  /** The integrations with pending events. */
  readonly lanes: () => Promise<readonly string[]>;
  /** Makes events pending again that were set aside and are due. */
  readonly putBack: () => Promise<void>;
  /** Processes and settles the next batch in one transaction. */
  readonly lane: (
    integration: string,
    limit: number,
    work: (lane: Lane) => Promise<readonly Settled[]>,
  ) => Promise<LaneResult>;
  /** Sets the first pending event of the lane aside after a failure, until its retry or as a dead letter. */
  readonly setAside: (integration: string, error: Error) => Promise<void>;
  /** Undefined for an integration that is not in force; its events wait. */
  readonly path: (integration: string) => EventPath | undefined;
  readonly worked?: (integration: string, settled: readonly Settled[], durationMs: number) => void;
  readonly onError?: (integration: string, error: unknown) => void;
  readonly tracer?: Tracer | undefined;
}

/** `busy`: another node holds the lane. */
export type LaneResult = 'more' | 'drained' | 'busy';

const batchSize = 200;
const concurrentLanes = 4;
const pollMs = 1_000;
const busyMs = 25;

export function startEventWorker(ports: EventWorkerPorts): Loop {
  let putBackAt = 0;
  return startLoop({
    name: 'events',
    heartbeats: ports.heartbeats,
    turn: async (signal, beat) => {
      if (ports.clock.uptimeMs() >= putBackAt) {
        await ports.putBack();
        putBackAt = ports.clock.uptimeMs() + pollMs;
      }
      const open = (await ports.lanes()).filter((integration) => ports.path(integration) !== undefined);
      return workAll(ports, open, signal, beat);
    },
    pause: async (busy, signal) => {
      if (busy === undefined) await ports.clock.wait(pollMs, signal);
      else await ports.wake.wait('events', busy ? busyMs : pollMs, signal);
    },
    onError: (error) => ports.onError?.('', error),
  });
}

/** Works every lane until it is empty, a few at a time; true when another node held one. */
async function workAll(
  ports: EventWorkerPorts,
  integrations: readonly string[],
  signal: AbortSignal,
  beat: () => void,
): Promise<boolean> {
  const waiting = [...integrations];
  let busy = false;
  const workers = Array.from({ length: Math.min(concurrentLanes, waiting.length) }, async () => {
    for (let next = waiting.shift(); next !== undefined && !signal.aborted; next = waiting.shift()) {
      const result = await workOne(ports, next);
      beat();
      // To the end of the queue: a brand with a backlog does not delay the others.
      if (result === 'more') waiting.push(next);
      busy ||= result === 'busy';
    }
  });
  await Promise.all(workers);
  return busy;
}

/** One batch of one lane. A failing batch is repeated event by event, and the failing event is set aside. */
async function workOne(ports: EventWorkerPorts, integration: string): Promise<LaneResult> {
  const path = ports.path(integration);
  if (path === undefined) return 'drained';
  const run = async (limit: number) => {
    const began = ports.clock.uptimeMs();
    let settled: readonly Settled[] = [];
    let traced: ReturnType<typeof tracedLane> | undefined;
    const result = await ports.lane(integration, limit, async (lane) => {
      traced = tracedLane(ports.tracer, integration, lane);
      settled = await workLane(traced.lane, path);
      return settled;
    });
    if (settled.length === 0) return result;
    traced?.settled(settled);
    if (settled.some(({ state }) => state === 'hydrate')) ports.wake.signal('hydrate');
    ports.worked?.(integration, settled, ports.clock.uptimeMs() - began);
    return result;
  };
  try {
    return await run(batchSize);
  } catch (error) {
    if (isConnectionFailure(error)) throw error;
    ports.onError?.(integration, error);
  }
  for (let i = 0; i < batchSize; i++) {
    try {
      const result = await run(1);
      if (result !== 'more') return result;
    } catch (error) {
      if (isConnectionFailure(error)) throw error;
      await ports.setAside(integration, error as Error);
      return 'more';
    }
  }
  return 'more';
}

/** Processes everything that is pending and returns when every lane is empty; for commands and tests. */
export async function drainEvents(ports: EventWorkerPorts): Promise<void> {
  const never = new AbortController().signal;
  await ports.putBack();
  for (;;) {
    const open = (await ports.lanes()).filter((integration) => ports.path(integration) !== undefined);
    if (open.length === 0) return;
    if (await workAll(ports, open, never, () => {})) await ports.clock.wait(busyMs);
  }
}
