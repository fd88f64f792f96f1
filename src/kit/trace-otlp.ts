import { hash } from 'node:crypto';
import { type Context, DiagLogLevel, diag, ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  ParentBasedSampler,
  RandomIdGenerator,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Log } from './log.ts';
import type { Tracer } from './trace.ts';
import { version } from './version.ts';

interface OtlpOptions {
  readonly service: string;
  readonly node: string;
  /** The share of new traces that is exported; a trace that a caller started follows the caller's decision. */
  readonly sampled: number;
  readonly log: Pick<Log, 'warn'>;
}

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  client: SpanKind.CLIENT,
  internal: SpanKind.INTERNAL,
};

/** Spans beyond this wait for an export that is too slow and are dropped. */
const mostWaiting = 8_192;
const warnEveryMs = 60_000;

/** Exports spans by OTLP over HTTP, in the background. The exporter reads endpoint, headers and certificates from its own variables. */
export function openOtlpTracer({ service, node, sampled, log }: OtlpOptions): Tracer {
  reportFailures(log);
  const ids = new Ids();
  const provider = new TracerProvider({
    resource: resourceFromAttributes({
      'service.name': service,
      'service.version': version,
      'service.instance.id': node,
    }),
    sampler: new ParentBasedSampler({ root: new TraceIdRatioBasedSampler(sampled) }),
    idGenerator: ids,
    spanProcessors: [new BatchSpanProcessor({ exporter: new OTLPTraceExporter(), maxQueueSize: mostWaiting })],
  });
  const tracer = provider.getTracer('innbound', version);
  return {
    start(name, { kind, parent, traceOf, attributes }) {
      const above = parent === undefined ? undefined : contextOf(parent);
      ids.next = above === undefined && traceOf !== undefined ? hash('sha256', traceOf).slice(0, 32) : undefined;
      const span = tracer.startSpan(name, { kind: kinds[kind], attributes }, above ?? ROOT_CONTEXT);
      const { traceId, spanId, traceFlags } = span.spanContext();
      return {
        traceparent: `00-${traceId}-${spanId}-${(traceFlags & 1).toString().padStart(2, '0')}`,
        end(more, failure) {
          if (more) span.setAttributes(more);
          if (failure !== undefined) {
            span.setAttribute('error.type', failure);
            span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
          }
          span.end();
        },
      };
    },
    close: () => provider.shutdown().catch(() => {}),
  };
}

/** Random ids, except for a trace that several processes share. */
class Ids extends RandomIdGenerator {
  next: string | undefined;

  override generateTraceId(): string {
    const id = this.next ?? super.generateTraceId();
    this.next = undefined;
    return id;
  }
}

const form = /^[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-|$)/;

/** Undefined if it does not match W3C Trace Context: all zeros and version ff are invalid, later versions may be longer. */
function contextOf(traceparent: string): Context | undefined {
  const [, traceId = '', spanId = '', flags = ''] = form.exec(traceparent) ?? [];
  const isWhole = /[^0]/.test(traceId) && /[^0]/.test(spanId) && !traceparent.startsWith('ff');
  if (!isWhole || (traceparent.startsWith('00') && traceparent.length !== 55)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & 1;
  return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId, traceFlags, isRemote: true });
}

/** An unreachable collector must not fill the log. */
function reportFailures(log: OtlpOptions['log']): void {
  let quietUntil = 0;
  const warn = (message: string) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + warnEveryMs;
    log.warn({ error: message.slice(0, 300) }, 'trace: exporting spans failed; check OTEL_EXPORTER_OTLP_ENDPOINT');
  };
  const ignore = () => {};
  diag.setLogger(
    { error: warn, warn, info: ignore, debug: ignore, verbose: ignore },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
}
