import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Json } from '../../src/terms.ts';

export interface Received {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly body: Json;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Record<string, string>;
  readonly body?: unknown;
  /** How long the answer takes. */
  readonly afterMs?: number;
}

/** A server on a port of the system's choice that remembers what it was sent. `hang` never answers. */
export async function listen(answer: (request: Received) => Reply | 'hang' | 'cut' | Promise<Reply | 'hang' | 'cut'>) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const isJson = request.headers['content-type']?.includes('json') === true;
    const one: Received = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      text,
      body: isJson && text !== '' ? (JSON.parse(text) as Json) : null,
    };
    received.push(one);
    const reply = await answer(one);
    if (reply === 'hang') return;
    if (reply === 'cut') return void request.socket.destroy();
    if (reply.afterMs !== undefined) await new Promise((wait) => setTimeout(wait, reply.afterMs));
    response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers });
    response.end(reply.body === undefined ? '' : JSON.stringify(reply.body));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
