import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { randomId } from '../kit/ids.ts';

/**
 * Limits for every connection, as options of the fastify instance. Node's defaults wait five minutes for a request and check
 * for late ones only twice a minute.
 */
export const serverLimits = {
  /** For a whole request, from its first byte to its last. */
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  bodyLimit: 1024 * 1024,
  http: {
    /** For the headers; also how long a new connection may stay silent. */
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
  },
  clientErrorHandler: answerBrokenRequest,
} as const;

/** Further connections are refused, so that a flood does not exhaust memory. */
const maxConnections = 10_000;

/** Limits that are not options of the constructor. */
export function holdConnections(server: Server): void {
  server.maxConnections = maxConnections;
  // A sender may half-close the connection after its request; by default Node would then close before the answer is sent.
  Object.assign(server, { httpAllowHalfOpen: true });
}

/** Requests of a connection whose responses may not be sent yet. */
const openAnswers = new WeakMap<object, { readonly request: IncomingMessage; readonly response: ServerResponse }[]>();

/** Records that a connection owes a response. Finished ones are removed here, so that no listener is needed. */
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
    HPE_HEADER_OVERFLOW: { status: 431, detail: 'The request headers are too large.' },
    HPE_CHUNK_EXTENSIONS_OVERFLOW: { status: 413, detail: 'The chunk extensions are too large.' },
  }),
);

/**
 * Answers a request that is not valid HTTP on the bare socket. Earlier requests on the same connection are answered first;
 * otherwise their sender would take this answer for theirs.
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
