import { join } from 'node:path';
import { AdminPaths } from './admin.ts';
import { ReservationApi } from './api.ts';
import { guardFor } from './auth/authenticate.ts';
import { LoginServer } from './auth/login.ts';
import { OAuthServer } from './auth/oauth.ts';
import { keepBook, readBook } from './book-file.ts';
import { HotelClock } from './clock.ts';
import { FaultBox } from './faults/rule.ts';
import { ReservationFeed } from './feed.ts';
import { type GateParts, replyTo } from './gate.ts';
import type { HotelChange } from './hotel.ts';
import { LivingHotel } from './life.ts';
import { LiveLog } from './log.ts';
import type { SimulatorOptions } from './options.ts';
import { OtaApi } from './ota.ts';
import { shippedProperties } from './property.ts';
import { Pusher, type PushTarget } from './push.ts';
import { RateLimit } from './rate-limit.ts';
import type { Spelling } from './represent.ts';
import { close, listen } from './server.ts';
import { EventStream } from './stream.ts';
import { Subscriptions } from './subscriptions.ts';

export interface SimulatorStats {
  readonly reservations: number;
  readonly changes: Readonly<Record<HotelChange['event'], number>>;
  /** By status, or by the kind of cut (truncate, reset, hang). */
  readonly requests: Readonly<Record<string, number>>;
  readonly pushes: {
    readonly queued: number;
    readonly delivered: number;
    readonly retried: number;
    readonly dead: number;
  };
  readonly faults: Readonly<Record<string, number>>;
}

/** A PMS to test against: reservations, REST API, events. */
export class Simulator {
  readonly hotel: LivingHotel;
  readonly faults: FaultBox;
  readonly oauth: OAuthServer | undefined;
  readonly stream: EventStream | undefined;
  readonly log = new LiveLog();
  readonly #options: SimulatorOptions;
  readonly #clock: HotelClock;
  readonly #spelling: Spelling;
  readonly #gate: GateParts;
  #pushers: readonly Pusher[] = [];
  #heartbeat: NodeJS.Timeout | undefined;
  #dates = '';
  #book: { close(): void } | undefined;
  #close: () => Promise<void> = async () => undefined;
  baseUrl = '';

  private constructor(options: SimulatorOptions) {
    const { seed = 1, reservations = 2_000, auth = { type: 'none' } } = options;
    this.#options = options;
    this.#clock = new HotelClock(options.now ?? Date.now, options.speed ?? 1);
    this.#spelling = options.spelling ?? 'hyphen';
    this.hotel = new LivingHotel({
      seed,
      properties: options.properties ?? [shippedProperties[0]],
      reservations,
      mostReservations: options.mostReservations ?? Math.max(5_000, reservations * 5),
      untidy: options.untidy ?? 0.3,
      kept: options.bookFile === undefined ? undefined : readBook(options.bookFile),
      hotelNow: this.#clock.hotelNow,
      now: this.#clock.now,
    });
    this.hotel.onChange((change) => this.log.changed(change));
    this.faults = new FaultBox(seed, options.faults ?? []);
    this.oauth = auth.type === 'oauth2' ? new OAuthServer(auth, this.#clock.now) : undefined;
    const login = auth.type === 'login' ? new LoginServer(auth, this.#clock.now) : undefined;
    const look = { spelling: this.#spelling, detail: options.detail ?? 'full' } as const;
    this.#gate = {
      feed: new ReservationFeed(this.hotel, { ...look, maxRangeDays: options.maxRangeDays }, this.#clock.now),
      ota: new OtaApi(this.hotel),
      subscriptions: new Subscriptions((targets) => void this.pushTo(targets)),
      login,
      api: new ReservationApi(this.hotel, {
        shape: options.shape ?? 'wrapped',
        paging: options.paging ?? 'offset',
        ...look,
        dates: options.dates ?? 'iso',
        excludes: options.excludes ?? 'none',
        defaultLimit: options.defaultLimit ?? 100,
        maxLimit: options.maxLimit ?? 1_000,
        maxRangeDays: options.maxRangeDays,
      }),
      guard: guardFor(auth, { oauth: this.oauth, login }, this.#clock.now),
      oauth: this.oauth,
      limit: options.rateLimit === undefined ? undefined : new RateLimit(options.rateLimit),
      faults: this.faults,
      now: this.#clock.now,
    };
    this.stream = options.stream && new EventStream(this.hotel, options.stream, this.#gate.guard, this.#clock.now);
  }

  static async start(options: SimulatorOptions = {}): Promise<Simulator> {
    const simulator = new Simulator(options);
    const admin = new AdminPaths(simulator);
    const { server, baseUrl } = await listen(
      async (exchange, response) => {
        const own = await admin.handle(exchange, response);
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
    const sum = (pick: (pusher: Pusher) => number) => this.#pushers.reduce((total, pusher) => total + pick(pusher), 0);
    return {
      reservations: this.hotel.size,
      changes: { ...this.log.changes },
      requests: { ...this.log.requests },
      pushes: {
        queued: sum(({ sender }) => sender.stats.queued),
        delivered: sum(({ sender }) => sender.stats.delivered),
        retried: sum(({ sender }) => sender.stats.retried),
        dead: sum(({ sender }) => sender.stats.dead),
      },
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
        const detail = this.#options.detail ?? 'full';
        return Pusher.start(this.hotel, target, { spelling: this.#spelling, detail, folder, sender }, (pushed) =>
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
      this.#clock.skipDays(1);
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

export function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  return Simulator.start(options);
}
