import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Refused, WebhookAnswer } from '../../core/intake/push/answer.ts';
import * as answer from '../../core/intake/push/answer.ts';
import type { PushIntake } from '../../core/intake/push/intake.ts';
import type { Origin } from '../../core/intake/push/ports.ts';
import type { Arrived } from '../../core/intake/push/receive.ts';
import type { Sandbox } from '../../core/intake/push/sandbox.ts';
import type { Clock } from '../../kit/clock.ts';
import { registerSandboxReports, sandboxBody } from './sandbox.ts';
import { expectsResponse } from './server.ts';

interface WebhookPorts {
  readonly clock: Clock;
  readonly intake: PushIntake;
  readonly sandbox: Sandbox;
  readonly maxBodyBytes: () => number;
  /** The address that partners reach, if it is configured. */
  readonly publicUrl?: () => string | undefined;
}

export interface Webhooks {
  /** New requests get 503 from now on; resolves when every earlier request has its response. */
  drain(): Promise<void>;
}

/** One request and its response. */
interface WebhookCall {
  readonly endpointId: string;
  readonly requestId: string;
  readonly address: string;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

/**
 * `POST /webhooks/{endpoint_id}`. The response is hijacked before the body is read: the signature covers the raw bytes, and a
 * refusal may be sent before, during or after the body.
 *
 * Rejected: serving these requests before the framework's routing. It saved 7 of 195 µs of CPU per request (median of 9
 * interleaved pairs, client included, 2 arm64 cores) and needed a second way in.
 */
export function registerWebhooks(app: FastifyInstance, ports: WebhookPorts): Webhooks {
  let inFlight = 0;
  let draining: PromiseWithResolvers<void> | undefined;

  const take = (exchange: WebhookCall): void => {
    inFlight += 1;
    void serve(ports, exchange, draining !== undefined)
      .catch(() => exchange.request.socket.destroy())
      .finally(() => {
        inFlight -= 1;
        if (inFlight === 0) draining?.resolve();
      });
  };

  app.route({
    method: 'POST',
    url: '/webhooks/:endpointId',
    logLevel: 'silent',
    onRequest: (request, reply, _next) => take(takeOver(request, reply)),
    handler: () => undefined,
  });

  app.route({
    method: ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'],
    url: '/webhooks/:endpointId',
    logLevel: 'silent',
    onRequest: (request, reply, _next) => {
      const exchange = takeOver(request, reply);
      if (request.method === 'GET' && isSandboxId(exchange.endpointId)) {
        reply.raw.writeHead(303, { location: `/webhooks/${encodeURIComponent(exchange.endpointId)}/reports` }).end();
        return;
      }
      refuse(ports, exchange, ports.intake.guard(exchange.address) ?? answer.wrongMethod(), { allow: 'POST' });
    },
    handler: () => undefined,
  });

  registerSandboxReports(app, ports.sandbox, ports.intake.guard);

  return {
    async drain() {
      draining ??= Promise.withResolvers();
      if (inFlight > 0) await draining.promise;
    },
  };
}

function takeOver(request: FastifyRequest, reply: FastifyReply): WebhookCall {
  reply.hijack();
  expectsResponse(request.raw, reply.raw);
  const { endpointId } = request.params as { endpointId: string };
  return { endpointId, requestId: request.id, address: request.ip, request: request.raw, response: reply.raw };
}

/** The sandbox also reports on bodies that the live endpoint would refuse as too large, up to this size. */
const sandboxBodyBytes = 4 * 1024 * 1024;

async function serve(ports: WebhookPorts, exchange: WebhookCall, draining: boolean): Promise<void> {
  const { endpointId, request } = exchange;
  if (draining) return refuse(ports, exchange, answer.unavailable('draining', 5), { connection: 'close' });
  const inSandbox = isSandboxId(endpointId);
  const guarded = ports.intake.guard(exchange.address);
  if (guarded) return refuse(ports, exchange, guarded);
  const wrong = wrongHead(request.headers);
  if (wrong && !inSandbox) return refuse(ports, exchange, wrong);
  const maxBytes = ports.maxBodyBytes();
  const readLimit = inSandbox ? Math.max(maxBytes, sandboxBodyBytes) : maxBytes;
  const read = await readBody(request, readLimit);
  if (read.kind === 'gone') return;
  if (read.kind === 'too_large') return refuse(ports, exchange, answer.tooLarge(readLimit));
  const { headers } = request;
  const query = queryOf(request.url ?? '');
  const url = `${ports.publicUrl?.()?.replace(/\/$/, '') ?? `http://${headers.host}`}${request.url}`;
  const arrived = { endpointId, headers, query, url, rawBody: read.bytes, receivedAt: ports.clock.now() };
  if (inSandbox) {
    const tooLarge = read.bytes.length > maxBytes ? answer.tooLarge(maxBytes) : undefined;
    return examine(ports, exchange, arrived, wrong ?? tooLarge);
  }
  const received = await ports.intake.receive(arrived, exchange.address, () => originOf(exchange, read.bytes.length));
  const { rehearsal, endpoint } = received;
  if (rehearsal === undefined || endpoint === undefined) return send(exchange, received.answer);
  const rehearsed = await ports.sandbox
    .rehearse(arrived, endpoint)
    .catch(() => answer.unavailable('store_unreachable', 5));
  send(exchange, rehearsed);
}

async function examine(ports: WebhookPorts, exchange: WebhookCall, arrived: Arrived, wrong: Refused | undefined) {
  const report = await ports.sandbox.examine(arrived, wrong).catch(() => answer.unavailable('store_unreachable', 5));
  if ('status' in report) return refuse(ports, exchange, report);
  const body = sandboxBody(exchange.endpointId, report);
  const headers = {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
    'cache-control': 'no-store',
  };
  answerUnread(exchange.request, exchange.response, 200, headers, body);
}

/** XML is for the senders that agreed on it, which the endpoint knows. */
const bodyType = /^(?:application\/json|(?:application|text)\/(?:soap\+)?xml)[ \t]*(?:;|$)/i;
const charset = /;[ \t]*charset[ \t]*=[ \t]*"?([^\s";]*)"?/i;

/** A refusal that the headers alone cause. */
function wrongHead(headers: IncomingMessage['headers']): Refused | undefined {
  const type = headers['content-type'] ?? '';
  if (!bodyType.test(type)) return answer.wrongMediaType('content_type');
  const named = type.length > 16 ? charset.exec(type)?.[1]?.toLowerCase() : undefined;
  if (named !== undefined && named !== 'utf-8' && named !== 'utf8') return answer.wrongMediaType('charset');
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') return answer.wrongMediaType('content_encoding');
  const transfer = headers['transfer-encoding'];
  if (transfer !== undefined && transfer.toLowerCase() !== 'chunked') return answer.wrongMediaType('transfer_encoding');
  return undefined;
}

function refuse(
  ports: WebhookPorts,
  exchange: WebhookCall,
  refusal: Refused,
  headers: Record<string, string> = {},
): void {
  const declared = Number(exchange.request.headers['content-length'] ?? 0);
  ports.intake.refused(refusal, originOf(exchange, Number.isSafeInteger(declared) ? declared : 0));
  send(exchange, refusal, headers);
}

function send(exchange: WebhookCall, decided: WebhookAnswer, more: Record<string, string> = {}): void {
  const { type, body } = answer.answerBody(decided, exchange.requestId);
  const headers: Record<string, string | number> = {
    'content-type': type,
    'content-length': Buffer.byteLength(body),
    ...more,
  };
  if ('code' in decided) {
    headers['cache-control'] = 'no-store';
    headers['x-request-id'] = exchange.requestId;
    if (decided.retryAfterS !== undefined) headers['retry-after'] = decided.retryAfterS;
  }
  answerUnread(exchange.request, exchange.response, decided.status, headers, body);
}

const maxHeaderNames = 50;

function originOf(exchange: WebhookCall, bodyBytes: number): Origin {
  const { requestId, address, endpointId, request } = exchange;
  return {
    requestId,
    address,
    // Part of a foreign URL that is stored and displayed.
    endpointId: endpointId.slice(0, 64).replace(/[^\w-]/g, '?'),
    headerNames: Object.keys(request.headers).slice(0, maxHeaderNames),
    bodyBytes: Math.min(bodyBytes, 2 ** 31 - 1),
  };
}

function queryOf(url: string): string {
  const at = url.indexOf('?');
  return at === -1 ? '' : url.slice(at + 1);
}

type BodyRead =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The client disconnected. */
  | { readonly kind: 'gone' };

/** Reads the raw body. A body over the limit is reported as soon as its header or its chunks show it. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyRead> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    // Chunks past the limit are discarded. The listeners are released with the request.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else resolve({ kind: 'too_large' });
    });
    // Copied even for one chunk: a chunk is a view of the socket's 64 KiB read buffer and would keep it alive.
    request.on('end', () => resolve({ kind: 'body', bytes: Buffer.concat(chunks, length) }));
    request.on('close', () => resolve({ kind: 'gone' }));
  });
}

/** Node itself discards the rest of a body of up to this size and keeps the connection. */
const dumpedBytes = 1024 * 1024;
const lingerMs = 2_000;
const lingerBytes = 8 * 1024 * 1024;

/**
 * Sends a response while the client may still be sending. Closing at once would reset the connection, and most clients would
 * see the reset instead of the response. So the rest is read and discarded for a while before the connection is closed.
 */
function answerUnread(
  request: IncomingMessage,
  response: ServerResponse,
  status: number,
  headers: Record<string, string | number>,
  body: string,
): void {
  const declared = Number(request.headers['content-length'] ?? Number.NaN);
  if (request.complete || (declared <= dumpedBytes && headers.connection !== 'close')) {
    response.writeHead(status, headers).end(body);
    return;
  }
  let discarded = 0;
  const end = () => {
    clearTimeout(timer);
    request.off('data', onData).off('end', end).off('close', end).off('error', end);
    if (!response.writableEnded) response.end();
    if (!request.complete) request.socket.destroySoon();
  };
  const onData = (chunk: Buffer) => {
    discarded += chunk.length;
    if (discarded > lingerBytes) end();
  };
  const timer = setTimeout(end, lingerMs);
  response.writeHead(status, { ...headers, connection: 'close' });
  response.write(body);
  request.on('data', onData).on('end', end).on('close', end).on('error', end);
}

/** Sandbox endpoint ids have this prefix; only the store knows whether one exists. */
function isSandboxId(endpointId: string): boolean {
  return endpointId.startsWith('sbx_');
}
