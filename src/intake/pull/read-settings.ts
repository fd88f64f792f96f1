import type { IntegrationName, Json, SyncType } from '../../terms.ts';
import { syncTypes } from '../../terms.ts';
import type { BodyError } from './body-errors.ts';
import type { Auth, LoginAuth, Pagination, PullSettings, Related, RequestTemplate, SyncSettings } from './settings.ts';

/** The documents as parsed by their schema: durations and offsets as text, defaults filled in, secrets resolved. */
export interface ConnectorPull {
  readonly request: DocumentRequest;
  readonly requests?: { readonly [Type in SyncType]?: DocumentRequest | undefined } | undefined;
  readonly since?: { readonly overlap: string; readonly first: string } | undefined;
  readonly single?: DocumentRequest | undefined;
  readonly acknowledge?: DocumentRequest | undefined;
  readonly gone?: 'kept' | 'cancelled' | undefined;
  readonly related?: readonly DocumentRelated[] | undefined;
  readonly pagination: DocumentPagination;
  readonly window: 'none' | { readonly step: string };
  readonly errors?: readonly DocumentError[] | undefined;
}

export interface IntegrationPull {
  readonly base_url: string;
  readonly auth: DocumentAuth | DocumentLogin;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly query?: Readonly<Record<string, string>> | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly syncs: { readonly [Type in SyncType]?: DocumentSync | undefined };
  readonly rate?: { readonly requests: number; readonly per: string; readonly burst?: number | undefined } | undefined;
  readonly timeouts: { readonly connect: string; readonly idle: string; readonly total: string };
}

interface DocumentError extends Omit<BodyError, 'message'> {
  readonly message?: string | undefined;
}

interface DocumentRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
  readonly encoding?: 'json' | 'form' | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

type DocumentIds = string | { readonly table: string; readonly path: string };

interface DocumentRelated extends DocumentRequest {
  readonly name: string;
  readonly ids: DocumentIds | readonly DocumentIds[];
  readonly chunk: number;
  readonly root_path?: string | undefined;
  readonly pagination: DocumentPagination;
}

interface DocumentSync {
  readonly every: string;
  readonly range: readonly [string, string];
  readonly status?: string | readonly string[] | undefined;
}

type DocumentPagination =
  | { readonly type: 'none' }
  | {
      readonly type: 'offset' | 'page' | 'cursor' | 'link' | 'url';
      readonly offset?: string | undefined;
      readonly page?: string | undefined;
      readonly cursor?: string | undefined;
      readonly next?: string | undefined;
      readonly limit?: string | undefined;
      readonly page_size: number;
      readonly first?: number | undefined;
      readonly total: string;
    };

export type DocumentAuth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | {
      readonly type: 'api_key';
      readonly key: string;
      readonly header?: string | undefined;
      readonly query?: string | undefined;
    }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | {
      readonly type: 'hmac';
      readonly secret: string;
      readonly secret_encoding?: 'text' | 'base64' | 'hex' | undefined;
      readonly algorithm: 'sha256' | 'sha512';
      readonly encoding: 'hex' | 'base64';
      readonly sign: string;
      readonly headers: Readonly<Record<string, string>>;
    }
  | {
      readonly type: 'custom';
      readonly headers?: Readonly<Record<string, string>> | undefined;
      readonly query?: Readonly<Record<string, string>> | undefined;
      readonly body?: Readonly<Record<string, unknown>> | undefined;
    }
  | {
      readonly type: 'oauth2';
      readonly grant: 'client_credentials' | 'authorization_code';
      readonly token_url: string;
      readonly client_id: string;
      readonly client_secret?: string | undefined;
      readonly client_auth: 'basic' | 'post';
      readonly scopes: readonly string[];
      readonly audience?: string | undefined;
      readonly params: Readonly<Record<string, string>>;
      readonly authorize_url?: string | undefined;
      readonly authorize_params?: Readonly<Record<string, string>> | undefined;
      readonly pkce?: boolean | undefined;
    };

interface DocumentLogin extends DocumentRequest {
  readonly type: 'login';
  readonly token: string;
  readonly expires_in?: string | undefined;
  readonly lifetime: string;
  readonly header: string;
  readonly value: string;
}

/** Parsers for durations and day offsets, passed in because they belong to the documents room. */
export interface Notation {
  durationMs(text: string): number;
  dayOffset(text: string): number;
}

export interface SettingsSource {
  readonly integration: IntegrationName;
  readonly brandId: string;
  readonly timezone: string;
  readonly connectorPull: ConnectorPull;
  readonly integrationPull: IntegrationPull;
  readonly maxBytes: number;
  /** Absolute path, where the connector names an adapter. */
  readonly adapter?: string | undefined;
}

const dayMs = 86_400_000;
/** Longer than any range. */
const wholeRangeDays = 100_000;

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
    ...(connector.single && { single: readRequest(connector.single) }),
    ...(connector.acknowledge && { acknowledge: readRequest(connector.acknowledge) }),
    gone: connector.gone ?? 'kept',
    related: (connector.related ?? []).map(readRelated),
    pagination: readPagination(connector.pagination),
    errors: (connector.errors ?? []).map(({ message, ...error }) => ({
      ...error,
      ...(message !== undefined && { message }),
    })),
    stepDays: hasWindows ? Math.min(7, Math.max(1, stepDays)) : wholeRangeDays,
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
  return {
    everyMs: notation.durationMs(sync.every),
    fromDays: notation.dayOffset(sync.range[0]),
    toDays: notation.dayOffset(sync.range[1]),
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
  const { name, ids, chunk, root_path: rootPath } = table;
  return {
    name,
    ids: (Array.isArray(ids) ? ids : [ids]).map((source) => (typeof source === 'string' ? { path: source } : source)),
    request: readRequest(table),
    chunk,
    ...(rootPath !== undefined && { rootPath }),
    pagination: readPagination(table.pagination),
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
      return { type: 'cursor', next: needed(given.next), cursor: needed(given.cursor), ...limit, pageSize, total };
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
    value: login.value,
  };
}

/** `tokenHeaders` are sent with token requests. */
export function readAuth(auth: DocumentAuth, tokenHeaders: Readonly<Record<string, string>> = {}): Auth {
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
        ...(auth.authorize_url !== undefined && { authorizeUrl: auth.authorize_url }),
        authorizeParams: auth.authorize_params ?? {},
        pkce: auth.pkce ?? true,
        headers: tokenHeaders,
      };
    default:
      return auth;
  }
}
