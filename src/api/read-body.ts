import type { IncomingMessage, ServerResponse } from 'node:http';

export type BodyRead =
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
export function answerUnread(
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
