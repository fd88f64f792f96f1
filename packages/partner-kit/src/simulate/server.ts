import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Answer, Exchange } from './exchange.ts';
import type { WireTwist } from './faults/twist.ts';

export interface Reply {
  readonly answer: Answer;
  readonly wire?: WireTwist;
}

/** A reply, or a stream that the handler writes to (the page's live list). */
export type Handler = (exchange: Exchange, response: ServerResponse) => Promise<Reply | 'streaming'>;

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
      console.error(error);
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
  const bodyText = await readBody(request);
  if (bodyText === undefined) {
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
    bodyText,
    origin: `http://${host}`,
  };
  const reply = await handler(exchange, response);
  if (reply !== 'streaming') await write(response, reply);
}

async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > mostBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
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

/** Closes at once, including open connections, hanging responses and streams. */
export async function close(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.closeAllConnections();
  await closed;
}
