import type { Claimed, LaneKey } from './ports.ts';

/**
 * The short way from a change to its destination. Where this node delivers to the destination and could start a call, the change
 * is put into the outbox as leased to this node already, and goes to the channel as soon as it is committed: nobody looks for it,
 * claims it and reads it back. What finds no room waits in line as ever, and so does, from the end of its lease, what a node left
 * behind that died in between.
 */
export class Handover {
  readonly #left: () => void;
  #findRoom: FindRoom | undefined;

  /** `left` is told after each commit that left changes in line. */
  constructor(left: () => void) {
    this.#left = left;
  }

  /** To the deliveries of this node; without any, all changes wait in line. */
  connect(findRoom: FindRoom | undefined): void {
    this.#findRoom = findRoom;
  }

  /** Runs the work, which ends with a commit; what it leased is passed on after that, and forgotten where it fails. */
  async during<T>(work: (handing: Handing) => Promise<T>): Promise<T> {
    const handing = new Handing(this.#findRoom);
    try {
      const result = await work(handing);
      await handing.committed();
      if (handing.hasLeft) this.#left();
      return result;
    } catch (error) {
      handing.begin();
      throw error;
    }
  }
}

/** Room that a channel keeps for records about to be written. */
export interface Room {
  readonly count: number;
  readonly leaseMs: number;
  /** Told once: what was leased of it, none where the transaction failed. */
  fill(claims: readonly Claimed[]): Promise<void>;
}

export type FindRoom = (lane: LaneKey, wanted: number) => Room | undefined;

/** The changes of one transaction, on their way. */
export class Handing {
  readonly #findRoom: FindRoom | undefined;
  #rooms: { readonly room: Room; claims: readonly Claimed[] }[] = [];
  #hasLeft = false;

  constructor(findRoom?: FindRoom) {
    this.#findRoom = findRoom;
  }

  /** Some changes wait in line. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Told at every beginning of the transaction: one that is run anew leases anew. */
  begin(): void {
    for (const { room } of this.#rooms) void room.fill([]);
    this.#rooms = [];
    this.#hasLeft = false;
  }

  /** Room for as many of the lane's records as it has; what is leased of it is to be told. */
  room(
    lane: LaneKey,
    wanted: number,
  ): (Pick<Room, 'count' | 'leaseMs'> & { lease(claims: readonly Claimed[]): void }) | undefined {
    const room = this.#findRoom?.(lane, wanted);
    if (room === undefined) return undefined;
    const kept: { room: Room; claims: readonly Claimed[] } = { room, claims: [] };
    this.#rooms.push(kept);
    return {
      count: room.count,
      leaseMs: room.leaseMs,
      lease: (claims) => {
        kept.claims = claims;
      },
    };
  }

  left(): void {
    this.#hasLeft = true;
  }

  async committed(): Promise<void> {
    const rooms = this.#rooms;
    this.#rooms = [];
    await Promise.all(rooms.map(({ room, claims }) => room.fill(claims)));
  }
}
