import { urlPart } from '../../../kit/plain-url.ts';
import { isObject, type Json, type JsonObject } from '../../../terms.ts';
import type { PullSettings, RequestTemplate } from '../../documents/pull.ts';

/** A request before credentials are added. */
export interface OpenRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly base: string;
  /** In the order sent. */
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, Json>>;
  readonly encoding?: 'json' | 'form';
}

/** A request as sent: exact bytes and address. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly url: string;
  /** Path and query as sent; this is what an HMAC signs. */
  readonly pathQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What the credentials of a brand, or paging, add to a request. */
export type Parts = Partial<Pick<PullSettings, 'headers' | 'query' | 'body'>>;

/** A value for one place of the request, such as query.offset; without one, a query parameter is left out. */
export interface Placement {
  readonly place: string;
  readonly value?: string | number;
}

/** Fills the template and sets the paging values. */
export function openRequest(
  template: RequestTemplate,
  baseUrl: string,
  values: Values,
  placements: readonly Placement[] = [],
): OpenRequest {
  const query: [string, string][] = [];
  for (const [name, value] of Object.entries(template.query ?? {})) {
    const filled = fill(value, values);
    if (filled === undefined || filled === null) continue;
    for (const one of Array.isArray(filled) ? filled : [filled]) query.push([name, plainText(one)]);
  }
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(template.headers ?? {})) {
    const filled = fill(text, values);
    if (filled !== undefined) headers[name] = plainText(filled);
  }
  const hasBody = template.method === 'POST' || template.body !== undefined;
  const body = hasBody ? ((fill(template.body ?? {}, values) ?? {}) as Record<string, Json>) : undefined;
  const opened: OpenRequest = {
    method: template.method,
    base: baseUrl.replace(/\/+$/, '') + fillPath(template.path, values),
    query,
    headers,
    ...(body !== undefined && { body, encoding: template.encoding }),
  };
  return placements.reduce(place, opened);
}

/** Headers and parameters replace those of the same name. */
export function withParts(request: OpenRequest, { headers = {}, query = {}, body }: Parts): OpenRequest {
  const keptQuery = request.query.filter(([name]) => !Object.hasOwn(query, name));
  const added = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one) => [name, one] as const));
  return {
    ...request,
    headers: withHeaders(request.headers, headers),
    query: [...keptQuery, ...added],
    ...(body && { body: merged(request.body ?? {}, body) }),
  };
}

/** Headers replace those of the same name in any letter case: a server that is sent both reads either one. */
export function withHeaders(headers: OpenRequest['headers'], more: OpenRequest['headers']): Record<string, string> {
  const replaced = new Set(Object.keys(more).map((name) => name.toLowerCase()));
  const kept = Object.entries(headers).filter(([name]) => !replaced.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...more };
}

/**
 * Objects are merged key by key, so that credentials inside an object keep the connector's keys beside them. The key `*` stands for every
 * key of the body: each message of a partner may have its own root element.
 */
function merged(body: Readonly<Record<string, Json>>, added: Readonly<Record<string, Json>>): Record<string, Json> {
  const result: Record<string, Json> = { ...body };
  const named = Object.entries(added).flatMap(([key, value]) =>
    key === '*' ? Object.keys(body).map((each) => [each, value] as const) : [[key, value] as const],
  );
  for (const [key, value] of named) {
    const inner = Object.hasOwn(body, key) ? body[key] : undefined;
    if (isObject(value)) result[key] = merged(isObject(inner) ? inner : {}, value);
    else result[key] = value;
  }
  return result;
}

/** An object with the value at the path. */
export const nested = (keys: readonly string[], value: Json): JsonObject =>
  keys.reduceRight((inner, key) => ({ [key]: inner }), value) as JsonObject;

/** Sets one value, replacing any value already there. */
function place(request: OpenRequest, { place: where, value }: Placement): OpenRequest {
  const dot = where.indexOf('.');
  const name = where.slice(dot + 1);
  switch (where.slice(0, dot)) {
    case 'query':
      return withParts(request, { query: { [name]: value === undefined ? [] : String(value) } });
    case 'header':
      return withParts(request, { headers: { [name]: String(value) } });
    default:
      return withParts(request, { body: nested(name.split('.'), value ?? null) });
  }
}

/** Spaces become %20, not +: every server reads %20 the same way, so signatures agree. */
export function toWire(request: OpenRequest): WireRequest {
  const pairs = request.query.map(([name, value]) => `${urlPart(name)}=${urlPart(value)}`);
  const joint = request.base.includes('?') ? '&' : '?';
  const url = new URL(pairs.length === 0 ? request.base : `${request.base}${joint}${pairs.join('&')}`);
  url.hash = '';
  const type = request.encoding === 'form' ? formType : 'application/json';
  const ours = { accept: 'application/json', ...(request.body && { 'content-type': type }) };
  const headers = withHeaders(ours, request.headers);
  const wire = { method: request.method, url: url.href, pathQuery: pathQuery(url), headers };
  if (request.body === undefined) return wire;
  return {
    ...wire,
    body: request.encoding === 'form' ? formText(request.body) : JSON.stringify(request.body),
  };
}

const formType = 'application/x-www-form-urlencoded';

/** A list is a repeated field; an object is its JSON text. */
function formText(body: Readonly<Record<string, Json>>): string {
  const pairs = Object.entries(body).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, plainText(one)] as const),
  );
  return pairs.map(([name, value]) => `${urlPart(name)}=${urlPart(value)}`).join('&');
}

const pathQuery = (url: URL) => url.pathname + url.search;

/** Values by placeholder. An absent, null or empty value removes the parameter that uses it. */
export type Values = Readonly<Record<string, Json | undefined>>;

/** A name, and for a date the notation to write it in. */
const placeholder = /\{([A-Za-z_][\w.]*(?::[^{}]+)?)\}/g;
const alone = /^\{([A-Za-z_][\w.]*(?::[^{}]+)?)\}$/;

/**
 * Fills in a template's placeholders. A text that is a single placeholder becomes the value with its type: a list stays a list,
 * a number a number. Keys and items whose placeholder has no value are removed, and so are objects and lists left empty by that.
 */
export function fill(template: Json, values: Values): Json | undefined {
  if (typeof template === 'string') return fillText(template, values);
  if (Array.isArray(template)) {
    const items = template.flatMap((item) => {
      const made = fill(item, values);
      if (made === undefined) return [];
      // A list inside a list is spliced: ["{sync.status}"] is one list whatever the number of statuses.
      return typeof item === 'string' && Array.isArray(made) ? made : [made];
    });
    return items.length === 0 && template.length > 0 ? undefined : items;
  }
  if (typeof template === 'object' && template !== null) {
    const entries = Object.entries(template);
    const filled = entries.flatMap(([key, value]) => {
      const made = fill(value, values);
      return made === undefined ? [] : [[key, made] as const];
    });
    return filled.length === 0 && entries.length > 0 ? undefined : Object.fromEntries(filled);
  }
  return template;
}

function fillText(text: string, values: Values): Json | undefined {
  const single = alone.exec(text)?.[1];
  if (single !== undefined && Object.hasOwn(values, single)) {
    const value = values[single];
    return isEmpty(value) ? undefined : value;
  }
  let vanished = false;
  const filled = text.replace(placeholder, (whole, name: string) => {
    if (!Object.hasOwn(values, name)) return whole;
    const value = values[name];
    if (value === undefined || isEmpty(value)) vanished = true;
    return plainText(value);
  });
  return vanished ? undefined : filled;
}

function isEmpty(value: Json | undefined): value is undefined {
  return value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);
}

/** The value as text; a list is joined with commas. */
export function plainText(value: Json | undefined): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.map(plainText).join(',');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** As fill, for a path: each value is encoded as one segment, so that an id with a slash cannot change the path. */
export function fillPath(path: string, values: Values): string {
  return path.replace(placeholder, (whole, name: string) =>
    Object.hasOwn(values, name) ? urlPart(plainText(values[name])) : whole,
  );
}

/** Repeats each item of a list that uses {id}: [{ BookingId: "{id}" }] becomes one object for each id. */
export function repeatForIds(template: Json, ids: readonly string[]): Json {
  if (Array.isArray(template)) {
    return template.flatMap((item) =>
      usesId(item) ? ids.map((id) => fill(item, { id }) ?? null) : [repeatForIds(item, ids)],
    );
  }
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, repeatForIds(value, ids)]));
}

export function usesId(template: Json | Readonly<Record<string, Json>> | undefined): boolean {
  if (typeof template === 'string') return template.includes('{id}');
  return typeof template === 'object' && template !== null && Object.values(template).some(usesId);
}
