import { hash } from 'node:crypto';
import type { Brand } from '../core/brand/brand.ts';
import { durationMs } from '../core/documents/units.ts';
import { openRejectionLog } from '../core/intake/push/rejection-log.ts';
import { pushSettingsOf } from '../core/intake/push/settings.ts';
import type { Opening, Stream, StreamedBrand, StreamPorts } from '../core/intake/stream/ports.ts';
import { fill, openRequest, plainText, type Values } from '../core/outbound/ask/request.ts';
import { credentialsFor } from '../core/outbound/auth/credentials.ts';
import { writeRejections } from '../core/store/events/rejections.ts';
import { openStreamStore } from '../core/store/events/streams.ts';
import { systemRandom } from '../kit/ids.ts';
import { errorFacts } from '../kit/log.ts';
import { urlFault } from '../kit/plain-url.ts';
import type { Runtime } from '../runtime/runtime.ts';
import type { Json } from '../terms.ts';
import { pullPorts } from './pull.ts';
import { jsonLimits, withoutCardsIn } from './push.ts';

export function streamPorts(runtime: Runtime): StreamPorts {
  const { clock, wake, log } = runtime;
  const pull = pullPorts(runtime);
  let known: ReadonlyMap<string, Stream> = new Map();
  const rejections = openRejectionLog({ clock, write: (batch) => writeRejections(runtime.pool, batch) });
  const noRequest = { endpointId: '', requestId: '', headerNames: [], address: '' };
  const store = openStreamStore(runtime.pool, (id) => known.get(id)?.account ?? '');
  return {
    clock,
    heartbeats: runtime.heartbeats,
    random: systemRandom,
    openSocket: runtime.openSocket,
    store: {
      ...store,
      store: (claim, { events, ...progress }) =>
        store.store(claim, { ...progress, events: events.map(withoutCardsIn) }),
    },
    streams: async () => {
      known = await streamsOf(runtime);
      return known;
    },
    opening: (stream, offset, isRefused) => openingOf(runtime, pull, stream, offset, isRefused),
    jsonLimits: () => jsonLimits(runtime),
    wait: (maxMs, signal) => wake.wait('streams', maxMs, signal),
    stored: () => wake.signal('events'),
    refused: ({ account: integration }, reason, bodyBytes) => {
      const refusal = { status: 422, code: 'push.bad_envelope', reason, bodyBytes };
      rejections.add({ ...noRequest, ...refusal, at: clock.now(), integration });
    },
    ended: ({ account }, { counts, code, closeCode, hasGap, durationMs: duration_ms }) =>
      log[code === undefined && counts.invalid === 0 ? 'info' : 'warn'](
        { integration: account, ...counts, code, close_code: closeCode, gap: hasGap, duration_ms },
        'stream: connection ended',
      ),
    onError: (error) => log.warn({ error: errorFacts(error) }, 'stream: reading failed'),
  };
}

const digest = (text: string) => hash('sha256', text);

/** The streams of the documents in force. Brands with the same address, key and chain share one. */
export async function streamsOf(runtime: Pick<Runtime, 'active' | 'resolve'>): Promise<ReadonlyMap<string, Stream>> {
  const all = [...runtime.active().integrations.values()];
  const streams = new Map<string, Stream & { readonly brands: Map<string, StreamedBrand> }>();
  for (const account of all.filter(({ body, connector }) => body.stream && body.pull && connector.body.stream)) {
    const { stream: own, pull } = account.body;
    const described = account.connector.body.stream;
    if (described === undefined) continue;
    const written = { base: pull?.base_url, key: own?.key };
    const resolved = await runtime.resolve(written);
    // Without its secret it is known by the reference, and each opening fails with the code of what is missing.
    const { base, key } = resolved.kind === 'ok' ? resolved.body : written;
    const id = digest(JSON.stringify([base, described.path, key ?? '', own?.chain ?? ''])).slice(0, 32);
    const brands = all.filter(
      ({ integration: name, body }) => name === account.integration || body.pulled_by === account.integration,
    );
    const subscription = streams.get(id) ?? {
      id,
      revision: digest(JSON.stringify([described, account.connector.body.push])),
      account: account.integration,
      brands: new Map(),
      brandPlaces: pushSettingsOf(account).envelope?.brand?.places ?? [],
      eventPath: described.event,
      offsetPath: described.offset,
      pingMs: durationMs(described.ping),
      pauseMs: durationMs(described.pause),
      keptMs: durationMs(described.replay.kept),
      isInclusive: described.replay.inclusive,
    };
    for (const brand of brands)
      subscription.brands.set(brand.body.brand_id, { integration: brand.integration, settings: pushSettingsOf(brand) });
    streams.set(id, subscription);
  }
  return streams;
}

/** Address, credentials and subscription, with secrets read again. */
async function openingOf(
  runtime: Runtime,
  pull: ReturnType<typeof pullPorts>,
  { account }: Stream,
  offset: string | undefined,
  isRefused: boolean,
): ReturnType<StreamPorts['opening']> {
  const brand = runtime.active().integrations.get(account);
  const planned = await pull.plan(account);
  const resolved = await runtime.resolve({ stream: brand?.body.stream, described: brand?.connector.body.stream });
  if (planned.kind === 'unavailable') return { kind: 'failed', code: planned.code };
  const { stream, described } = resolved.kind === 'ok' ? resolved.body : {};
  if (brand === undefined || described === undefined) return { kind: 'failed', code: 'documents.secret_missing' };
  const credentials = credentialsFor(pull, planned.plan);
  const { key, chain } = stream ?? {};
  const values: Values = { key, 'key.sha256': key && digest(key), chain, offset };
  const request = openRequest(
    { ...described, method: 'GET', encoding: 'json' },
    planned.plan.settings.base_url,
    values,
  );
  if (urlFault(request.base) !== undefined) return { kind: 'failed', code: 'pull.bad_request' };
  let authorized = await credentials.authorize(request);
  if (isRefused) {
    await credentials.renew();
    authorized = await credentials.authorize(request);
  }
  if (authorized.kind === 'failed') return { kind: 'failed', code: authorized.code };
  const { url, headers } = authorized.wire;
  const authorization = Object.entries(headers).find(([name]) => name.toLowerCase() === 'authorization')?.[1];
  const variables = fill(described.variables, values) ?? {};
  return {
    kind: 'ok',
    url: url.replace(/^http/, 'ws'),
    init: fill(described.init, { ...values, authorization }) ?? {},
    subscribe: { query: withVariables(described.subscription, variables), variables },
    endsAt: credentials.renewedAt(),
  } satisfies Opening;
}

/** Writes variables into the text of a subscription, as GraphQL. */
function withVariables(subscription: string, variables: Json): string {
  const written = Object.entries(variables as object).map(([name, value]) => [name, graphql(value)] as const);
  return plainText(fill(subscription, Object.fromEntries(written)));
}

/** A value as GraphQL: JSON with keys that are not quoted. */
function graphql(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(graphql).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  return `{ ${Object.entries(value)
    .map(([key, child]) => `${key}: ${graphql(child)}`)
    .join(', ')} }`;
}

/** The brands whose events come by stream. */
export function streamedBrands({ active }: Pick<Runtime, 'active'>): Brand[] {
  const { integrations } = active();
  const accounts = new Set(
    [...integrations.values()].filter(({ body }) => body.stream).map(({ integration: name }) => name as string),
  );
  return [...integrations.values()].filter(
    ({ integration: name, body }) => accounts.has(name) || accounts.has(body.pulled_by ?? ''),
  );
}
