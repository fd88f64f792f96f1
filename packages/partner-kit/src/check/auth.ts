import { randomUUID } from 'node:crypto';
import type { Json } from '../json.ts';
import {
  defaultHmacHeaders,
  filled,
  type HmacSettings,
  type SimulatorAuth,
  signatureOf,
} from '../simulate/auth/guard.ts';

/** Authentication for the API, as `auth` in an integration; OAuth 2 by client credentials only, because there is no browser. */
export type CheckAuth =
  | Exclude<SimulatorAuth, { type: 'api_key' | 'oauth2' | 'custom' | 'login' }>
  | { readonly type: 'api_key'; readonly key: string; readonly header?: string; readonly query?: string }
  | CustomAuth
  | {
      readonly type: 'oauth2';
      readonly token_url: string;
      readonly client_id: string;
      readonly client_secret: string;
      /** How the client authenticates at the token endpoint. Default: basic. */
      readonly client_auth?: 'basic' | 'post';
      readonly scopes?: readonly string[];
      readonly audience?: string;
      /** Additional parameters of the token request. */
      readonly params?: Readonly<Record<string, string>>;
    };

interface CustomAuth {
  readonly type: 'custom';
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, Json>>;
}

export interface Draft {
  readonly method: 'GET' | 'POST';
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** right: as configured. wrong: with a different secret. none: without credentials. */
export type Credentials = 'right' | 'wrong' | 'none';

/** Adds the credentials to a request. `token` is the OAuth access token, if any. */
export function withCredentials(
  auth: CheckAuth,
  draft: Draft,
  credentials: Credentials,
  token: string | undefined,
  nowMs: number,
): Draft {
  if (credentials === 'none') return draft;
  const own = (secret: string) => (credentials === 'right' ? secret : `${secret}-but-wrong`);
  const header = (name: string, value: string): Draft => ({ ...draft, headers: { ...draft.headers, [name]: value } });
  switch (auth.type) {
    case 'none':
      return draft;
    case 'bearer':
      return header('Authorization', `Bearer ${own(auth.token)}`);
    case 'oauth2':
      return header('Authorization', `Bearer ${own(token ?? 'no-token')}`);
    case 'basic':
      return header(
        'Authorization',
        `Basic ${Buffer.from(`${auth.username}:${own(auth.password)}`).toString('base64')}`,
      );
    case 'api_key':
      return auth.query === undefined
        ? header(auth.header ?? 'X-API-Key', own(auth.key))
        : withQuery(draft, { [auth.query]: own(auth.key) });
    case 'hmac':
      return signed(auth, draft, own(auth.secret), nowMs);
    case 'custom':
      return custom(auth, draft, own);
  }
}

function signed(auth: HmacSettings, draft: Draft, secret: string, nowMs: number): Draft {
  const values = {
    timestamp: String(Math.floor(nowMs / 1000)),
    nonce: randomUUID(),
    method: draft.method,
    path_query: `${draft.url.pathname}${draft.url.search}`,
    body: draft.body ?? '',
  };
  const all = { ...values, signature: signatureOf(auth, secret, values) };
  const headers = Object.entries(auth.headers ?? defaultHmacHeaders).map(([name, one]) => [name, filled(one, all)]);
  return { ...draft, headers: { ...draft.headers, ...Object.fromEntries(headers) } };
}

function custom(auth: CustomAuth, draft: Draft, own: (secret: string) => string): Draft {
  const made = <Value extends Json>(values: Readonly<Record<string, Value>> = {}) =>
    Object.fromEntries(
      Object.entries(values).map(([name, value]) => [name, typeof value === 'string' ? own(value) : value]),
    );
  const headers = { ...draft.headers, ...(made(auth.headers) as Record<string, string>) };
  const placed = withQuery({ ...draft, headers }, made(auth.query) as Record<string, string>);
  if (auth.body === undefined || draft.body === undefined) return placed;
  return { ...placed, body: JSON.stringify({ ...(JSON.parse(draft.body) as object), ...made(auth.body) }) };
}

function withQuery(draft: Draft, values: Readonly<Record<string, string>>): Draft {
  const url = new URL(draft.url);
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return { ...draft, url };
}

/** Lower-case names of headers and query parameters that carry secrets; reports omit their values. */
export function secretNames(auth: CheckAuth): Set<string> {
  const names: string[] = [];
  if (auth.type === 'api_key') names.push(auth.query ?? auth.header ?? 'X-API-Key');
  if (auth.type === 'custom') names.push(...Object.keys({ ...auth.headers, ...auth.query }));
  if (auth.type === 'hmac') names.push(...Object.keys(auth.headers ?? defaultHmacHeaders));
  return new Set(names.map((name) => name.toLowerCase()));
}
