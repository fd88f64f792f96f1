import type { AuthDocument, PullAuthDocument } from '../../documents/auth.ts';
import type { Connector } from '../../documents/connector.ts';
import type { Integration } from '../../documents/integration.ts';
import type { IntegrationName, Json, SyncType } from '../../terms.ts';
import { syncTypes } from '../../terms.ts';
import type { Auth, LoginAuth, Pagination, PullSettings, Related, RequestTemplate, SyncSettings } from './settings.ts';
import type { SingleTemplate } from './single-request.ts';

/** The documents as parsed by their schema: durations and offsets as text, defaults filled in, secrets resolved. */
export type ConnectorPull = NonNullable<Connector['pull']>;
export type IntegrationPull = Omit<NonNullable<Integration['pull']>, 'auth'> & { readonly auth: PullAuthDocument };

type DocumentRequest = Omit<ConnectorPull['request'], 'method'> & { readonly method: 'GET' | 'POST' };
type DocumentRelated = NonNullable<ConnectorPull['related']>[number];
type DocumentSingle = NonNullable<ConnectorPull['single']>;
type DocumentSync = NonNullable<IntegrationPull['syncs'][SyncType]>;
type DocumentPagination = ConnectorPull['pagination'] | DocumentRelated['pagination'];
type DocumentLogin = Extract<PullAuthDocument, { type: 'login' }>;

/** Parsers for durations and day offsets, passed in because they belong to the documents room. */
export interface Notation {
  durationMs(text: string): number;
  dayOffset(text: string): number;
}

export interface SettingsSource {
  readonly integration: IntegrationName;
  /** If another integration polls this one. */
  readonly account?: IntegrationName | undefined;
  readonly brandId: string;
  readonly timezone: string;
  readonly connectorPull: ConnectorPull;
  readonly integrationPull: IntegrationPull;
  readonly maxBytes: number;
  /** Absolute path, where the connector names an adapter. */
  readonly adapter?: string | undefined;
}

const dayMs = 86_400_000;

export function readSettings(source: SettingsSource, notation: Notation): PullSettings {
  const { connectorPull: connector, integrationPull: own } = source;
  const hasWindows = connector.window !== 'none';
  const stepDays = connector.window === 'none' ? 0 : Math.floor(notation.durationMs(connector.window.step) / dayMs);
  const requests: Partial<Record<SyncType, RequestTemplate>> = {};
  const syncs: Partial<Record<SyncType, SyncSettings>> = {};
  for (const type of syncTypes) {
    const sync = own.syncs[type];
    if (sync !== undefined) syncs[type] = readSync(sync, notation);
    const request = connector.requests?.[type];
    if (request !== undefined) requests[type] = readRequest(request);
  }
  return {
    integration: source.integration,
    account: source.account ?? source.integration,
    brandId: source.brandId,
    timezone: source.timezone,
    baseUrl: own.base_url,
    auth: own.auth.type === 'login' ? readLogin(own.auth, notation) : readAuth(own.auth, sentTo(own.auth, own)),
    headers: own.headers ?? {},
    query: own.query ?? {},
    body: (own.body ?? {}) as Record<string, Json>,
    request: readRequest(connector.request),
    requests,
    hasWindows,
    since: {
      overlapMs: notation.durationMs(connector.since?.overlap ?? '15m'),
      firstMs: notation.durationMs(connector.since?.first ?? '30d'),
    },
    ...(connector.single && { single: readSingle(connector.single) }),
    ...(connector.acknowledge && { acknowledge: readRequest(connector.acknowledge) }),
    gone: connector.gone ?? 'kept',
    related: (connector.related ?? []).map(readRelated),
    pagination: readPagination(connector.pagination),
    errors: (connector.errors ?? []).map(({ message, ...error }) => ({
      ...error,
      ...(message !== undefined && { message }),
    })),
    stepDays: Math.min(7, Math.max(1, stepDays)),
    syncs,
    ...(own.rate && {
      rate: {
        requests: own.rate.requests,
        perMs: notation.durationMs(own.rate.per),
        burst: own.rate.burst ?? own.rate.requests,
      },
    }),
    connectMs: notation.durationMs(own.timeouts.connect),
    idleMs: notation.durationMs(own.timeouts.idle),
    deadlineMs: notation.durationMs(own.timeouts.total),
    maxBytes: source.maxBytes,
    ...(source.adapter !== undefined && { adapter: source.adapter }),
  };
}

function readSync(sync: DocumentSync, notation: Notation): SyncSettings {
  // A sync without a range reads a list without dates: which days its run names does not matter.
  const [from, to] = sync.range ?? ['0d', '0d'];
  return {
    everyMs: notation.durationMs(sync.every),
    fromDays: notation.dayOffset(from),
    toDays: notation.dayOffset(to),
    ...(sync.status !== undefined && { status: sync.status }),
  };
}

function readRequest(request: DocumentRequest): RequestTemplate {
  return {
    method: request.method,
    path: request.path,
    query: (request.query ?? {}) as Record<string, Json>,
    ...(request.body && { body: request.body as Record<string, Json> }),
    encoding: request.encoding ?? 'json',
    headers: request.headers ?? {},
  };
}

function readRelated(table: DocumentRelated): Related {
  const { name, ids, chunk, root_path: rootPath, id_as: idAs } = table;
  return {
    name,
    ids: (Array.isArray(ids) ? ids : [ids]).map((source) => (typeof source === 'string' ? { path: source } : source)),
    request: readRequest(table),
    chunk,
    ...(rootPath !== undefined && { rootPath }),
    ...(idAs !== undefined && { idAs }),
    pagination: readPagination(table.pagination),
  };
}

function readSingle(single: DocumentSingle): SingleTemplate {
  const { split: on, id_as: idAs } = single;
  const request = readRequest(single);
  const used = Array.from(JSON.stringify(request).matchAll(/\{id\.(\d)\}/g), ([, index]) => Number(index));
  return {
    ...request,
    ...(on !== undefined && { split: { on, parts: Math.max(...used) + 1 } }),
    ...(idAs !== undefined && { idAs }),
  };
}

function readPagination(given: DocumentPagination): Pagination {
  if (given.type === 'none') return given;
  const { page_size: pageSize, total } = given;
  const limit = given.limit === undefined ? {} : { limit: given.limit };
  switch (given.type) {
    case 'offset':
      return {
        type: 'offset',
        offset: needed(given.offset),
        limit: needed(given.limit),
        pageSize,
        first: given.first ?? 0,
        total,
      };
    case 'page':
      return { type: 'page', page: needed(given.page), ...limit, pageSize, first: given.first ?? 1, total };
    case 'cursor':
      return {
        type: 'cursor',
        next: needed(given.next),
        ...(given.more !== undefined && { more: given.more }),
        cursor: needed(given.cursor),
        ...limit,
        pageSize,
        total,
      };
    case 'link':
      return { type: 'link', ...limit, pageSize, total };
    case 'url':
      return { type: 'url', next: needed(given.next), ...limit, pageSize, total };
  }
}

/** The schema guarantees the place; a missing one is a bug. */
function needed(text: string | undefined): string {
  if (text === undefined) throw new TypeError('the pagination section lacks a place that its type requires');
  return text;
}

/** The brand's own headers go to the token address only if it is on the partner's host. */
function sentTo(
  auth: Exclude<IntegrationPull['auth'], DocumentLogin>,
  { base_url, headers = {} }: IntegrationPull,
): Readonly<Record<string, string>> {
  const isSame = auth.type === 'oauth2' && URL.parse(auth.token_url)?.origin === URL.parse(base_url)?.origin;
  return isSame ? headers : {};
}

function readLogin(login: DocumentLogin, notation: Notation): LoginAuth {
  return {
    type: 'login',
    request: readRequest(login),
    token: login.token,
    ...(login.expires_in !== undefined && { expiresIn: login.expires_in }),
    lifetimeMs: notation.durationMs(login.lifetime),
    header: login.header,
    ...(login.place !== undefined && { place: placeOf(login.place) }),
    value: login.value ?? (login.place === undefined ? 'Bearer {token}' : '{token}'),
  };
}

/** query.NAME, where the name may contain dots, or body.KEY.KEY. */
function placeOf(text: string): NonNullable<LoginAuth['place']> {
  const rest = text.slice(text.indexOf('.') + 1);
  return text.startsWith('query.') ? { part: 'query', keys: [rest] } : { part: 'body', keys: rest.split('.') };
}

/** `tokenHeaders` are sent with token requests. */
export function readAuth(auth: AuthDocument, tokenHeaders: Readonly<Record<string, string>> = {}): Auth {
  switch (auth.type) {
    case 'api_key':
      return {
        type: 'api_key',
        key: auth.key,
        ...(auth.header !== undefined && { header: auth.header }),
        ...(auth.query !== undefined && { query: auth.query }),
      };
    case 'hmac': {
      const { secret_encoding: secretEncoding = 'text', ...hmac } = auth;
      return { ...hmac, secretEncoding };
    }
    case 'custom':
      return {
        type: 'custom',
        headers: auth.headers ?? {},
        query: auth.query ?? {},
        body: (auth.body ?? {}) as Record<string, Json>,
      };
    case 'oauth2':
      return {
        type: 'oauth2',
        grant: auth.grant,
        tokenUrl: auth.token_url,
        clientId: auth.client_id,
        ...(auth.client_secret !== undefined && { clientSecret: auth.client_secret }),
        clientAuth: auth.client_auth,
        scopes: auth.scopes,
        ...(auth.audience !== undefined && { audience: auth.audience }),
        params: auth.params,
        ...(auth.grant === 'authorization_code' && { authorizeUrl: auth.authorize_url }),
        authorizeParams: auth.grant === 'authorization_code' ? auth.authorize_params : {},
        pkce: auth.grant === 'authorization_code' ? auth.pkce : true,
        headers: tokenHeaders,
      };
    default:
      return auth;
  }
}
