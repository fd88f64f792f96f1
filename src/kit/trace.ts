import type { Log } from './log.ts';

/**
 * Spans of distributed traces. A process without tracing has no Tracer: every call is `tracer?.start(...)`, so that tracing costs
 * nothing while it is off. The library is loaded only where it is on.
 */
export interface Tracer {
  start(name: string, options: SpanOptions): Span;
  /** Exports what is left. */
  close(): Promise<void>;
}

export interface SpanOptions {
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  /** W3C traceparent of the span above. Without it, or if it is malformed, a new trace starts. */
  readonly parent?: string | undefined;
  /** For a new trace: spans with the same text belong to the same trace, whichever process starts them. */
  readonly traceOf?: string;
  readonly attributes: SpanAttributes;
}

/** Names, counts and codes. Never personal data: people with access to traces may have none to the store. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** For the spans below it, in this process or another. */
  readonly traceparent: string;
  /** A span that never ends is not exported. `failure`: a code. */
  end(attributes?: SpanAttributes, failure?: string): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The tracer, if the standard variables of OpenTelemetry name an endpoint. */
export async function openTracer(env: Environment, node: string, log: Log): Promise<Tracer | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_TRACES_EXPORTER === 'none' || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true')
    return undefined;
  const { openOtlpTracer } = await import('./trace-otlp.ts');
  const share = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  const sampled = share >= 0 && share <= 1 ? share : 1;
  return openOtlpTracer({ service: env.OTEL_SERVICE_NAME || 'innbound', node, sampled, log });
}
