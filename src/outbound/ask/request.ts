import type { RequestTemplate } from '../../documents/pull.ts';
import { isObject, type Json } from '../../terms.ts';
import { fill, fillPath, plainText, type Values } from './template.ts';

/** A request before credentials are added. */
export interface OpenRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly base: string;
  /** In the order sent. */
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Readonly<Record<string, Json>>;
  readonly encoding?: 'json' | 'form';
}

/** A request as sent: exact bytes and address. */
export interface WireRequest {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly url: string;
  /** Path and query as sent; this is what an HMAC signs. */
  readonly pathQuery: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A value for one place of the request, such as query.offset. */
export interface Placement {
  readonly place: string;
  readonly value: string | number;
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
  const hasBody = template.method === 'POST';
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

/** Sets one value, replacing any value already there. */
function place(request: OpenRequest, { place: where, value }: Placement): OpenRequest {
  const dot = where.indexOf('.');
  const part = where.slice(0, dot);
  const name = where.slice(dot + 1);
  if (part === 'query') {
    return { ...request, query: [...request.query.filter(([key]) => key !== name), [name, String(value)]] };
  }
  if (part === 'header') return { ...request, headers: { ...request.headers, [name]: String(value) } };
  return { ...request, body: placeInBody(request.body ?? {}, name.split('.'), value) };
}

function placeInBody(
  body: Readonly<Record<string, Json>>,
  [key = '', ...rest]: readonly string[],
  value: string | number,
): Record<string, Json> {
  if (rest.length === 0) return { ...body, [key]: value };
  const inner = Object.hasOwn(body, key) ? body[key] : undefined;
  const object = isObject(inner) ? inner : {};
  return { ...body, [key]: placeInBody(object, rest, value) };
}

/** Spaces become %20, not +: every server reads %20 the same way, so signatures agree. */
export function toWire(request: OpenRequest): WireRequest {
  const pairs = request.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`);
  const joint = request.base.includes('?') ? '&' : '?';
  const url = new URL(pairs.length === 0 ? request.base : `${request.base}${joint}${pairs.join('&')}`);
  url.hash = '';
  const headers: Record<string, string> = { accept: 'application/json', ...request.headers };
  if (request.body === undefined) return { method: request.method, url: url.href, pathQuery: pathQuery(url), headers };
  return {
    method: request.method,
    url: url.href,
    pathQuery: pathQuery(url),
    headers: { 'content-type': request.encoding === 'form' ? formType : 'application/json', ...headers },
    body: request.encoding === 'form' ? formText(request.body) : JSON.stringify(request.body),
  };
}

const formType = 'application/x-www-form-urlencoded';

/** A list is a repeated field; an object is its JSON text. */
function formText(body: Readonly<Record<string, Json>>): string {
  const pairs = Object.entries(body).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value]).map((one) => [name, plainText(one)] as const),
  );
  return pairs.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&');
}

const pathQuery = (url: URL) => url.pathname + url.search;

/** Whether a path segment is "." or "..", in any spelling: every URL parser resolves it, encoded or not, to another path. */
export function changesPath({ base }: Pick<OpenRequest, 'base'>): boolean {
  const path = base.replace(/^[a-z]+:\/\/[^/]*/i, '').replace(/[?#].*$/s, '');
  return path.split(/[/\\]/).some((segment) => /^(?:\.|%2e){1,2}$/i.test(segment));
}
