import type { ErrorCode } from '../../../errors.ts';
import { type Loop, startLoop } from '../../../kit/loop.ts';
import type { EpochMs, IntegrationName, Report } from '../../../terms.ts';
import { feedbackEvent } from '../push/feedback-event.ts';
import type { Claim, StreamPorts, StreamStore } from './ports.ts';

/** A destination that reports who unsubscribed, bounced or complained, and the brands that deliver to it. */
export interface FeedbackSource {
  readonly destination: string;
  readonly brands: readonly { readonly integration: IntegrationName; readonly brandId: string }[];
  /** The first failure is the last page. */
  read(since: EpochMs, signal: AbortSignal): AsyncIterable<FeedbackPage>;
}

type FeedbackPage =
  | { readonly kind: 'page'; readonly reports: readonly Report[] }
  | { readonly kind: 'failed'; readonly code: ErrorCode; readonly afterMs?: number | undefined };

export interface FeedbackPorts extends Pick<StreamPorts, 'clock' | 'heartbeats' | 'wait' | 'stored' | 'onError'> {
  readonly store: Pick<StreamStore, 'claim' | 'extend' | 'store' | 'release'>;
  /** The destinations of the documents in force, by the id of their stream. */
  sources(): ReadonlyMap<string, FeedbackSource>;
  readonly read: (
    destination: string,
    facts: { readonly reports: number; readonly stored: number; readonly code?: ErrorCode | undefined },
  ) => void;
}

const turnMs = 5_000;
const leaseMs = 60_000;
/** How often a destination is asked. */
const everyMs = 5 * 60_000;
/** Vendors list a report a while after it happened. Repeated reports are recognised by their ids. */
const overlapMs = 60 * 60_000;
/** The first time everything is read. */
const beginning = Date.UTC(2000, 0, 1);
const mostDelayMs = 60 * 60_000;

/**
 * Asks destinations for their reports, and stores each as an event of every brand that delivers there. The place in the list is kept like
 * the offset of a stream: one node reads at a time, and a read that fails begins again where it began.
 */
export function startFeedback(ports: FeedbackPorts): Loop {
  return startLoop({
    name: 'feedback',
    heartbeats: ports.heartbeats,
    turn: (signal, beat) => readAllFeedback(ports, signal, beat),
    pause: (_, signal) => ports.wait(turnMs, signal),
    onError: ports.onError,
  });
}

/** Every destination that is due, once. */
export async function readAllFeedback(ports: FeedbackPorts, signal: AbortSignal, beat = () => {}): Promise<void> {
  const sources = ports.sources();
  if (sources.size === 0) return;
  for (const claim of await ports.store.claim([...sources.keys()], leaseMs)) {
    const source = sources.get(claim.id);
    if (source !== undefined) await readOne(ports, source, claim, signal, beat);
  }
}

async function readOne(
  ports: FeedbackPorts,
  source: FeedbackSource,
  claim: Claim,
  signal: AbortSignal,
  beat: () => void,
): Promise<void> {
  const { clock, store } = ports;
  const startedAt = clock.now();
  const since = claim.offset === undefined ? beginning : Number(claim.offset) - overlapMs;
  const counts = { reports: 0, stored: 0 };
  let failure: Extract<FeedbackPage, { kind: 'failed' }> | undefined;
  for await (const page of source.read(since, signal)) {
    beat();
    if (page.kind === 'failed') failure = page;
    else {
      const events = page.reports.flatMap((report) =>
        source.brands.map((brand) => feedbackEvent(source.destination, report, brand)),
      );
      const stored = await store.store(claim, { events, offset: undefined, offsetAt: undefined, readTo: undefined });
      if (stored === 'fenced' || !(await store.extend(claim, leaseMs, false))) return;
      counts.reports += page.reports.length;
      counts.stored += stored;
    }
  }
  if (counts.stored > 0) ports.stored();
  if (failure === undefined && !signal.aborted) {
    await store.store(claim, { events: [], offset: String(startedAt), offsetAt: startedAt, readTo: startedAt });
  }
  const delayMs = Math.min(everyMs * 2 ** claim.failures, mostDelayMs);
  await store.release(claim, failure === undefined ? everyMs : Math.max(failure.afterMs ?? 0, delayMs), failure);
  ports.read(source.destination, { ...counts, code: failure?.code });
}
