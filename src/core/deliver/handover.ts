import type { Claimed, Deliveries, LaneKey, Room } from './ports.ts';

/** From those who queue records to the deliveries of this process, which send them at once, and to the other nodes (bench/mechanisms.md, 6). */
export class Handover {
  readonly #wakeOthers: () => void;
  #deliveries: Deliveries | undefined;

  constructor(wakeOthers: () => void = () => {}) {
    this.#wakeOthers = wakeOthers;
  }

  /** Connects the deliveries of this process; undefined when they stop. */
  connect(deliveries: Deliveries | undefined): void {
    this.#deliveries = deliveries;
  }

  room(lane: LaneKey): Room | undefined {
    return this.#deliveries?.room(lane);
  }

  /** For one transaction. */
  begin(): Outgoing {
    return new Outgoing(this);
  }

  offer(lanes: readonly LaneKey[]): void {
    if (lanes.length === 0) return;
    this.#deliveries?.offer(lanes);
    this.#wakeOthers();
  }
}

/** What one transaction queues: sent or offered after its commit, forgotten if it is rolled back. */
export class Outgoing {
  readonly #handover: Handover;
  readonly #granted = new Map<string, number>();
  readonly #waiting = new Map<string, LaneKey>();
  readonly #leased: { readonly room: Room; readonly claims: readonly Claimed[] }[] = [];

  constructor(handover: Handover) {
    this.#handover = handover;
  }

  /** How many of these new versions to lease. */
  room(lane: LaneKey, records: number): { readonly room: Room; readonly records: number } | undefined {
    const room = this.#handover.room(lane);
    if (room === undefined) return undefined;
    const granted = this.#granted.get(lane.destination) ?? 0;
    const most = Math.max(0, Math.min(records, room.most - granted));
    const whole = most - (most % room.batch);
    this.#granted.set(lane.destination, granted + whole);
    return { room, records: whole };
  }

  lease(room: Room, claims: readonly Claimed[]): void {
    if (claims.length > 0) this.#leased.push({ room, claims });
  }

  wait(lane: LaneKey): void {
    this.#waiting.set(`${lane.destination} ${lane.integration}`, lane);
  }

  /** After the commit. */
  send(): void {
    for (const { room, claims } of this.#leased) room.take(claims);
    this.#handover.offer([...this.#waiting.values()]);
  }
}
