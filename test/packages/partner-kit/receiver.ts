import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { sign } from '../../../packages/sender/src/index.ts';

export interface Received {
  readonly body: string;
  readonly json: {
    readonly event: string;
    readonly event_id: string;
    readonly timestamp: string;
    readonly brand_id: string;
    readonly data: Record<string, unknown>;
  };
  readonly headers: IncomingHttpHeaders;
  readonly signed: boolean;
}

/** A webhook endpoint that records requests, verifies signatures, and answers as configured. */
export async function startReceiver(
  secret: string,
  answer: (received: Received, count: number) => { status: number; headers?: Record<string, string> } = () => ({
    status: 202,
  }),
) {
  const received: Received[] = [];
  const waiting = new Set<() => void>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const signed =
        sign(secret, Number(request.headers['x-webhook-timestamp']), body) === request.headers['x-webhook-signature'];
      const one: Received = { body, json: JSON.parse(body), headers: request.headers, signed };
      received.push(one);
      const { status, headers = {} } = answer(one, received.length);
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(JSON.stringify({ status: 'accepted', event_id: one.json.event_id }));
      for (const wake of waiting) wake();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/webhooks/test`,
    received,
    /** Resolves when the condition holds after a request. */
    until: (holds: (received: readonly Received[]) => boolean) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          if (!holds(received)) return;
          waiting.delete(wake);
          resolve();
        };
        waiting.add(wake);
        wake();
      }),
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
