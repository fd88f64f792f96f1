import type { IntegrationName, Json, SyncType } from '../../terms.ts';
import type { BodyError } from './body-errors.ts';
import type { SingleTemplate } from './single-request.ts';

/**
 * One integration as pulling needs it: connector and integration combined, durations in milliseconds, offsets in days, secrets
 * in plain text. It never leaves the process.
 */
export interface PullSettings {
  readonly integration: IntegrationName;
  /** The integration whose `pull` section applies: this one, or the one that it is `pulled_by`. Tokens and pauses belong to it. */
  readonly account: IntegrationName;
  readonly brandId: string;
  /** IANA name; windows are days of this zone. */
  readonly timezone: string;
  readonly baseUrl: string;
  readonly auth: PullAuth;
  /** Sent with every request beside the credentials; the values are treated as secrets. */
  readonly headers: Readonly<Record<string, string>>;
  readonly query: QueryValues;
  readonly body: Readonly<Record<string, Json>>;
  readonly request: RequestTemplate;
  /** Instead of `request`, for single syncs. */
  readonly requests: Readonly<Partial<Record<SyncType, RequestTemplate>>>;
  /** The list has no dates: one request covers the whole range. */
  readonly hasWindows: boolean;
  readonly since: { readonly overlapMs: number; readonly firstMs: number };
  readonly single?: SingleTemplate;
  /** Sent after a page is stored, with its ids. */
  readonly acknowledge?: RequestTemplate;
  /** What a reservation that the partner no longer has becomes. */
  readonly gone: 'kept' | 'cancelled';
  /** In request order. */
  readonly related: readonly Related[];
  readonly pagination: Pagination;
  /** Errors inside successful answers. */
  readonly errors: readonly BodyError[];
  /** The longest window, in days: 1 to 7. */
  readonly stepDays: number;
  readonly syncs: Readonly<Partial<Record<SyncType, SyncSettings>>>;
  readonly rate?: RequestRate;
  readonly connectMs: number;
  readonly idleMs: number;
  readonly deadlineMs: number;
  readonly maxBytes: number;
  /** Absolute path of the module that turns a response's bytes into JSON. */
  readonly adapter?: string;
}

/** A list is sent as a repeated parameter. */
export type QueryValues = Readonly<Record<string, string | readonly string[]>>;

export interface SyncSettings {
  readonly everyMs: number;
  /** First and last day, counted from today at the property. */
  readonly fromDays: number;
  readonly toDays: number;
  readonly status?: string | readonly string[];
}

export interface RequestRate {
  readonly requests: number;
  readonly perMs: number;
  readonly burst: number;
}

/** Texts may hold placeholders; see template.ts. */
export interface RequestTemplate {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly query: Readonly<Record<string, Json>>;
  readonly body?: Readonly<Record<string, Json>>;
  readonly encoding: 'json' | 'form';
  readonly headers: Readonly<Record<string, string>>;
}

/** A table that the rows of a page refer to by id, and how to request it. */
export interface Related {
  readonly name: string;
  readonly ids: readonly IdSource[];
  readonly request: RequestTemplate;
  /** The most ids in one request. */
  readonly chunk: number;
  readonly rootPath?: string;
  /** The name under which each row gets the requested id. */
  readonly idAs?: string;
  readonly pagination: Pagination;
}

/** A path in the rows of the page, or of an earlier table. */
export interface IdSource {
  readonly path: string;
  readonly table?: string;
}

/**
 * Places in the request are query.NAME, body.KEY.KEY or header.NAME; `next` and `total` are paths in the response or header.NAME; without
 * a total, `total` is false.
 */
export type Pagination =
  | {
      readonly type: 'offset';
      readonly offset: string;
      readonly limit: string;
      readonly pageSize: number;
      readonly first: number;
      readonly total: string | false;
    }
  | {
      readonly type: 'page';
      readonly page: string;
      readonly limit?: string;
      readonly pageSize: number;
      readonly first: number;
      readonly total: string | false;
    }
  | {
      readonly type: 'cursor';
      readonly next: string;
      /** Where the answer says whether there are more pages. */
      readonly more?: string;
      readonly cursor: string;
      readonly limit?: string;
      readonly pageSize: number;
      readonly total: string | false;
    }
  | { readonly type: 'link'; readonly limit?: string; readonly pageSize: number; readonly total: string | false }
  | {
      readonly type: 'url';
      readonly next: string;
      readonly limit?: string;
      readonly pageSize: number;
      readonly total: string | false;
    }
  | { readonly type: 'none' };

export type Auth =
  | { readonly type: 'none' }
  | { readonly type: 'bearer'; readonly token: string }
  | { readonly type: 'api_key'; readonly key: string; readonly header?: string; readonly query?: string }
  | { readonly type: 'basic'; readonly username: string; readonly password: string }
  | HmacAuth
  | CustomAuth
  | OAuth2;

/** A token from the partner's login call. */
export interface LoginAuth {
  readonly type: 'login';
  readonly request: RequestTemplate;
  /** Path of the token in the answer. */
  readonly token: string;
  /** Path of its lifetime in seconds. */
  readonly expiresIn?: string;
  /** If the answer does not say. */
  readonly lifetimeMs: number;
  readonly header: string;
  /** Instead of the header. */
  readonly place?: { readonly part: 'query' | 'body'; readonly keys: readonly string[] };
  /** With {token}. */
  readonly value: string;
}

export type PullAuth = Auth | LoginAuth;

export interface HmacAuth {
  readonly type: 'hmac';
  readonly secret: string;
  readonly secretEncoding?: 'text' | 'base64' | 'hex';
  readonly algorithm: 'sha256' | 'sha512';
  readonly encoding: 'hex' | 'base64';
  /** Template of the string to sign. */
  readonly sign: string;
  /** Templates of the headers to send. */
  readonly headers: Readonly<Record<string, string>>;
}

export interface CustomAuth {
  readonly type: 'custom';
  readonly headers: Readonly<Record<string, string>>;
  readonly query: QueryValues;
  readonly body: Readonly<Record<string, Json>>;
}

export interface OAuth2 {
  readonly type: 'oauth2';
  readonly grant: 'client_credentials' | 'authorization_code';
  readonly tokenUrl: string;
  readonly clientId: string;
  readonly clientSecret?: string;
  readonly clientAuth: 'basic' | 'post';
  readonly scopes: readonly string[];
  readonly audience?: string;
  /** Further parameters of every token request. */
  readonly params: Readonly<Record<string, string>>;
  readonly authorizeUrl?: string;
  readonly authorizeParams: Readonly<Record<string, string>>;
  readonly pkce: boolean;
  /** Further headers of token requests. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Values to mask wherever a partner might echo them. */
export function secretsOf(auth: PullAuth): string[] {
  switch (auth.type) {
    case 'login':
      return [
        ...textsIn(auth.request.body ?? {}),
        ...textsIn(auth.request.query),
        ...Object.values(auth.request.headers),
      ];
    case 'none':
      return [];
    case 'bearer':
      return [auth.token];
    case 'api_key':
      return [auth.key];
    case 'basic':
      return [basicPair(auth), auth.password];
    case 'hmac':
      return [auth.secret];
    case 'custom':
      return [...Object.values(auth.headers), ...Object.values(auth.query).flat(), ...textsIn(auth.body)];
    case 'oauth2':
      return auth.clientSecret === undefined ? [] : [auth.clientSecret];
  }
}

/** The value after `Basic `. */
export function basicPair({ username, password }: { readonly username: string; readonly password: string }): string {
  return Buffer.from(`${username}:${password}`, 'utf8').toString('base64');
}

export function textsIn(value: Json | Readonly<Record<string, Json>>): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The names of the query parameters that credentials and the integration add to every request. */
export function addedParameters({ query, auth }: Pick<PullSettings, 'query' | 'auth'>): ReadonlySet<string> {
  const names = Object.keys(query);
  if (auth.type === 'api_key' && auth.query !== undefined) names.push(auth.query);
  if (auth.type === 'custom') names.push(...Object.keys(auth.query));
  if (auth.type === 'login' && auth.place?.part === 'query') names.push(...auth.place.keys);
  return new Set(names);
}
