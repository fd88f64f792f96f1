import type { Active } from '../core/brand/active.ts';
import type { Versioned } from '../core/brand/brand.ts';
import type { DestinationType, ReadFeedback } from '../core/deliver/destination.ts';
import { loadDestinationTypes } from '../core/deliver/destinations.ts';
import { ownSettings } from '../core/documents/destination.ts';
import type { FeedbackPorts, FeedbackSource } from '../core/intake/stream/feedback.ts';
import { openStreamStore } from '../core/store/events/streams.ts';
import { InnboundError } from '../errors.ts';
import { errorFacts } from '../kit/log.ts';
import type { Runtime } from '../runtime/runtime.ts';
import { configured, readyDestination } from './deliver.ts';

export async function feedbackPorts(runtime: Runtime): Promise<FeedbackPorts> {
  const { clock, heartbeats, wake, log } = runtime;
  const types = await loadDestinationTypes();
  let made: { readonly active: Active; readonly sources: ReadonlyMap<string, FeedbackSource> } | undefined;
  return {
    clock,
    heartbeats,
    store: openStreamStore(runtime.pool, (id) => id),
    sources: () => {
      const active = runtime.active();
      if (made?.active !== active) made = { active, sources: sourcesOf(runtime, active, types) };
      return made.sources;
    },
    wait: (maxMs, signal) => wake.wait('feedback', maxMs, signal),
    stored: () => wake.signal('events'),
    read: (destination, { code, ...counts }) => {
      if (code !== undefined || counts.stored > 0)
        log[code === undefined ? 'info' : 'warn']({ destination, ...counts, code }, 'feedback: read');
    },
    onError: (error) => log.warn({ error: errorFacts(error) }, 'feedback: reading failed'),
  };
}

const streamOf = (destination: string): string => `destination:${destination}`;

/** Of destinations in force that report, for alerts. */
export async function feedbackStreams(runtime: Pick<Runtime, 'active'>): Promise<readonly string[]> {
  return reporting(runtime.active(), await loadDestinationTypes()).map(({ name }) => streamOf(name));
}

function reporting({ destinations }: Active, types: ReadonlyMap<string, DestinationType>): Versioned<'destination'>[] {
  return [...destinations.values()].filter(({ body }) => {
    const type = types.get(body.type);
    return type?.reports?.(type.settings.parse(ownSettings(body))) === true && !body.paused;
  });
}

/** Destinations in force that report, with the brands that deliver to them. */
function sourcesOf(
  runtime: Runtime,
  active: Active,
  types: ReadonlyMap<string, DestinationType>,
): ReadonlyMap<string, FeedbackSource> {
  const brands = new Map<string, FeedbackSource['brands'][number][]>();
  for (const { integration, body } of active.integrations.values()) {
    for (const to of body.deliver) brands.set(to, [...(brands.get(to) ?? []), { integration, brandId: body.brand_id }]);
  }
  const sources = reporting(active, types).map(
    (destination): FeedbackSource => ({
      destination: destination.name,
      brands: brands.get(destination.name) ?? [],
      async *read(since, signal) {
        // Secrets are read again each time: they may have been replaced.
        const ready = await readyDestination(runtime, types, configured(destination)).catch((error) => error);
        if (ready instanceof InnboundError) return yield { kind: 'failed', code: ready.code };
        const ask: ReadFeedback | undefined = ready.type.feedback?.(ready.settings, ready.services);
        if (ask !== undefined) yield* ask(since, signal);
      },
    }),
  );
  return new Map(sources.filter((one) => one.brands.length > 0).map((one) => [streamOf(one.destination), one]));
}
