import type { Json } from '../../../terms.ts';
import type { Auth, PullSettings } from '../../documents/pull.ts';
import { type OpenRequest, withParts } from '../ask/request.ts';

/** Credentials that do not depend on the request. */
type FixedAuth =
  | Extract<Auth, { type: 'none' | 'bearer' | 'api_key' | 'basic' }>
  | ({ readonly type: 'custom' } & Pick<PullSettings, 'headers' | 'query' | 'body'>);

export function withFixed(request: OpenRequest, auth: FixedAuth): OpenRequest {
  switch (auth.type) {
    case 'none':
      return request;
    case 'bearer':
      return withParts(request, { headers: { Authorization: `Bearer ${auth.token}` } });
    case 'api_key':
      return withParts(
        request,
        auth.query === undefined
          ? { headers: { [auth.header ?? 'X-API-Key']: auth.key } }
          : { query: { [auth.query]: auth.key } },
      );
    case 'basic':
      return withParts(request, { headers: { Authorization: `Basic ${basicPair(auth)}` } });
    case 'custom': {
      const { headers, query, body } = auth;
      return withParts(request, { headers, query, body: request.body && body });
    }
  }
}

/** Values to mask wherever a partner might echo them. */
export function secretsOf(auth: PullSettings['auth']): string[] {
  switch (auth.type) {
    case 'login':
    case 'custom':
      return [auth.headers, auth.query, auth.body].flatMap((part) => textsIn(part ?? {}));
    case 'none':
      return [];
    case 'bearer':
      return [auth.token];
    case 'api_key':
      return [auth.key];
    case 'basic':
      return [basicPair(auth), auth.password ?? auth.username];
    case 'hmac':
      return [auth.secret];
    case 'oauth2':
      return auth.client_secret === undefined ? [] : [auth.client_secret];
  }
}

/** The value after `Basic `. */
function basicPair({ username, password }: Extract<Auth, { type: 'basic' }>): string {
  return Buffer.from(password === undefined ? username : `${username}:${password}`, 'utf8').toString('base64');
}

export function textsIn(value: Json | Readonly<Record<string, Json>>): string[] {
  if (typeof value === 'string') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** The names of the query parameters that credentials and the integration add to every request. */
export function addedParameters({ query = {}, auth }: Pick<PullSettings, 'query' | 'auth'>): ReadonlySet<string> {
  const names = Object.keys(query);
  if (auth.type === 'api_key' && auth.query !== undefined) names.push(auth.query);
  if (auth.type === 'custom') names.push(...Object.keys(auth.query ?? {}));
  if (auth.type === 'login' && auth.place?.part === 'query') names.push(...auth.place.keys);
  return new Set(names);
}
