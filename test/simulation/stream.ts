import type { Claim, Stream, StreamStore } from '../../src/core/intake/stream/ports.ts';
import { startStreamReaders } from '../../src/core/intake/stream/readers.ts';
import type { OpenSocket } from '../../src/core/outbound/web-socket.ts';
import { strictLimits } from '../../src/kit/json.ts';
import type { IntegrationName } from '../../src/terms.ts';
import { Host } from './host.ts';
import { calm, Network } from './network.ts';
import { Dice } from './random.ts';
import { VirtualTime } from './time.ts';

/**
 * Nodes that read one stream, on virtual time and from a seed: nodes die and freeze, the store is away, connections break, events come
 * twice or late, and the partner takes a dead node's connection for another consumer until its pings are missed.
 */
const loadMs = 120_000;
const quietWithinMs = 600_000;
const leaseMs = 6_000;
const pingWithinMs = 15_000;
const overtakenMs = 40;

const envelope = {
  event: undefined,
  names: new Map(),
  others: 'ignore',
  timestamp: undefined,
  brand: { places: ['hotel'], optional: false },
  data: { id: 'id' },
} as const;
const settings = { brandId: 'LIS01', envelope, eventIdPlaces: ['id'], isThin: true } as never;
const stream: Stream = {
  id: 'stream',
  revision: '1',
  account: 'lisbon' as IntegrationName,
  brands: new Map([['LIS01', { integration: 'lisbon' as IntegrationName, settings }]]),
  brandPlaces: ['hotel'],
  eventPath: 'changed',
  offsetPath: 'offset',
  pingMs: 2_000,
  pauseMs: 1_000,
  keptMs: 7 * 86_400_000,
  isInclusive: true,
};

interface Connection {
  readonly text: (text: string) => void;
  readonly closed: (code: number) => void;
  isOpen: boolean;
  lastAtMs: number;
  heardAtMs: number;
}

interface Late {
  readonly text: string;
  overtakenBy: number;
}

interface Consumer {
  readonly connection: Connection;
  readonly late: Late[];
  next: number;
}

export interface StreamOutcome {
  /** What is wrong; empty if every promise was kept. */
  readonly violations: readonly string[];
  readonly seen: ReadonlySet<string>;
}

export class StreamWorld {
  readonly #time = new VirtualTime(Date.UTC(2026, 5, 1, 12));
  readonly #dice: Dice;
  readonly #network: Network;
  readonly #published: string[] = [];
  readonly #stored = new Set<string>();
  readonly #seen = new Set<string>();
  readonly #violations: string[] = [];
  readonly #row = { fence: 0, dueAt: 0, offset: undefined as string | undefined, at: 0, failures: 0, failure: '' };
  #hosts: Host[] = [];
  #consumer: Consumer | undefined;
  #isCalm = false;

  constructor(seed: number) {
    this.#dice = new Dice(seed);
    const [lost, slow] = [this.#dice.pick([0, 0.02]), this.#dice.pick([0, 0.05])];
    this.#network = new Network(this.#time, this.#dice, { ...calm, lost, slow, slowMs: 8_000 });
  }

  async run(): Promise<StreamOutcome> {
    for (let place = 0; place < this.#dice.whole(1, 3); place += 1) this.#start(place);
    for (let i = 0; i < 150; i += 1) this.#time.after(this.#dice.between(0, loadMs), () => this.#publish());
    for (let i = 0; i < 6; i += 1) this.#time.after(this.#dice.between(0, loadMs), () => this.#strike());
    await this.#time.until(() => false, loadMs + 20_000);
    this.#isCalm = true;
    Object.assign(this.#network.weather, calm);
    const isDone = await this.#time.until(() => this.#stored.size === this.#published.length, quietWithinMs);
    if (!isDone) this.#violations.push(`${this.#published.length - this.#stored.size} events are lost`);
    return { violations: this.#violations, seen: this.#seen };
  }

  #happens(name: string, chance: number): boolean {
    const does = !this.#isCalm && this.#dice.happens(chance);
    if (does) this.#seen.add(name);
    return does;
  }

  #start(place: number): void {
    const host = new Host(`node ${place}`, this.#time, this.#dice.whole(-2_000, 2_000));
    this.#hosts[place] = host;
    startStreamReaders({
      clock: host.clock,
      random: this.#dice.next,
      openSocket: this.#socketsOf(host),
      store: this.#storeOf(host),
      streams: async () => new Map([[stream.id, stream]]),
      opening: async (_, offset) => ({
        kind: 'ok',
        url: '',
        init: {},
        subscribe: { offset: offset ?? '' },
        endsAt: host.clock.now() + 30_000,
      }),
      jsonLimits: () => strictLimits,
      wait: (maxMs, signal) => host.clock.wait(maxMs, signal),
      stored: () => {},
      refused: () => {},
      ended: (_, { code }) => this.#seen.add(code ?? 'ended'),
      onError: () => {},
      leaseMs,
    });
  }

  #strike(): void {
    const place = this.#dice.whole(0, this.#hosts.length - 1);
    const host = this.#hosts[place] as Host;
    const kind = this.#dice.pick(['kill', 'freeze', 'store_away', 'drop'] as const);
    const forMs = this.#dice.between(500, 12_000);
    this.#seen.add(kind);
    if (kind === 'kill') {
      host.kill();
      this.#time.after(forMs, () => this.#start(place));
    } else if (kind === 'freeze') {
      host.freeze();
      this.#time.after(forMs, () => host.thaw());
    } else if (kind === 'drop') {
      if (this.#consumer) this.#close(this.#consumer.connection, 1006);
    } else {
      this.#network.weather.isStoreAway = true;
      this.#time.after(forMs, () => {
        this.#network.weather.isStoreAway = false;
      });
    }
  }

  /** As src/core/store/events/streams.ts: every write is fenced. */
  #storeOf(host: Host): StreamStore {
    const { call } = this.#network.linkOf(host);
    const row = this.#row;
    const ifHeld = (claim: Claim, change: () => void): boolean => {
      if (claim.fence !== row.fence) return false;
      change();
      return true;
    };
    return {
      claim: (_, ms) =>
        call('claim', () => {
          if (row.dueAt > this.#time.nowMs) return [];
          row.dueAt = this.#time.nowMs + ms;
          row.fence += 1;
          const { fence, offset, at, failures, failure } = row;
          return [{ id: stream.id, fence, offset, offsetAt: at, readTo: at || undefined, failures, failure }];
        }),
      extend: (claim, ms) =>
        call('extend', () =>
          ifHeld(claim, () => {
            row.dueAt = this.#time.nowMs + ms;
          }),
        ),
      store: (claim, { events, offset }) =>
        call('store', () => {
          const isHeld = ifHeld(claim, () => {
            row.offset = offset ?? row.offset;
            row.at = this.#time.nowMs;
            row.failures = 0;
          });
          if (!isHeld) {
            this.#seen.add('fenced');
            return 'fenced';
          }
          for (const { eventId } of events) this.#stored.add(eventId);
          return events.length;
        }),
      noteGap: (claim) =>
        call('gap', () => {
          this.#violations.push(`a gap was seen where there is none, at ${claim.offset}`);
        }),
      release: (claim, afterMs, failure) =>
        call('release', () => {
          ifHeld(claim, () => {
            row.fence += 1;
            row.dueAt = this.#time.nowMs + afterMs;
            row.failures = failure === undefined ? 0 : row.failures + 1;
            row.failure = failure?.code ?? '';
          });
        }),
    };
  }

  #socketsOf(host: Host): OpenSocket {
    return (_url, _protocol, events) => {
      const arrive = (run: () => void) => {
        // A connection keeps its order.
        connection.lastAtMs = Math.max(connection.lastAtMs, this.#time.nowMs + this.#network.latencyMs());
        this.#time.after(connection.lastAtMs - this.#time.nowMs, () => host.enter(run));
      };
      let isOver = false;
      const connection: Connection = {
        isOpen: true,
        lastAtMs: 0,
        heardAtMs: this.#time.nowMs,
        text: (text) => arrive(() => !isOver && events.text(text)),
        closed: (code) =>
          arrive(() => {
            if (isOver) return;
            isOver = true;
            events.closed(code, '');
          }),
      };
      arrive(events.opened);
      return {
        send: (text) => {
          this.#time.after(this.#network.latencyMs(), () => this.#receive(connection, text));
          return true;
        },
        hold: () => {},
        close: () => void this.#time.after(this.#network.latencyMs(), () => this.#close(connection, 1000)),
      };
    };
  }

  #receive(connection: Connection, text: string): void {
    if (!connection.isOpen) return;
    connection.heardAtMs = this.#time.nowMs;
    this.#time.after(pingWithinMs, () => {
      if (this.#time.nowMs - connection.heardAtMs >= pingWithinMs) this.#close(connection, 1006);
    });
    const { type, payload } = JSON.parse(text) as { type: string; payload?: { offset?: string } };
    if (type === 'connection_init') connection.text('{"type":"connection_ack"}');
    if (type === 'ping') connection.text('{"type":"pong"}');
    if (type === 'complete') this.#close(connection, 1000);
    if (type !== 'subscribe') return;
    if (this.#consumer !== undefined) this.#close(connection, 4409);
    else {
      const { offset = '' } = payload ?? {};
      this.#consumer = { connection, late: [], next: offset === '' ? 0 : this.#published.indexOf(offset) };
      this.#deliver();
    }
  }

  #close(connection: Connection, code: number): void {
    if (!connection.isOpen) return;
    connection.isOpen = false;
    if (this.#consumer?.connection === connection) this.#consumer = undefined;
    connection.closed(code);
  }

  #publish(): void {
    this.#published.push(`event-${this.#published.length + 1}`);
    this.#deliver();
  }

  #deliver(): void {
    const consumer = this.#consumer;
    if (consumer === undefined) return;
    const { connection } = consumer;
    for (; consumer.next < this.#published.length; consumer.next += 1) {
      const id = this.#published[consumer.next] as string;
      const changed = { id, offset: id, hotel: 'LIS01' };
      const text = JSON.stringify({ id: '1', type: 'next', payload: { data: { changed } } });
      // The event of the offset always comes first.
      const isFirst = id === this.#row.offset;
      if (!isFirst && this.#happens('overtaken', 0.1)) {
        const late = { text, overtakenBy: this.#dice.whole(1, 5) };
        consumer.late.push(late);
        this.#time.after(overtakenMs, () => this.#sendLate(consumer, (one) => one === late));
      } else {
        connection.text(text);
        for (const one of consumer.late) one.overtakenBy -= 1;
        this.#sendLate(consumer, ({ overtakenBy }) => overtakenBy <= 0);
      }
      if (this.#happens('duplicate', 0.1)) connection.text(text);
      if (this.#happens('broken', 0.01)) {
        this.#close(connection, 1006);
        return;
      }
    }
  }

  #sendLate({ connection, late }: Consumer, isDue: (one: Late) => boolean): void {
    for (const one of late.filter(isDue)) {
      late.splice(late.indexOf(one), 1);
      if (connection.isOpen) connection.text(one.text);
    }
  }
}
