import type { Claimed, LaneKey } from './ports.ts';

/**
 * The short path from a change to its destination. If this node delivers to the destination and has capacity for a call, the
 * transaction that makes the change also inserts its outbox row as leased to this node. After the commit the record is passed directly
 * to the channel, without a poll, a claim or a second read. A record without capacity is queued and claimed as usual. If the node
 * dies in between, the lease expires and another node claims the record. Numbers and alternatives: docs/adr/0006-direct-leases.md.
 */
export class DirectLeases {
  readonly #onQueued: () => void;
  #channels: Channels | undefined;

  /** `onQueued` is called after each commit that left records in the queue. */
  constructor(onQueued: () => void) {
    this.#onQueued = onQueued;
  }

  /** Connects the channels of this node; until then every change is queued. */
  connect(channels: Channels | undefined): void {
    this.#channels = channels;
  }

  /** Runs work that ends with a commit. The leased records are then passed to their channels; if the work fails, the capacity is released. */
  async during<T>(work: (leaseBatch: DirectLeaseBatch) => Promise<T>): Promise<T> {
    const leaseBatch = new DirectLeaseBatch(this.#channels?.reserveCapacity);
    try {
      const result = await work(leaseBatch);
      await leaseBatch.committed();
      if (leaseBatch.queuedLanes.length > 0) {
        // This node claims them at once; the signal is for the others.
        this.#channels?.offerQueued(leaseBatch.queuedLanes);
        this.#onQueued();
      }
      return result;
    } catch (error) {
      leaseBatch.failed();
      throw error;
    }
  }
}

/** Capacity of a channel, reserved for records about to be written. */
export interface Capacity {
  /** How many records it holds. */
  readonly count: number;
  readonly leaseMs: number;
  /** Called once, with the records that were leased; with none if the transaction was rolled back. */
  use(claims: readonly Claimed[]): Promise<void>;
  /** Called instead if it is unknown whether the transaction was committed: releases the leases that it may have made. */
  release(leased: LeasedInDoubt): void;
}

export interface LeasedInDoubt {
  readonly claims: readonly Claimed[];
  /** PostgreSQL's id of the transaction. */
  readonly transaction: string;
}

/** The channels of a node, as far as transactions need them. */
export interface Channels {
  readonly reserveCapacity: ReserveCapacity;
  readonly offerQueued: (lanes: readonly LaneKey[]) => void;
}

export type ReserveCapacity = (lane: LaneKey, wanted: number) => Capacity | undefined;

/** The direct leases of one transaction. */
export class DirectLeaseBatch {
  readonly #reserveCapacity: ReserveCapacity | undefined;
  #reserved: { readonly capacity: Capacity; leased?: LeasedInDoubt }[] = [];
  #queuedLanes: LaneKey[] = [];

  constructor(reserveCapacity?: ReserveCapacity) {
    this.#reserveCapacity = reserveCapacity;
  }

  /** Lanes with records that were queued instead of leased. */
  get queuedLanes(): readonly LaneKey[] {
    return this.#queuedLanes;
  }

  /** Called on each attempt of the transaction; a retry discards earlier leases. */
  begin(): void {
    for (const { capacity } of this.#reserved) void capacity.use([]);
    this.#reserved = [];
    this.#queuedLanes = [];
  }

  /** Reserves capacity for up to `wanted` records of the lane. The caller reports what it leased through `lease`. */
  reserve(
    lane: LaneKey,
    wanted: number,
  ): (Pick<Capacity, 'count' | 'leaseMs'> & { lease(leased: LeasedInDoubt): void }) | undefined {
    const capacity = this.#reserveCapacity?.(lane, wanted);
    if (capacity === undefined) return undefined;
    const reserved: { capacity: Capacity; leased?: LeasedInDoubt } = { capacity };
    this.#reserved.push(reserved);
    return {
      count: capacity.count,
      leaseMs: capacity.leaseMs,
      lease: (leased) => {
        reserved.leased = leased;
      },
    };
  }

  queued(lane: LaneKey): void {
    this.#queuedLanes.push(lane);
  }

  async committed(): Promise<void> {
    const reserved = this.#reserved;
    this.#reserved = [];
    await Promise.all(reserved.map(({ capacity, leased }) => capacity.use(leased?.claims ?? [])));
  }

  /** The transaction failed for good. It may still be committed, if only the answer to the commit was lost. */
  failed(): void {
    for (const { capacity, leased } of this.#reserved) {
      if (leased === undefined || leased.claims.length === 0) void capacity.use([]);
      else capacity.release(leased);
    }
    this.#reserved = [];
    this.#queuedLanes = [];
  }
}
