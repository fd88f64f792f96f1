import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from 'node:http';
import { BlockList, isIP, type Socket } from 'node:net';
import { longestId } from '../canonical/limits.ts';
import { problemType } from '../intake/push/answer.ts';
import { networkOf, plainAddress } from '../intake/push/network.ts';
import { randomId } from '../kit/ids.ts';
import { securityHeaders } from './security-headers.ts';

/**
 * Limits for every connection, as options of the fastify instance. Node's defaults wait five minutes for a request and check
 * for late ones only twice a minute.
 */
export const serverLimits = {
  /** For a whole request, from its first byte to its last. */
  requestTimeout: 14_000,
  keepAliveTimeout: 65_000,
  bodyLimit: 1024 * 1024,
  /** An id in a path: three bytes of UTF-8 per character, each percent-encoded. The default of 100 hid reservations with longer ids. */
  routerOptions: { maxParamLength: longestId * 9 },
  http: {
    /** For the headers; also how long a new connection may stay silent. */
    headersTimeout: 10_000,
    connectionsCheckingInterval: 1_000,
    maxHeaderSize: 16 * 1024,
    /** Node's own answer would have no security headers: the server refuses a request without Host. */
    requireHostHeader: false,
  },
  clientErrorHandler: (error: NodeJS.ErrnoException, socket: Socket) => void answerBrokenRequest(error, socket),
} as const;

/** Further connections are refused, so that a flood does not exhaust memory. */
const maxConnections = 10_000;

export interface ConnectionLimits {
  readonly connectionsPerAddress?: number;
  /** Addresses and ranges that are exempt, because many clients share them. */
  readonly trustedProxies?: readonly string[];
}

/** Limits that are not options of the constructor. */
export function holdConnections(server: Server, limits: ConnectionLimits = {}): void {
  const { connectionsPerAddress = 500, trustedProxies = [] } = limits;
  server.maxConnections = maxConnections;
  const exempt = rangesOf(trustedProxies);
  const open = new Map<string, number>();
  // Otherwise one address could take all connections of the node and lock out every sender.
  server.on('connection', (socket: Socket) => {
    const plain = plainAddress(socket.remoteAddress ?? '');
    if (exempt.check(plain, isIP(plain) === 6 ? 'ipv6' : 'ipv4')) return;
    const address = networkOf(plain);
    const count = (open.get(address) ?? 0) + 1;
    if (count > connectionsPerAddress) {
      socket.destroy();
      return;
    }
    open.set(address, count);
    socket.once('close', () => {
      const left = (open.get(address) ?? 1) - 1;
      if (left > 0) open.set(address, left);
      else open.delete(address);
    });
  });
  // A sender may half-close the connection after its request; by default Node would then close before the answer is sent.
  Object.assign(server, { httpAllowHalfOpen: true });
}

function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList();
  for (const range of ranges) {
    const [address = '', bits] = range.split('/');
    const type = isIP(address) === 6 ? 'ipv6' : 'ipv4';
    if (bits === undefined) list.addAddress(address, type);
    else list.addSubnet(address, Number(bits), type);
  }
  return list;
}

/** Requests of a connection whose responses may not be sent yet. */
const openAnswers = new WeakMap<object, { readonly request: IncomingMessage; readonly response: ServerResponse }[]>();

/** Records that a connection still has to get a response. Finished ones are removed here, so that no listener is needed. */
export function expectsResponse(request: IncomingMessage, response: ServerResponse): void {
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
export async function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket, secure = false): Promise<void> {
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
  const headers = {
    ...securityHeaders(secure),
    connection: 'close',
    'content-type': problemType,
    'content-length': Buffer.byteLength(body),
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy());
}
