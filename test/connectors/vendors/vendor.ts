import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readXml, writeXml } from '../../../src/kit/xml.ts';
import type { Json } from '../../../src/terms.ts';
import type { Customs, Status, Stay } from './world.ts';

/**
 * A vendor as its documentation describes it, for connectors to be tested against. It is written from the documentation, never from the
 * connector, and it is strict: whatever is not documented is answered 400 and remembered as a violation.
 */
export interface Vendor extends Customs {
  readonly system: string;
  /** The path of the API, which the connector's README has in its base_url: /v2. */
  readonly base?: string;
  /** Values of the environment variables that the README names, without the system's prefix: TOKEN, CLIENT_ID, PROPERTY. */
  readonly env: Readonly<Record<string, string>>;
  /** Who may ask: undefined, or the vendor's refusal. Without it each route checks for itself. */
  authorize?(asked: Asked): Answer | undefined;
  readonly routes: readonly Route[];
  /** Routes that are not below `base`, such as the tokens of a host of its own. */
  readonly login?: readonly Route[];
  /** What it sends to an endpoint of ours. */
  readonly webhooks?: readonly Webhook[];
  /** The vendor's answer to too many requests, and how its documentation says when to come again. Some request of each run gets it. */
  readonly limited?: Answer;
  /** Its record of the booking as our canonical record should have it, where the vendor tells less than the world knows. */
  expects?(stay: Stay): Partial<Expected>;
}

export interface Webhook {
  readonly body: unknown;
  /** How it proves who it is, from the endpoint's secret and the bytes. */
  readonly headers?: (secret: string, body: Buffer) => Readonly<Record<string, string>>;
  readonly query?: (secret: string) => string;
  /** Our event and the id of its booking; undefined for one that is no concern of ours. */
  readonly means: readonly [event: string, id: string] | undefined;
}

/** The fields that must be right in every record. */
export interface Expected {
  readonly id: string;
  readonly check_in: string;
  readonly check_out: string;
  readonly status: Status;
  readonly first_name: string;
  readonly last_name: string;
  readonly email: string | undefined;
  readonly total_amount: number | undefined;
  readonly currency: string | undefined;
  readonly rooms: number;
  readonly adults: number | undefined;
}

export interface Route {
  readonly method: 'GET' | 'POST' | 'PUT';
  /** /v1/reservations/{id} */
  readonly path: string;
  /** The documented parameters. */
  readonly query?: Readonly<Record<string, Parameter>>;
  /** The documented leaves of the body, with dots between keys: search.from. A list is one leaf. */
  readonly body?: Readonly<Record<string, Parameter>>;
  readonly encoding?: 'json' | 'form' | 'xml';
  /** Headers that must have these values. */
  readonly headers?: Readonly<Record<string, string | RegExp>>;
  /** A route that needs no credentials, such as the login. */
  readonly isOpen?: boolean;
  answer(asked: Asked, book: readonly Stay[]): Answer;
}

export interface Asked {
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** The leaves of the body. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  /** The address of the API, for links. */
  readonly url: string;
  /** The query parameter or leaf of the body as text, or what applies without it. */
  text(name: string, otherwise?: string): string;
  list(name: string): string[];
  number(name: string, otherwise: number): number;
}

export interface Answer {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly json?: unknown;
  /** An answer that is not JSON. */
  readonly raw?: string;
}

export interface Parameter {
  readonly isRequired?: boolean;
  readonly isList?: boolean;
  readonly is: RegExp | readonly string[];
}

const form = (is: Parameter['is']): Parameter => ({ is });
export const text = form(/^[^{}]+$/);
export const whole = form(/^\d+$/);
export const day = form(/^\d{4}-\d\d-\d\d$/);
/** An instant in UTC, such as 2026-03-01T10:00:00Z. */
export const instant = form(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);
export const flag = form(['true', 'false']);
export const oneOf = (...values: readonly string[]): Parameter => form(values);
export const matching = (is: RegExp): Parameter => form(is);
export const required = (parameter: Parameter): Parameter => ({ ...parameter, isRequired: true });
export const listOf = (parameter: Parameter): Parameter => ({ ...parameter, isList: true });
/** A page size up to the documented maximum. */
export const upTo = (most: number): Parameter => form(Array.from({ length: most }, (_, i) => String(i + 1)));

export const ok = (json: unknown, headers: Readonly<Record<string, string>> = {}): Answer => ({ json, headers });
/** An answer in XML, written as our connectors write their requests. */
export const xml = (body: Readonly<Record<string, unknown>>): Answer => ({
  raw: writeXml(body as Record<string, Json>),
});
export const refused = (status: number, message: string): Answer => ({ status, json: { message } });

/** Tokens that are valid for a number of requests: a stand-in for their lifetime. */
export function issuedTokens(requests: number) {
  let issued = 0;
  let left = 0;
  return {
    issue: () => {
      left = requests;
      return `token-${++issued}`;
    },
    isValid: (token: string | undefined) => token === `token-${issued}` && issued > 0 && left-- > 0,
  };
}

export const basicOf = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`;

/** The token that the endpoint's address carries, where the vendor can do nothing else. */
export const tokenQuery = (secret: string): string => `token=${secret}`;

export const basicHeaders = (secret: string): Readonly<Record<string, string>> => ({
  authorization: basicOf('innbound', secret),
});

export interface RunningVendor {
  readonly url: string;
  /** What was asked against the documentation. */
  readonly violations: readonly string[];
  readonly requests: readonly string[];
  book: readonly Stay[];
  /** The request of this number (from now on) gets `limited`. */
  limitAfter(requests: number): void;
  close(): Promise<void>;
}

export async function startVendor(vendor: Vendor, book: readonly Stay[]): Promise<RunningVendor> {
  const violations: string[] = [];
  const requests: string[] = [];
  let untilLimited = Number.POSITIVE_INFINITY;
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const answer = answerTo({
      method: request.method ?? '',
      url: new URL(request.url ?? '/', running.url),
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    });
    const { status = 200, headers = {}, json, raw } = answer;
    const type = raw === undefined ? 'application/json; charset=utf-8' : 'application/xml; charset=utf-8';
    response.writeHead(status, { 'content-type': type, ...headers });
    response.end(raw ?? JSON.stringify(json ?? {}));
  });
  const violation = (message: string): Answer => {
    violations.push(message);
    return refused(400, message);
  };
  function answerTo({ method, url, headers, body }: Incoming): Answer {
    const base = vendor.base ?? '';
    const at = `${method} ${url.pathname}`;
    requests.push(`${method} ${url.pathname}${url.search}`);
    const places = [
      ...vendor.routes.map((route) => ({ route, at: base + route.path })),
      ...(vendor.login ?? []).map((route) => ({ route, at: route.path })),
    ];
    const found = places
      .map(({ route, at }) => ({ route, params: route.method === method ? paramsOf(at, url.pathname) : undefined }))
      .find(({ params }) => params !== undefined);
    if (found?.params === undefined) return violation(`${at}: no such route`);
    const { route, params } = found;
    for (const [name, wanted] of Object.entries(route.headers ?? {})) {
      const sent = String(headers[name.toLowerCase()] ?? '');
      const isRight = typeof wanted === 'string' ? sent === wanted : wanted.test(sent);
      if (!isRight) return violation(`${at}: header ${name} is "${sent}"`);
    }
    const leaves = route.body === undefined ? {} : leavesOf(body, route.encoding ?? 'json');
    if (leaves === undefined) return violation(`${at}: the body is not ${route.encoding ?? 'json'}`);
    if (route.body === undefined && body !== '') return violation(`${at}: has a body`);
    const asked = askedOf(params, url, leaves, headers, running.url + base);
    const refusal = route.isOpen === true ? undefined : vendor.authorize?.(asked);
    if (refusal !== undefined) return refusal;
    const wrong =
      wrongIn(
        route.query ?? {},
        Object.fromEntries([...url.searchParams.keys()].map((key) => [key, url.searchParams.getAll(key)])),
      ) ??
      wrongIn(
        route.body ?? {},
        Object.fromEntries(Object.entries(leaves).map(([key, value]) => [key, [value].flat().map(String)])),
      );
    if (wrong !== undefined) return violation(`${at}: ${wrong}`);
    if (vendor.limited && route.isOpen !== true && untilLimited-- === 0) return vendor.limited;
    return route.answer(asked, running.book);
  }
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const running: RunningVendor = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    violations,
    requests,
    book,
    limitAfter: (count) => {
      untilLimited = count;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
  return running;
}

interface Incoming {
  readonly method: string;
  readonly url: URL;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** {id} stands for one part of the path. */
function paramsOf(pattern: string, path: string): Record<string, string> | undefined {
  const [parts, sent] = [pattern.split('/'), path.split('/')];
  if (parts.length !== sent.length) return undefined;
  const params: Record<string, string> = {};
  for (const [i, part] of parts.entries()) {
    const value = decodeURIComponent(sent[i] ?? '');
    const name = /^\{(\w+)\}$/.exec(part)?.[1];
    if (name !== undefined) params[name] = value;
    else if (part !== value) return undefined;
  }
  return params;
}

function leavesOf(body: string, encoding: NonNullable<Route['encoding']>): Record<string, unknown> | undefined {
  if (encoding === 'form') return Object.fromEntries(new URLSearchParams(body));
  const leaves: Record<string, unknown> = {};
  const walk = (value: unknown, at: string): void => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) leaves[at] = value;
    else for (const [key, child] of Object.entries(value)) walk(child, at === '' ? key : `${at}.${key}`);
  };
  try {
    walk(encoding === 'xml' ? readXml(Buffer.from(body)) : JSON.parse(body), '');
  } catch {
    return undefined;
  }
  return leaves;
}

function wrongIn(documented: Readonly<Record<string, Parameter>>, sent: Readonly<Record<string, string[]>>) {
  for (const [name, values] of Object.entries(sent)) {
    const parameter = documented[name];
    if (parameter === undefined) return `${name} is not documented`;
    if (values.length > 1 && parameter.isList !== true) return `${name} is sent ${values.length} times`;
    for (const value of values) {
      const isRight = parameter.is instanceof RegExp ? parameter.is.test(value) : parameter.is.includes(value);
      if (!isRight) return `${name} cannot be "${value}"`;
    }
  }
  const missing = Object.entries(documented).find(([name, { isRequired }]) => isRequired && !(name in sent));
  return missing && `${missing[0]} is missing`;
}

function askedOf(
  params: Record<string, string>,
  url: URL,
  body: Record<string, unknown>,
  headers: IncomingHttpHeaders,
  base: string,
): Asked {
  const query = url.searchParams;
  const value = (name: string): string | undefined =>
    query.get(name) ?? (body[name] === undefined ? undefined : String(body[name]));
  return {
    params,
    query,
    body,
    headers,
    url: base,
    text: (name, otherwise = '') => value(name) ?? otherwise,
    list: (name) => (query.has(name) ? query.getAll(name) : [body[name] ?? []].flat().map(String)),
    number: (name, otherwise) => Number(value(name) ?? otherwise),
  };
}

/** Whether the value lies between two documented parameters, both included; one that is not sent is no bound. */
export const isBetween = (asked: Asked, value: string, from: string, to: string): boolean =>
  value >= asked.text(from) && value <= asked.text(to, '\uffff');

/** The rows of a page, numbered from 1. */
export function pageOf<Row>(rows: readonly Row[], page: number, size: number): { rows: Row[]; pages: number } {
  return { rows: rows.slice((page - 1) * size, page * size), pages: Math.ceil(rows.length / size) };
}
