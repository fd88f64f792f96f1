import type { Log } from './log.ts';
import type { Tracer } from './trace.ts';

/** The tracer, if the standard variables of OpenTelemetry name an endpoint. */
export async function openTracer(env: NodeJS.ProcessEnv, node: string, log: Log): Promise<Tracer | undefined> {
  const endpoint = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || env.OTEL_EXPORTER_OTLP_ENDPOINT;
  if (!endpoint || env.OTEL_TRACES_EXPORTER === 'none' || env.OTEL_SDK_DISABLED?.toLowerCase() === 'true')
    return undefined;
  const { openOtlpTracer } = await import('./trace-otlp.ts');
  const share = Number(env.OTEL_TRACES_SAMPLER_ARG || 1);
  const sampled = share >= 0 && share <= 1 ? share : 1;
  return openOtlpTracer({ service: env.OTEL_SERVICE_NAME || 'innbound', node, sampled, log });
}
