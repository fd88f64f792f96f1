import type { Span, Tracer } from '../kit/trace.ts';
import type { Claimed } from './ports.ts';
import type { LaneKey } from './queued-lanes.ts';
import type { SendOutcome } from './send.ts';

/** A span for each record of a call, which continues the trace that made its version. */
interface DeliverySpans {
  /** For the call: absent if its records belong to several traces. */
  readonly traceparent: string | undefined;
  end(sent: readonly SendOutcome[]): void;
}

export function spansOf(
  tracer: Tracer,
  { integration, destination }: LaneKey,
  records: readonly { readonly claimed: Claimed }[],
): DeliverySpans {
  const spans = records.map(({ claimed: { type, version, triesUsed, change } }): Span => {
    const attributes = {
      'innbound.integration': integration,
      'innbound.destination': destination,
      'innbound.type': type,
      'innbound.version': version,
      'innbound.attempt': triesUsed + 1,
      'innbound.records': records.length,
    };
    return tracer.start('deliver', { kind: 'client', parent: change?.trace, attributes });
  });
  const traces = new Set(spans.map(({ traceparent }) => traceparent.slice(0, 35)));
  return {
    traceparent: traces.size === 1 ? spans[0]?.traceparent : undefined,
    end(sent) {
      for (const [i, span] of spans.entries()) {
        const outcome = sent[i];
        if (outcome === undefined || outcome === 'stopped') span.end({ 'innbound.outcome': 'stopped' });
        else {
          const status = outcome.status === undefined ? {} : { 'http.response.status_code': outcome.status };
          const isFailed = outcome.kind === 'retry' || outcome.kind === 'dead';
          span.end({ 'innbound.outcome': outcome.kind, ...status }, isFailed ? outcome.code : undefined);
        }
      }
    },
  };
}
