import type { Auth, PullSettings } from '../../documents/pull.ts';
import { isObject, type Json } from '../../terms.ts';
import type { OpenRequest } from '../ask/request.ts';
import { basicPair } from './secrets.ts';

/** Credentials that do not depend on the request. */
export type FixedAuth =
  | Extract<Auth, { type: 'none' | 'bearer' | 'api_key' | 'basic' }>
  | ({ readonly type: 'custom' } & Pick<PullSettings, 'headers' | 'query' | 'body'>);

export function withFixed(request: OpenRequest, auth: FixedAuth): OpenRequest {
  switch (auth.type) {
    case 'none':
      return request;
    case 'bearer':
      return withHeaders(request, { Authorization: `Bearer ${auth.token}` });
    case 'api_key':
      return auth.query === undefined
        ? withHeaders(request, { [auth.header ?? 'X-API-Key']: auth.key })
        : withQuery(request, { [auth.query]: auth.key });
    case 'basic':
      return withHeaders(request, { Authorization: `Basic ${basicPair(auth)}` });
    case 'custom': {
      const added = withQuery(withHeaders(request, auth.headers ?? {}), auth.query ?? {});
      return added.body === undefined ? added : { ...added, body: merged(added.body, auth.body ?? {}) };
    }
  }
}

export function withHeaders(request: OpenRequest, headers: Readonly<Record<string, string>>): OpenRequest {
  const replaced = new Set(Object.keys(headers).map((name) => name.toLowerCase()));
  const kept = Object.entries(request.headers).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...request, headers: { ...Object.fromEntries(kept), ...headers } };
}

function withQuery(request: OpenRequest, query: NonNullable<PullSettings['query']>): OpenRequest {
  const kept = request.query.filter(([name]) => !Object.hasOwn(query, name));
  const added = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  return { ...request, query: [...kept, ...added] };
}

/** Objects are merged key by key, so that credentials inside an object keep the connector's keys beside them. */
function merged(body: Readonly<Record<string, Json>>, added: Readonly<Record<string, Json>>): Record<string, Json> {
  const result: Record<string, Json> = { ...body };
  for (const [key, value] of Object.entries(added)) {
    const inner = Object.hasOwn(body, key) ? body[key] : undefined;
    result[key] = isObject(inner) && isObject(value) ? merged(inner, value) : value;
  }
  return result;
}
