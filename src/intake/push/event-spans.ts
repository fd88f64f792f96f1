import type { Span, Tracer } from '../../kit/trace.ts';
import type { BrandBatch, Settled } from './brand-batch.ts';

/** A batch of events with a span for each; `settled` ends them after the commit. A batch that is rolled back exports none. */
interface TracedLane {
  readonly batch: BrandBatch;
  settled(settled: readonly Settled[]): void;
}

/** The spans continue the trace in which each event was accepted; what an event changes belongs to its span. */
export function tracedBatch(tracer: Tracer | undefined, integration: string, batch: BrandBatch): TracedLane {
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
    settled(settled) {
      for (const one of settled) {
        const outcome = one.state === 'hydrate' ? 'hydrate' : one.outcome;
        spans.get(one.seq)?.end({ 'innbound.outcome': outcome }, one.state === 'dead' ? 'dead_letter' : undefined);
      }
    },
  };
}
