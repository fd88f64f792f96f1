import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A partner's API that does what a script says. */
export interface ScriptedPartner {
  readonly url: string;
  readonly requests: readonly Asked[];
  close(): Promise<void>;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly pathQuery: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  /** From 1. */
  readonly no: number;
}

export type Reply =
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly json: unknown }
  | { readonly status?: number; readonly headers?: Record<string, string>; readonly raw: string | Uint8Array }
  /** Close the connection without an answer. */
  | 'cut'
  /** Never answer. */
  | 'hang';

export async function startPartner(script: (asked: Asked) => Reply | Promise<Reply>): Promise<ScriptedPartner> {
  const requests: Asked[] = [];
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const url = new URL(request.url ?? '/', 'http://partner');
    const asked: Asked = {
      method: request.method ?? '',
      path: url.pathname,
      pathQuery: request.url ?? '',
      query: url.searchParams,
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
      no: requests.length + 1,
    };
    requests.push(asked);
    const reply = await script(asked);
    if (reply === 'cut') return void request.socket.destroy();
    if (reply === 'hang') return;
    const isJson = 'json' in reply;
    const bytes = isJson ? JSON.stringify(reply.json) : reply.raw;
    response.writeHead(reply.status ?? 200, {
      ...(isJson && { 'content-type': 'application/json; charset=utf-8' }),
      ...reply.headers,
    });
    response.end(bytes);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export interface Booking {
  readonly id: string;
  readonly check_in: string;
  readonly check_out: string;
  readonly status: string;
  readonly [field: string]: unknown;
}

/** A book of reservations with stays from the date on, one after the other, `perDay` a day. */
export function bookings(count: number, from: string, perDay = 10): Booking[] {
  return Array.from({ length: count }, (_, i) => {
    const day = new Date(Date.parse(`${from}T00:00:00Z`) + Math.floor(i / perDay) * 86_400_000);
    const checkIn = day.toISOString().slice(0, 10);
    return {
      id: `R${String(i + 1).padStart(5, '0')}`,
      confirmation_number: `C${i + 1}`,
      check_in: checkIn,
      check_out: new Date(day.getTime() + 86_400_000).toISOString().slice(0, 10),
      status: 'confirmed',
      total_amount: 100 + i,
      currency: 'EUR',
      guests: [{ first_name: 'Ana', last_name: `Example ${i}`, email: `guest${i}@example.com` }],
      rooms: [],
      charges: [],
    };
  });
}

/** Those that arrive within the requested days, both included. */
export function arriving(book: readonly Booking[], asked: Pick<Asked, 'query'>): Booking[] {
  const from = asked.query.get('dateFrom') ?? '';
  const to = asked.query.get('dateTo') ?? '';
  return book.filter((one) => one.check_in >= from && one.check_in <= to);
}
