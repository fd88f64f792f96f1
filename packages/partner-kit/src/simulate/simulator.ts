import { join } from 'node:path';
import type { SenderStats } from '../../../sender/src/index.ts';
import { AdminPaths } from './admin.ts';
import { ReservationApi } from './api.ts';
import { guardFor, loginServer, type TokenServer } from './auth/guard.ts';
import { OAuthServer } from './auth/oauth.ts';
import { close, listen } from './exchange.ts';
import { FaultBox } from './faults/rule.ts';
import { ReservationFeed, subscriptions } from './further-calls.ts';
import { type GateParts, rateLimit, replyTo } from './gate.ts';
import type { HotelChange } from './hotel.ts';
import { hotelClock, keepBook, LivingHotel, readBook } from './life.ts';
import { LiveLog } from './log.ts';
import type { SimulatorOptions } from './options.ts';
import { shippedProperties } from './property.ts';
import { type Pusher, type PushTarget, startPusher } from './push.ts';
import { EventStream } from './stream.ts';

export interface SimulatorStats {
  readonly reservations: number;
  readonly changes: Readonly<Record<HotelChange['event'], number>>;
  /** By status, or by the kind of cut (truncate, reset, hang). */
  readonly requests: Readonly<Record<string, number>>;
  readonly pushes: SenderStats;
  readonly faults: Readonly<Record<string, number>>;
}

const usual = {
  seed: 1,
  reservations: 2_000,
  properties: [shippedProperties[0]],
  untidy: 0.3,
  shape: 'wrapped',
  paging: 'offset',
  spelling: 'hyphen',
  detail: 'full',
  dates: 'iso',
  excludes: 'none',
  auth: { type: 'none' },
  maxLimit: 1_000,
} as const satisfies SimulatorOptions;

/** A PMS to test against: reservations, REST API, events. */
export class Simulator {
  readonly hotel: LivingHotel;
  readonly faults: FaultBox;
  readonly tokens: TokenServer | undefined;
  readonly stream: EventStream | undefined;
  readonly log = new LiveLog();
  readonly #options: SimulatorOptions & Required<Pick<SimulatorOptions, keyof typeof usual>>;
  readonly #clock: ReturnType<typeof hotelClock>;
  readonly #gate: GateParts;
  #pushers: readonly Pusher[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #dates = '';
  #book: { close(): void } | undefined;
  #close: () => Promise<void> = async () => undefined;
  baseUrl = '';

  private constructor(options: SimulatorOptions) {
    const settings = { ...usual, ...options };
    const { auth } = settings;
    this.#options = settings;
    this.#clock = hotelClock(options.now ?? Date.now, options.speed ?? 1);
    const { now, hotelNow } = this.#clock;
    this.hotel = new LivingHotel({
      ...settings,
      kept: options.bookFile === undefined ? undefined : readBook(options.bookFile),
      hotelNow,
      now,
    });
    this.hotel.onChange((change) => this.log.changed(change));
    this.faults = new FaultBox(settings.seed, options.faults ?? []);
    if (auth.type === 'oauth2') this.tokens = new OAuthServer(auth, now);
    if (auth.type === 'login') this.tokens = loginServer(auth, now);
    this.#gate = {
      api: new ReservationApi(this.hotel, settings),
      further: [new ReservationFeed(this.hotel, settings, now), subscriptions((targets) => void this.pushTo(targets))],
      guard: guardFor(auth, this.tokens, now),
      tokens: this.tokens,
      takeSlot: options.rateLimit && rateLimit(options.rateLimit),
      faults: this.faults,
      now,
    };
    this.stream = options.stream && new EventStream(this.hotel, options.stream, this.#gate.guard, now);
  }

  static async start(options: SimulatorOptions = {}): Promise<Simulator> {
    const simulator = new Simulator(options);
    const admin = new AdminPaths(simulator);
    const { server, baseUrl } = await listen(
      async (exchange) => {
        const own = await admin.handle(exchange);
        if (own !== undefined) return own;
        const reply = replyTo(simulator.#gate, exchange);
        simulator.log.requested(
          exchange.method,
          exchange.path,
          reply.wire?.cut ?? reply.answer.status,
          simulator.#clock.now(),
        );
        return reply;
      },
      options.host ?? '127.0.0.1',
      options.port ?? 0,
    );
    simulator.stream?.attach(server);
    simulator.baseUrl = baseUrl;
    simulator.#close = () => close(server);
    try {
      if (options.push !== undefined) await simulator.pushTo(options.push);
    } catch (error) {
      await simulator.stop();
      throw error;
    }
    if (options.bookFile !== undefined) simulator.#book = keepBook(simulator.hotel, options.bookFile);
    if (options.changeEveryMs !== undefined && options.changeEveryMs > 0) simulator.#live(options.changeEveryMs);
    return simulator;
  }

  get pushers(): readonly Pusher[] {
    return this.#pushers;
  }

  get stats(): SimulatorStats {
    const pushes = { queued: 0, delivered: 0, retried: 0, dead: 0 };
    for (const { sender } of this.#pushers)
      for (const name of Object.keys(pushes) as (keyof typeof pushes)[]) pushes[name] += sender.stats[name];
    return {
      reservations: this.hotel.size,
      changes: { ...this.log.changes },
      requests: { ...this.log.requests },
      pushes,
      faults: Object.fromEntries(this.faults.struck),
    };
  }

  /** Closes the current senders and sends every further change to these targets. */
  async pushTo(targets: PushTarget | readonly PushTarget[]): Promise<void> {
    const { pushFolder, sender } = this.#options;
    await Promise.all(this.#pushers.map((pusher) => pusher.stop()));
    this.#pushers = [];
    this.#pushers = await Promise.all(
      [targets].flat().map((target: PushTarget, index) => {
        const folder = pushFolder === undefined ? undefined : join(pushFolder, String(index));
        return startPusher(this.hotel, target, { ...this.#options, folder, sender }, (pushed) =>
          this.log.pushed(pushed, this.#clock.now()),
        );
      }),
    );
  }

  /** Waits until every event is accepted or dead. */
  async pushed(): Promise<void> {
    await Promise.all(this.#pushers.map(({ sender }) => sender.drain()));
  }

  /** Moves the calendar forward, with a night audit for each day. */
  passDays(days: number): HotelChange[] {
    const happened: HotelChange[] = [];
    for (let day = 0; day < days; day += 1) {
      this.#clock.skipDay();
      happened.push(...this.hotel.audit());
    }
    return happened;
  }

  async stop(): Promise<void> {
    clearTimeout(this.#heartbeat);
    this.#heartbeat = undefined;
    this.#book?.close();
    this.#book = undefined;
    await Promise.all(this.#pushers.map((pusher) => pusher.stop()));
    this.stream?.stop();
    await this.#close();
  }

  /** Makes spontaneous changes; the first one of a new day starts with the night audit. */
  #live(everyMs: number): void {
    const waitMs = everyMs * (0.5 + Math.random());
    this.#heartbeat = setTimeout(() => {
      const dates = this.hotel.properties.map(({ id }) => this.hotel.today(id)).join();
      if (this.#dates !== '' && this.#dates !== dates) this.hotel.audit();
      this.#dates = dates;
      this.hotel.advance(1);
      this.#live(everyMs);
    }, waitMs);
  }
}

export const startSimulator = Simulator.start;
