import { InnboundError } from '../errors.ts';
import type { Clock } from '../kit/clock.ts';
import type { Http } from '../kit/http.ts';
import type { DestinationName, EntityType, IntegrationName, Json, JsonObject } from '../terms.ts';
import type { Authorizer, Destination, DestinationType } from './destination.ts';
import { compileFields } from './fields.ts';
import type { MessageData } from './message.ts';
import type { DeliverLog, DeliverPorts, DeliveryStore, DestinationConfig, Lane } from './ports.ts';
import type { FilterAnswer } from './select.ts';

/** A destination's document, as far as all types share it. Durations are text, as written. */
export interface DestinationDocument {
  readonly name: string;
  readonly version: number;
  readonly type: string;
  readonly receives: readonly EntityType[];
  readonly fields?: readonly string[] | undefined;
  readonly drop: readonly string[];
  readonly filter?: string | undefined;
  readonly consent: 'none' | 'marketing';
  readonly retry: readonly string[];
  readonly rate?: { readonly requests: number; readonly per: string; readonly burst?: number | undefined } | undefined;
  readonly concurrency: number;
  readonly batch?: { readonly size: number; readonly wait: string } | undefined;
  readonly paused: boolean;
  /** What only its type knows, with references to secrets as written. */
  readonly settings: JsonObject;
}

/** The documents in force, as far as deliveries go. */
export interface DeliveryDocuments {
  /** Changes exactly when a document does. */
  readonly stamp: string;
  readonly integrations: Iterable<{
    readonly name: string;
    readonly brandId: string;
    readonly deliver: readonly string[];
  }>;
  readonly destinations: Iterable<DestinationDocument>;
}

export type CompiledFilter =
  | { readonly kind: 'ok'; readonly matches: (type: EntityType, data: MessageData) => FilterAnswer }
  | { readonly kind: 'invalid'; readonly message: string };

/** What the wiring brings together for deliveries. */
export interface DeliverParts {
  readonly store: DeliveryStore;
  readonly documents: () => DeliveryDocuments;
  readonly types: ReadonlyMap<string, DestinationType>;
  readonly durationMs: (text: string) => number;
  readonly compileFilter: (expression: string) => CompiledFilter;
  readonly resolve: (
    settings: JsonObject,
  ) => Promise<
    { kind: 'ok'; body: JsonObject } | { kind: 'missing'; missing: readonly { path: string; reference: string }[] }
  >;
  readonly authorizer: (auth: Json, destination: string) => Authorizer;
  readonly http: Http;
  readonly allowPrivate: boolean;
  readonly workspaceDir: string;
  readonly clock: Clock;
  readonly wake: DeliverPorts['wake'];
  readonly log: DeliverLog;
  readonly node: string;
  readonly observe?: DeliverPorts['observe'];
}

export function assembleDeliveries(parts: DeliverParts): DeliverPorts {
  let lanes: readonly Lane[] = [];
  let stamp: string | undefined;
  return {
    store: parts.store,
    clock: parts.clock,
    wake: parts.wake,
    log: parts.log,
    node: parts.node,
    chance: Math.random,
    ...(parts.observe && { observe: parts.observe }),
    lanes() {
      const documents = parts.documents();
      if (documents.stamp !== stamp) {
        stamp = documents.stamp;
        lanes = lanesOf(documents, parts);
      }
      return lanes;
    },
    open: (config) => openDestination(config, parts),
  };
}

function lanesOf(documents: DeliveryDocuments, parts: DeliverParts): Lane[] {
  const configs = new Map<string, DestinationConfig>();
  for (const document of documents.destinations) {
    const config = configOf(document, parts);
    if (config.kind === 'ok') configs.set(document.name, config.config);
    else parts.log.error({ destination: document.name, reason: config.message }, 'deliver: destination rests');
  }
  return [...documents.integrations].flatMap(({ name, brandId, deliver }) =>
    deliver
      .map((destination) => configs.get(destination))
      .filter((config) => config !== undefined)
      .map((destination) => ({ integration: name as IntegrationName, brandId, destination })),
  );
}

function configOf(
  document: DestinationDocument,
  { types, durationMs, compileFilter }: DeliverParts,
): { kind: 'ok'; config: DestinationConfig } | { kind: 'invalid'; message: string } {
  const type = types.get(document.type);
  if (type === undefined) return { kind: 'invalid', message: `there is no destination type ${document.type}` };
  const settings = type.settings.safeParse(document.settings);
  if (!settings.success) return { kind: 'invalid', message: settings.error.issues[0]?.message ?? 'wrong settings' };
  const filter = document.filter === undefined ? undefined : compileFilter(document.filter);
  if (filter?.kind === 'invalid') return { kind: 'invalid', message: `filter: ${filter.message}` };
  const { standard, most } = type.batch(settings.data);
  const { rate } = document;
  return {
    kind: 'ok',
    config: {
      name: document.name as DestinationName,
      type: document.type,
      revision: `${document.type} ${document.version}`,
      settings: document.settings,
      selection: {
        receives: document.receives,
        ...(filter && { filter: filter.matches }),
        ...(document.consent === 'marketing' && { consent: 'marketing' as const }),
        fields: compileFields({ ...(document.fields && { only: document.fields }), drop: document.drop }),
      },
      scheduleMs: document.retry.map(durationMs),
      batch: Math.min(document.batch?.size ?? standard, most),
      batchWaitMs: document.batch === undefined || most === 1 ? 0 : durationMs(document.batch.wait),
      concurrency: document.concurrency,
      timeoutMs: type.timeoutMs(settings.data),
      ...(rate && {
        rate: { perSecond: (rate.requests * 1_000) / durationMs(rate.per), burst: rate.burst ?? rate.requests },
      }),
      paused: document.paused,
    },
  };
}

async function openDestination(config: DestinationConfig, parts: DeliverParts): Promise<Destination> {
  const type = parts.types.get(config.type);
  const resolved = await parts.resolve(config.settings);
  if (resolved.kind === 'missing') {
    const list = resolved.missing.map(({ path, reference }) => `${path} (${reference})`).join(', ');
    throw new InnboundError('documents.secret_missing', `Destination ${config.name} lacks ${list}.`);
  }
  const settings = type?.settings.safeParse(resolved.body);
  if (type === undefined || !settings?.success) {
    // The issue's text may quote a secret that was put in place of its reference.
    throw new InnboundError(
      'documents.invalid',
      `Destination ${config.name} has settings that do not fit once secrets are read.`,
    );
  }
  return type.open(settings.data, {
    name: config.name,
    workspaceDir: parts.workspaceDir,
    allowPrivate: parts.allowPrivate,
    node: parts.node,
    clock: parts.clock,
    http: parts.http,
    authorizer: (auth) => parts.authorizer(auth, config.name),
  });
}
