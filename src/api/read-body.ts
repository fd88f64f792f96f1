import type { IncomingMessage, ServerResponse } from 'node:http';

export type BodyRead =
  | { readonly kind: 'body'; readonly bytes: Buffer }
  | { readonly kind: 'too_large' }
  /** The client went away. */
  | { readonly kind: 'gone' };

/** The raw body, or the news that it is over the limit, as soon as that is known: by its header, else at the chunk that is too much. */
export function readBody(request: IncomingMessage, maxBytes: number): Promise<BodyRead> {
  if (Number(request.headers['content-length'] ?? 0) > maxBytes) return Promise.resolve({ kind: 'too_large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    // What still comes after it was too much flows on and is thrown away. The listeners go with the request.
    request.on('data', (chunk: Buffer) => {
      length += chunk.length;
      if (length <= maxBytes) chunks.push(chunk);
      else resolve({ kind: 'too_large' });
    });
    // Copied even if it is one chunk: a chunk is a view into the socket's read buffer of 64 KiB and would keep it alive.
    request.on('end', () => resolve({ kind: 'body', bytes: Buffer.concat(chunks, length) }));
    request.on('close', () => resolve({ kind: 'gone' }));
  });
}

/** Of a body this small Node itself throws away the rest, and the connection goes on. */
const dumpedBytes = 1024 * 1024;
const lingerMs = 2_000;
const lingerBytes = 8 * 1024 * 1024;

/**
 * Sends an answer while the client may still be sending. Closing at once would reset the connection, and most clients would
 * see the reset and never the answer: so what comes is read and thrown away, for a while, before the connection goes.
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
