import { createHash } from 'node:crypto';
import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import type { Guard } from './auth/guard.ts';
import type { Hotel, HotelChange } from './hotel.ts';
import { Random } from './random.ts';

/** A stream of events over GraphQL subscriptions (graphql-transport-ws), with the rules of a large PMS. */
export interface StreamOptions {
  /** Clients connect to /subscriptions?key= with the SHA-256 of this key. */
  readonly key: string;
  readonly chain: string;
  /** Between `complete` and the next `subscribe`. Default: 5 seconds. */
  readonly pauseMs?: number;
  /** Chances per event, from 0 to 1. */
  readonly faults?: { readonly duplicate?: number; readonly reorder?: number };
}

/** How long events can be replayed. */
const keptMs = 7 * 86_400_000;
/** A client that sends no ping for this long is disconnected. */
const pingWithinMs = 15_000;
/** How long a connection may last: the life of a token. */
const lifetimeMs = 3_600_000;

interface Published {
  readonly offset: string;
  readonly at: number;
  readonly event: object;
}

interface Consumer {
  readonly socket: WebSocket;
  readonly id: string;
  /** The next of the published events to send. */
  next: number;
}

/** As the partner's documents name them. */
const names: Readonly<Record<HotelChange['event'], string>> = {
  'reservation.created': 'NEW RESERVATION',
  'reservation.updated': 'UPDATE RESERVATION',
  'reservation.cancelled': 'CANCEL',
  'guest.updated': 'UPDATE PROFILE',
};

export class EventStream {
  readonly stats = { connections: 0 };
  readonly #options: StreamOptions;
  readonly #guard: Guard;
  readonly #now: () => number;
  readonly #random = new Random('stream');
  readonly #server = new WebSocketServer({ noServer: true, handleProtocols: () => 'graphql-transport-ws' });
  readonly #published: Published[] = [];
  readonly #endHotel: () => void;
  #consumer: Consumer | undefined;
  #last = 1_000;
  /** Where a client without an offset resumes: after the last event that was sent. */
  #sentTo = 0;
  #completedAt = Number.NEGATIVE_INFINITY;

  constructor(hotel: Hotel, options: StreamOptions, guard: Guard, now: () => number) {
    this.#options = options;
    this.#guard = guard;
    this.#now = now;
    this.#endHotel = hotel.onChange((change) => this.#publish(change));
  }

  /** Whether a client is subscribed. */
  get isRead(): boolean {
    return this.#consumer !== undefined;
  }

  attach(server: Server): void {
    server.on('upgrade', (request: IncomingMessage, socket: Duplex, head: Buffer) => {
      const right = createHash('sha256').update(this.#options.key).digest('hex');
      const [path, query] = (request.url ?? '').split('?');
      if (path !== '/subscriptions' || new URLSearchParams(query).get('key') !== right) {
        socket.end('HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n');
        return;
      }
      this.#server.handleUpgrade(request, socket, head, (opened) => this.#serve(opened));
    });
  }

  /** Breaks the connection, as a network does. */
  drop(): void {
    this.#consumer?.socket.terminate();
  }

  /** Forgets events, as if they were older than `keptMs`. */
  forget(count: number): void {
    this.#published.splice(0, count);
    this.#sentTo = Math.max(0, this.#sentTo - count);
    if (this.#consumer) this.#consumer.next = Math.max(0, this.#consumer.next - count);
  }

  stop(): void {
    this.#endHotel();
    for (const socket of this.#server.clients) socket.terminate();
  }

  #publish({ event, at, propertyId, reservation, guest }: HotelChange): void {
    this.#last += 1;
    const primaryKey = event === 'guest.updated' ? guest?.guestId : reservation?.id;
    const body = {
      // An offset is a text: it need not be a number.
      metadata: { offset: `0-${this.#last}`, uniqueEventId: `event-${this.#last}` },
      moduleName: event === 'guest.updated' ? 'PROFILE' : 'RESERVATION',
      eventName: names[event],
      primaryKey,
      timestamp: new Date(at).toISOString(),
      hotelId: propertyId,
    };
    this.#published.push({ offset: body.metadata.offset, at: this.#now(), event: body });
    this.#deliver();
  }

  #serve(socket: WebSocket): void {
    this.stats.connections += 1;
    const dies = setTimeout(() => socket.close(4401, 'The token has expired'), lifetimeMs);
    let silent = setTimeout(() => socket.terminate(), pingWithinMs);
    let isKnown = false;
    socket.on('close', () => {
      clearTimeout(dies);
      clearTimeout(silent);
      if (this.#consumer?.socket === socket) this.#consumer = undefined;
    });
    socket.on('error', () => {});
    socket.on('message', (data) => {
      const message = JSON.parse(String(data)) as { type: string; id?: string; payload?: Record<string, unknown> };
      clearTimeout(silent);
      silent = setTimeout(() => socket.terminate(), pingWithinMs);
      switch (message.type) {
        case 'connection_init': {
          const denied = this.#denied(message.payload ?? {});
          if (denied !== undefined) return socket.close(4401, denied);
          isKnown = true;
          return socket.send('{"type":"connection_ack"}');
        }
        case 'ping':
          return socket.send('{"type":"pong"}');
        case 'subscribe':
          if (!isKnown) return socket.close(4401, 'Unauthorized');
          return this.#subscribe(socket, message.id ?? '', String(message.payload?.query ?? ''));
        case 'complete':
          this.#completedAt = this.#now();
          if (this.#consumer?.socket === socket) this.#consumer = undefined;
          return socket.close(1000);
        default:
          return undefined;
      }
    });
  }

  #denied(init: Record<string, unknown>): string | undefined {
    const authorization = String(init.Authorization ?? init.authorization ?? '');
    const query = new URLSearchParams();
    return this.#guard({ method: 'GET', pathQuery: '/', query, bodyText: '', headers: { authorization } });
  }

  #subscribe(socket: WebSocket, id: string, query: string): unknown {
    const field = /\{\s*(\w+)/.exec(query)?.[1] ?? '';
    if (field !== 'newEvent') {
      const message = `Cannot query field "${field}" on type "Subscription".`;
      return socket.send(JSON.stringify({ id, type: 'error', payload: [{ message }] }));
    }
    const inline = (name: string) => new RegExp(`\\b${name}:\\s*"([^"]*)"`).exec(query)?.[1];
    if (inline('chainCode') !== this.#options.chain) return socket.close(4403, 'Forbidden');
    const tooSoon = this.#now() - this.#completedAt < (this.#options.pauseMs ?? 5_000);
    if (this.#consumer !== undefined || tooSoon) return socket.close(4409, 'Too many consumers');
    const gone = this.#published.findIndex(({ at }) => at > this.#now() - keptMs);
    this.forget(gone === -1 ? this.#published.length : gone);
    const offset = inline('offset');
    const asked = this.#published.findIndex((one) => one.offset === offset);
    // The event of the offset itself, or all that are kept if it is too old.
    const next = offset === undefined ? this.#sentTo : Math.max(0, asked);
    this.#consumer = { socket, id, next };
    return this.#deliver();
  }

  #deliver(): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    const { duplicate = 0, reorder = 0 } = this.#options.faults ?? {};
    for (const { event } of this.#published.slice(consumer.next)) {
      const text = JSON.stringify({ id: consumer.id, type: 'next', payload: { data: { newEvent: event } } });
      consumer.next += 1;
      this.#sentTo = consumer.next;
      // Overtaken by the events of the next moment.
      if (this.#random.chance(reorder)) setTimeout(() => consumer.socket.send(text, () => {}), 20);
      else consumer.socket.send(text);
      if (this.#random.chance(duplicate)) consumer.socket.send(text);
    }
  }
}
