import { type IntegrationName, type SyncType, syncTypes } from '../../terms.ts';
import { parsePlace } from './answer-path.ts';
import type { AuthDocument, PullAuthDocument } from './auth.ts';
import type { Connector } from './connector.ts';
import { requestOfSync } from './connector-request.ts';
import type { Integration } from './integration.ts';
import { rateOf } from './scalars.ts';
import { dayOffset, durationMs } from './units.ts';

type ConnectorPull = NonNullable<Connector['pull']>;
export type IntegrationPull = Omit<NonNullable<Integration['pull']>, 'auth'> & { readonly auth: PullAuthDocument };

export type RequestTemplate = Omit<Acknowledge, 'ids'>;
export type Acknowledge = NonNullable<ConnectorPull['acknowledge']>;
export type Single = NonNullable<ConnectorPull['single']>;
/** A table that the rows of a page refer to by id, and how to request it. */
export type Related = ConnectorPull['related'][number];
/** An error that a partner reports inside a successful answer. */
export type BodyError = ConnectorPull['errors'][number];

/** `headers`: the brand's own, which go to the token address only if it is on the partner's host. */
export type OAuth2 = Extract<AuthDocument, { type: 'oauth2' }> & { readonly headers?: IntegrationPull['headers'] };
export type Auth = Exclude<AuthDocument, { type: 'oauth2' }> | OAuth2;
export type LoginAuth = ReturnType<typeof loginOf>;

const dayMs = 86_400_000;

interface PullSource {
  readonly integration: IntegrationName;
  /** If another integration polls this one. */
  readonly account?: IntegrationName | undefined;
  readonly brandId: string;
  readonly timezone: string;
  readonly connector: ConnectorPull;
  /** With its secrets resolved. */
  readonly own: IntegrationPull;
  readonly maxBytes: number;
  /** Absolute path of the module that turns a response's bytes into JSON. */
  readonly adapter?: string | undefined;
}

export type PullSettings = ReturnType<typeof pullOf>;

/**
 * The pull sections of a connector and an integration as one object: as parsed, with durations in milliseconds and offsets in days. It holds
 * secrets in plain text and never leaves the process.
 */
export function pullOf({ integration, account = integration, brandId, timezone, connector, own, ...rest }: PullSource) {
  const { window, since, ...api } = connector;
  const { timeouts, auth, syncs, rate, ...brand } = own;
  return {
    ...api,
    ...brand,
    ...listRequestsOf(connector),
    integration,
    /** The integration whose `pull` section applies. Tokens and pauses belong to it. */
    account,
    brandId,
    timezone,
    maxBytes: rest.maxBytes,
    adapter: rest.adapter,
    auth: authOf(auth, own),
    /** Without windows the list has no dates: one request covers the whole range. */
    hasWindows: window !== 'none',
    /** The longest window. */
    stepDays: window === 'none' ? 1 : durationMs(window.step) / dayMs,
    since: {
      overlapMs: durationMs(since.overlap),
      firstMs: durationMs(since.first),
      stepDays: since.step === undefined ? undefined : durationMs(since.step) / dayMs,
    },
    syncs: Object.fromEntries(
      syncTypes.flatMap((type) => (syncs[type] ? [[type, syncOf(syncs[type])]] : [])),
    ) as Partial<Record<SyncType, ReturnType<typeof syncOf>>>,
    rate: rate && rateOf(rate),
    connectMs: durationMs(timeouts.connect),
    idleMs: durationMs(timeouts.idle),
    deadlineMs: durationMs(timeouts.total),
  };
}

/** The request of every list, whole. */
export function listRequestsOf({ request, requests }: Pick<ConnectorPull, 'request' | 'requests'>): {
  readonly request: RequestTemplate | undefined;
  readonly requests: Partial<Record<SyncType, RequestTemplate>>;
} {
  const whole = Object.entries(requests).map(([sync, own]) => [sync, requestOfSync(request, own ?? {})]);
  return { request, requests: Object.fromEntries(whole) };
}

/** A sync without a range reads a list without dates: which days its run names does not matter. */
function syncOf({ every, range: [from, to] = ['0d', '0d'], status }: NonNullable<IntegrationPull['syncs'][SyncType]>) {
  return { everyMs: durationMs(every), fromDays: dayOffset(from), toDays: dayOffset(to), status };
}

function authOf(auth: PullAuthDocument, { base_url, headers = {} }: IntegrationPull): Auth | LoginAuth {
  if (auth.type === 'login') return loginOf(auth);
  if (auth.type !== 'oauth2') return auth;
  const address = URL.parse(auth.token_url, base_url);
  const whole = { ...auth, token_url: address?.href ?? auth.token_url };
  return address?.origin === URL.parse(base_url)?.origin ? { ...whole, headers } : whole;
}

function loginOf({ lifetime, place, value, ...login }: Extract<PullAuthDocument, { type: 'login' }>) {
  return {
    ...login,
    /** If the answer does not say how long the token is valid. */
    lifetimeMs: durationMs(lifetime),
    place: place === undefined ? undefined : parsePlace(place),
    value: value ?? (place === undefined ? 'Bearer {token}' : '{token}'),
  };
}
