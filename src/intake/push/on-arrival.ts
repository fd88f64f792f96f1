import type { Timers } from '../../kit/clock.ts';
import type { Tracer } from '../../kit/trace.ts';
import type { IntegrationName } from '../../terms.ts';
import type { EventPath, Lane, Settled } from './event-path.ts';
import { tracedLane } from './event-spans.ts';
import type { GroupCommitPorts } from './group-commit.ts';
import type { NewEvent } from './ports.ts';
import { readAhead } from './reservation-event.ts';
import { workLane } from './work-lane.ts';

/**
 * Applies events in the transaction that stores them, as long as the node keeps up. Compared with storing first and applying
 * later this saves a commit, a claim, a second reading of the event and an update of its row. After any failure
 * the events are stored first and left to the worker. Numbers and alternatives: docs/adr/0013-apply-on-arrival.md.
 */
export interface OnArrivalPorts {
  readonly clock: Pick<Timers, 'uptimeMs'>;
  /** Undefined for an integration that is not in force. */
  readonly path: (integration: string) => EventPath | undefined;
  /** One transaction. */
  readonly apply: (lanes: readonly OnArrivalLane[]) => Promise<Applied>;
  readonly worked: (integration: string, settled: readonly Settled[], durationMs: number) => void;
  readonly onError: (error: unknown) => void;
  readonly tracer?: Tracer | undefined;
}

export interface OnArrivalLane {
  readonly integration: IntegrationName;
  readonly events: readonly NewEvent[];
  readonly work: (lane: Lane) => Promise<readonly Settled[]>;
  /** Called after the commit. */
  readonly committed: (settled: readonly Settled[]) => void;
}

/**
 * The outcomes of the events, by lane, including the events that were pending before them. Or nothing was written: one of the events
 * is a duplicate or its endpoint or secret has ended meanwhile (`refused`), or a lane has a backlog.
 */
export type Applied = readonly (readonly Settled[])[] | 'refused' | 'backlog';

/** A larger batch is stored first, so that its senders do not wait for the processing of all its events. */
const mostEvents = 128;
/** If senders wait longer than this, for their turn or for the work, the node does not keep up and stores events first for a while. */
const slowMs = 250;
const pauseMs = 1_000;

export function applierOnArrival(ports: OnArrivalPorts): NonNullable<GroupCommitPorts['apply']> {
  let resumeAt = 0;
  return async (events, waitedMs) => {
    const began = ports.clock.uptimeMs();
    if (waitedMs > slowMs) resumeAt = began + pauseMs;
    if (began < resumeAt || events.length > mostEvents) return undefined;
    const tried = await tryToApply(ports, events).catch((error: unknown) => {
      ports.onError(error);
      return 'failed' as const;
    });
    if (tried === undefined) return undefined;
    const tookMs = ports.clock.uptimeMs() - began;
    const isBehind = tried === 'failed' || tried.applied === 'backlog' || tookMs > slowMs;
    if (isBehind) resumeAt = ports.clock.uptimeMs() + pauseMs;
    if (tried === 'failed' || typeof tried.applied === 'string') return undefined;
    for (const [i, settled] of tried.applied.entries()) {
      const lane = tried.lanes[i];
      lane?.committed(settled);
      ports.worked(lane?.integration ?? '', settled, tookMs);
    }
    return events.map(() => ({ kind: 'stored' }));
  };
}

/** Undefined if one of the integrations is not in force. */
async function tryToApply(
  ports: OnArrivalPorts,
  events: readonly NewEvent[],
): Promise<{ readonly lanes: readonly OnArrivalLane[]; readonly applied: Applied } | undefined> {
  const lanes = lanesOf(ports, events);
  return lanes && { lanes, applied: await ports.apply(lanes) };
}

function lanesOf(ports: OnArrivalPorts, events: readonly NewEvent[]): OnArrivalLane[] | undefined {
  const lanes: OnArrivalLane[] = [];
  for (const [integration, own] of Map.groupBy(events, (event) => event.integration)) {
    const path = ports.path(integration);
    if (path === undefined) return undefined;
    let traced: ReturnType<typeof tracedLane> | undefined;
    lanes.push({
      integration,
      events: own.map((event) => ({ ...event, ahead: readAhead(path, event) })),
      work: (lane) => {
        traced = tracedLane(ports.tracer, integration, lane);
        return workLane(traced.lane, path);
      },
      committed: (settled) => traced?.settled(settled),
    });
  }
  return lanes;
}
