import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isObject, type JsonObject, parseJson } from '../json.ts';

/** One complete request. */
export interface Exchange {
  readonly method: string;
  readonly path: string;
  /** Path and query exactly as received, for signatures. */
  readonly pathQuery: string;
  readonly query: URLSearchParams;
  readonly headers: Readonly<Record<string, string | undefined>>;
  /** As received. */
  readonly body: Buffer;
  readonly bodyText: string;
  /** scheme://host as the caller sees it. */
  readonly origin: string;
}

/** One response as a value, so that a fault can change it before it is sent. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const jsonType = { 'content-type': 'application/json; charset=utf-8' };

export function json(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): Answer {
  return { status, headers: { ...jsonType, ...headers }, body: JSON.stringify(body) };
}

export function problem(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return json(status, { error: { code, message } }, headers);
}

/** The body as a JSON object; undefined if it is not one. */
export function bodyObject(text: string): JsonObject | undefined {
  const parsed = parseJson(text);
  return isObject(parsed) ? parsed : undefined;
}

/** What goes wrong on the wire. */
export interface WireTwist {
  readonly delayMs?: number;
  /** truncate: half the body with the full Content-Length; reset: nothing at all; hang: headers, then silence. */
  readonly cut?: 'truncate' | 'reset' | 'hang';
}

export interface Reply {
  readonly answer: Answer;
  readonly wire?: WireTwist;
}

type Handler = (exchange: Exchange) => Promise<Reply>;

const mostBodyBytes = 1_048_576;

/** Plain node:http, because frameworks cannot send half a body or drop a connection on purpose. */
export async function listen(
  handler: Handler,
  host: string,
  port: number,
): Promise<{ readonly server: Server; readonly baseUrl: string }> {
  const server = createServer({ requestTimeout: 30_000 }, (request, response) => {
    response.on('error', () => undefined);
    void serve(handler, request, response).catch((error: unknown) => {
      // A caller who hangs up before the end is not a fault.
      if (request.complete) console.error(error);
      response.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  return { server, baseUrl: `http://${host.includes(':') ? `[${host}]` : host}:${bound}` };
}

async function serve(handler: Handler, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const body = await readBody(request);
  if (body === undefined) {
    response
      .writeHead(413, { 'content-type': 'application/json', connection: 'close' })
      .end('{"error":{"code":"body_too_large"}}');
    return;
  }
  const pathQuery = request.url ?? '/';
  const host = request.headers.host ?? 'localhost';
  const wanted = `http://localhost${pathQuery.startsWith('/') ? pathQuery : '/'}`;
  const url = new URL(URL.canParse(wanted) ? wanted : 'http://localhost/');
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, Array.isArray(value) ? value.join(', ') : value]),
  );
  const exchange: Exchange = {
    method: request.method ?? 'GET',
    path: url.pathname,
    pathQuery,
    query: url.searchParams,
    headers,
    body,
    bodyText: body.toString('utf8'),
    origin: `http://${host}`,
  };
  await write(response, await handler(exchange));
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function write(response: ServerResponse, { answer, wire }: Reply): Promise<void> {
  if (wire?.delayMs !== undefined && !(await waitWhileOpen(response, wire.delayMs))) return;
  if (wire?.cut === 'reset') {
    response.destroy();
    return;
  }
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  response.writeHead(answer.status, { ...answer.headers, 'content-length': body.length });
  if (wire?.cut === undefined) {
    response.end(body);
    return;
  }
  response.write(body.subarray(0, wire.cut === 'truncate' ? Math.floor(body.length / 2) : 0));
  response.flushHeaders();
  // Destroy the socket only after the first half was sent: it may drop buffered bytes.
  if (wire.cut === 'truncate') setImmediate(() => response.socket?.destroySoon());
}

/** False if the caller disconnected first. */
function waitWhileOpen(response: ServerResponse, ms: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms);
    response.once('close', () => {
      clearTimeout(timer);
      resolve(false);
    });
  });
}

/** Closes at once, including open connections and hanging responses. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
