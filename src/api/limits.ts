import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { randomId } from '../kit/ids.ts';

/**
 * What every connection to this server may take, whatever it sends: the options of the fastify instance. Without them Node
 * waits five minutes for a request and looks for late ones only twice a minute.
 */
export const serverLimits = {
  /** A whole request, from its first byte to its last. */
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  bodyLimit: 1024 * 1024,
  http: {
    /** Its head; also how long a new connection may stay silent. */
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  },
  clientErrorHandler: answerBrokenRequest,
} as const;

/** Of a flood of connections the newest are refused: the ones being served are not starved of memory. */
const maxConnections = 10_000;

/** What is no option of the constructor. */
export function holdConnections(server: Server): void {
  server.maxConnections = maxConnections;
  // A sender may end its side of the connection when all is sent; Node would end ours too, before the answer is out.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** The requests of a connection whose answers are not out yet, as far as is known. */
const openAnswers = new WeakMap<object, { readonly request: IncomingMessage; readonly response: ServerResponse }[]>();

/** Remembers that a connection owes an answer. What is out by now is forgotten on the way, so that no listener is needed. */
export function owes(request: IncomingMessage, response: ServerResponse): void {
  const open = openAnswers.get(request.socket)?.filter((one) => !one.response.writableFinished) ?? [];
  open.push({ request, response });
  openAnswers.set(request.socket, open);
}

const byCode: ReadonlyMap<string, { status: number; detail: string }> = new Map<
  string,
  { status: number; detail: string }
>(
  Object.entries({
    ERR_HTTP_REQUEST_TIMEOUT: { status: 408, detail: 'The request was not complete in time.' },
    HPE_HEADER_OVERFLOW: { status: 431, detail: 'The head of the request is too large.' },
    HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions are too large.' },
  }),
);

/**
 * A request that is no HTTP has no handler: it is answered on the bare socket. Requests that came before it on the same
 * connection are answered first, else their sender would take this answer for theirs.
 */
async function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): Promise<void> {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const open = openAnswers.get(socket) ?? [];
  const owed = open.filter(({ request, response }) => request.complete && !response.writableFinished);
  await Promise.all(owed.map(({ response }) => new Promise((done) => response.once('close', done))));
  if (!socket.writable) return;
  const { status, detail } = byCode.get(error.code ?? '') ?? { status: 400, detail: 'The request is not valid HTTP.' };
  const body = JSON.stringify({
    type: 'urn:innbound:error:push.bad_request',
    title: STATUS_CODES[status],
    status,
    detail,
    code: 'push.bad_request',
    request_id: randomId('req'),
  });
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Type: application/problem+json\r\n` +
      `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    () => socket.destroy(),
  );
}
