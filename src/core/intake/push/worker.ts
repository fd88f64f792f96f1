import { setImmediate } from 'node:timers/promises';
import type { Clock, Timers } from '../../../kit/clock.ts';
import { type Heartbeats, type Loop, startLoop, type Wake } from '../../../kit/loop.ts';
import { isConnectionFailure, isPassing } from '../../../kit/sql-state.ts';
import type { Span, Tracer } from '../../../kit/trace.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Statement } from '../../reconcile/forms.ts';
import type { BrandBatch, PendingEvent, Settled } from './brand-batch.ts';
import { workFeedback } from './feedback-event.ts';
import { workGuestEvent } from './guest-event.ts';
import { arrivalOf, contentOf, dataOf, readEvent, thinIdOf } from './reservation-event.ts';

/**
 * Processes accepted events in batches over brands. One node works the events of a brand at a time. The transaction that applies a
 * batch is also its lease, so a killed node leaves nothing behind and nothing is done twice.
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
  readonly wake: Pick<Wake, 'wait' | 'signal'>;
  /** Makes events pending again that were set aside and are due. */
  readonly putBack: () => Promise<void>;
  /** Processes and settles the next events in one transaction; `work` is called once for each brand that has some. */
  readonly batch: (
    batching: Batching,
    work: (brand: Brand, batch: BrandBatch) => Promise<readonly Settled[]>,
  ) => Promise<BatchResult>;
  /** Sets the first pending event of the brand aside after a failure, until its retry or as a dead letter. */
  readonly setAside: (integration: string, error: Error) => Promise<void>;
  readonly worked?: (integration: string, settled: readonly Settled[], durationMs: number) => void;
  readonly onError?: (integration: string, error: unknown) => void;
  readonly tracer?: Tracer | undefined;
}

export interface Batching {
  /** The most events, shared equally among the brands. */
  readonly limit: number;
  /** Brands after this name, so that brands take turns if there are many. */
  readonly after?: string;
  /** Only this brand. */
  readonly only?: string;
}

export interface BatchResult {
  /** One of the brands may have more events than the batch took. */
  readonly more: boolean;
  /** Another node holds a brand. */
  readonly busy: boolean;
  /** The last brand of the batch, if others may follow; otherwise empty. */
  readonly after: string;
}

const batchSize = 200;
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
      return workAll(ports, signal, beat);
    },
    pause: async (busy, signal) => {
      if (busy === undefined) await ports.clock.wait(pollMs, signal);
      else await ports.wake.wait('events', busy ? busyMs : pollMs, signal);
    },
    onError: (error) => ports.onError?.('', error),
  });
}

/** Works until nothing is pending; true when another node held a brand. */
async function workAll(ports: EventWorkerPorts, signal?: AbortSignal, beat = () => {}): Promise<boolean> {
  let [after, more, busy] = ['', false, false];
  while (signal?.aborted !== true) {
    const result = await workBatch(ports, after);
    beat();
    after = result.after;
    more ||= result.more;
    busy ||= result.busy;
    // The last brands had their turn.
    if (after !== '') continue;
    if (!more) break;
    more = false;
  }
  return busy;
}

/** One batch. If it fails, its events are processed one by one, and the failing ones are set aside. */
async function workBatch(ports: EventWorkerPorts, after: string): Promise<BatchResult> {
  const taken = new Map<string, number>();
  try {
    return await run(ports, { limit: batchSize, after }, (integration, events) => taken.set(integration, events));
  } catch (error) {
    if (isConnectionFailure(error) || taken.size === 0) throw error;
    if (!isPassing(error)) ports.onError?.([...taken.keys()].join(' '), error);
  }
  for (const [integration, events] of taken) {
    for (let i = 0; i < events; i++) {
      try {
        const { more } = await run(ports, { limit: 1, only: integration });
        if (!more) break;
      } catch (error) {
        if (isConnectionFailure(error)) throw error;
        await ports.setAside(integration, error as Error);
      }
    }
  }
  return { more: true, busy: false, after };
}

async function run(
  ports: EventWorkerPorts,
  batching: Batching,
  onTaken?: (integration: string, events: number) => void,
): Promise<BatchResult> {
  const { work, done } = openSession(ports);
  const result = await ports.batch(batching, (brand, batch) => {
    onTaken?.(brand.integration, batch.events.length);
    return work(brand, batch);
  });
  done();
  return result;
}

/** The work of one transaction. `done` reports it, after the commit. */
export interface EventSession {
  readonly work: (brand: Brand, batch: BrandBatch) => Promise<readonly Settled[]>;
  readonly done: () => void;
}

export function openSession({
  clock,
  tracer,
  wake,
  worked,
}: Pick<EventWorkerPorts, 'clock' | 'tracer' | 'wake' | 'worked'>): EventSession {
  const began = clock.uptimeMs();
  const reports: (() => void)[] = [];
  return {
    work: async (brand, batch) => {
      const { integration } = brand;
      const traced = tracedBatch(tracer, integration, batch);
      const settled = await workBrand(traced.batch, brand);
      reports.push(() => {
        traced.settled(settled);
        if (settled.some(({ state }) => state === 'hydrate')) wake.signal('hydrate');
        worked?.(integration, settled, clock.uptimeMs() - began);
      });
      return settled;
    },
    done: () => {
      for (const report of reports) report();
    },
  };
}

/** Processes everything that is pending and returns when nothing is; for commands and tests. */
export async function drainEvents(ports: EventWorkerPorts): Promise<void> {
  await ports.putBack();
  while (await workAll(ports)) await ports.clock.wait(busyMs);
}

/**
 * The batch with a span for each event, which continues the trace in which it was accepted; what an event changes belongs to its span.
 * `settled` ends them after the commit. A batch that is rolled back exports none.
 */
function tracedBatch(tracer: Tracer | undefined, integration: string, batch: BrandBatch) {
  if (tracer === undefined) return { batch, settled: () => {} };
  const spans = new Map<number, Span>();
  const events = batch.events.map((event) => {
    const attributes = {
      'innbound.integration': integration,
      'innbound.event': event.event,
      'innbound.event.seq': event.seq,
      'innbound.event.attempt': event.attempt,
    };
    const span = tracer.start('apply event', { kind: 'consumer', parent: event.trace, attributes });
    spans.set(event.seq, span);
    return { ...event, trace: span.traceparent };
  });
  return {
    batch: { ...batch, events },
    settled(settled: readonly Settled[]) {
      for (const one of settled) {
        const outcome = one.state === 'hydrate' ? 'hydrate' : one.outcome;
        spans.get(one.seq)?.end({ 'innbound.outcome': outcome }, one.state === 'dead' ? 'dead_letter' : undefined);
      }
    },
  };
}

/**
 * Processes a batch of events in order. Consecutive reservation events are applied together; a guest event reads stored data,
 * so everything before it is applied first.
 */
export async function workBrand(batch: BrandBatch, brand: Brand): Promise<Settled[]> {
  const settled: Settled[] = [];
  let run: PendingEvent[] = [];
  const finishRun = async () => {
    if (run.length > 0) settled.push(...(await workRun(batch, brand, run)));
    run = [];
  };
  for (const event of batch.events) {
    if (!isAboutGuest(event)) {
      run.push(event);
      continue;
    }
    await finishRun();
    const work = event.event === 'guest.feedback' ? workFeedback : workGuestEvent;
    settled.push(await work(batch, brand, event));
  }
  await finishRun();
  return settled;
}

/** Some milliseconds of work. */
const readTogether = 16;

async function workRun(batch: BrandBatch, brand: Brand, events: readonly PendingEvent[]): Promise<Settled[]> {
  const settled: Settled[] = [];
  const open: { event: PendingEvent; data: ReturnType<typeof dataOf> }[] = [];
  for (const event of events) {
    const data = dataOf(event);
    const id = event.hydrated ? undefined : thinIdOf(brand, 'reservation', data);
    if (id === undefined) open.push({ event, data });
    else settled.push({ seq: event.seq, state: 'hydrate', type: 'reservation', id });
  }
  if (open.length === 0) return settled;

  const statements: Statement[] = [];
  for (const { event, data } of open) {
    // Requests that arrived meanwhile are answered first.
    if (statements.length % readTogether === readTogether - 1) await setImmediate();
    statements.push(readEvent(brand, contentOf(event, data), arrivalOf(event)));
  }
  const { outcomes } = await batch.take(statements);
  for (const [i, { event }] of open.entries()) {
    const { outcome, id, version, reason } = outcomes[i] ?? { outcome: 'unchanged' };
    const state = outcome === 'dead' ? 'dead' : 'done';
    const where = {
      ...(id !== undefined && { id }),
      ...(version !== undefined && { version }),
      ...(reason && outcome !== 'dead' && outcome !== 'dropped' && { reason }),
    };
    settled.push({ seq: event.seq, state, outcome, type: 'reservation', ...where });
  }
  return settled;
}

const isAboutGuest = ({ event }: PendingEvent): boolean => event === 'guest.updated' || event === 'guest.feedback';
