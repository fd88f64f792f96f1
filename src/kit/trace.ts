/**
 * Spans of distributed traces. A process without tracing has no Tracer: every call is `tracer?.start(...)`, so that tracing costs
 * nothing while it is off. The library is loaded only where it is on.
 */
export interface Tracer {
  start(name: string, options: SpanOptions): Span;
  /** Exports what is left. */
  close(): Promise<void>;
}

interface SpanOptions {
  readonly kind: 'server' | 'consumer' | 'client' | 'internal';
  /** W3C traceparent of the span above. Without it, or if it is malformed, a new trace starts. */
  readonly parent?: string | undefined;
  /** For a new trace: spans with the same text belong to the same trace, whichever process starts them. */
  readonly traceOf?: string;
  readonly attributes: SpanAttributes;
}

/** Names, counts and codes. Never personal data: people with access to traces may have none to the store. */
type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

export interface Span {
  /** For the spans below it, in this process or another. */
  readonly traceparent: string;
  /** A span that never ends is not exported. `failure`: a code. */
  end(attributes?: SpanAttributes, failure?: string): void;
}
