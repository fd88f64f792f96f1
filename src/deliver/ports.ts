import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Clock } from '../kit/clock.ts';
import type { ChangeEvent, DestinationName, EntityType, EpochMs, IntegrationName, JsonObject } from '../terms.ts';
import type { ToldToWait } from './busy.ts';
import type { Destination } from './destination.ts';
import type { DirectLeases } from './direct-leases.ts';
import type { Selection } from './select.ts';

/** One destination as its document says, with every setting decided. */
export interface DestinationConfig {
  readonly name: DestinationName;
  readonly type: string;
  /** Changes when the document changes: the destination is closed and opened anew. */
  readonly revision: string;
  /** Settings of the type, with references to secrets not yet resolved. */
  readonly settings: JsonObject;
  readonly selection: Selection;
  readonly scheduleMs: readonly number[];
  readonly batch: number;
  /** How long an incomplete batch waits for more; 0 sends at once. */
  readonly batchWaitMs: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly rate?: Rate;
  /** Nothing is sent while it is paused; work waits. */
  readonly paused: boolean;
}

export interface Rate {
  readonly perSecond: number;
  readonly burst: number;
}

/** What flows from one brand to one destination. */
export interface Lane {
  readonly integration: IntegrationName;
  readonly brandId: string;
  readonly destination: DestinationConfig;
}

export interface LaneKey {
  readonly integration: string;
  readonly destination: string;
}

/** One version of a record, leased to us. */
export interface Claimed {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  /** The newest version that the destination is known to have; 0 for none. */
  readonly deliveredVersion: number;
  readonly triesUsed: number;
  readonly fence: number;
  /** The lease before ours ran out: somebody may have sent this version and died. */
  readonly interrupted: boolean;
  /** Absent when the version itself is gone. */
  readonly change?: {
    readonly event: ChangeEvent;
    readonly idempotencyKey: string;
    readonly at: EpochMs;
    /** As it is stored; read out of its text where nobody has it at hand. */
    readonly record: () => Reservation | Guest;
    /** Of an erasure: what the erased guests were known by, until every destination was told. */
    readonly erased?: readonly Guest[];
  };
  /** What the destination was given last; only where it is asked for. */
  readonly deliveredDataText?: string;
}

/** What became of one claimed version. */
export interface Settlement extends LaneKey {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly fence: number;
  /** Which try this was, from 1. */
  readonly attempt: number;
  readonly result:
    | { readonly kind: 'delivered' }
    | { readonly kind: 'skipped' }
    | { readonly kind: 'retry'; readonly delayMs: number; readonly triesUsed: number }
    | { readonly kind: 'dead' };
  readonly code?: string;
  readonly message?: string;
  readonly status?: number;
  readonly durationMs?: number;
  /** What the destination answered to a failure; kept with a dead letter only. */
  readonly answer?: string;
}

export interface DueLane extends LaneKey {
  /** Not positive: due now. */
  readonly dueInMs: number;
}

export interface DeliveryStore {
  /** For each of these lanes with waiting work, when the first of it is due (or its lease ends). */
  nextDue(lanes: readonly LaneKey[]): Promise<DueLane[]>;
  /** How many of a lane's records are due now, counted up to a limit. */
  countDue(lane: LaneKey, limit: number): Promise<number>;
  /** Nothing while the destination is busy. */
  claim(lane: LaneKey, limit: number, leaseMs: number, withDelivered: boolean): Promise<Claimed[]>;
  /** Lengthens the leases that are still ours; gives back how many were. */
  extend(lane: LaneKey, claims: readonly Pick<Claimed, 'type' | 'id' | 'fence'>[], leaseMs: number): Promise<number>;
  /** Gives back what was leased and never sent: due at once. */
  putBack(lane: LaneKey, claims: readonly Pick<Claimed, 'type' | 'id' | 'fence'>[]): Promise<void>;
  /** Gives back what was sent without an answer: due at once, and known to have been tried. */
  abandon(lane: LaneKey, claims: readonly Pick<Claimed, 'type' | 'id' | 'fence'>[]): Promise<void>;
  /** Gives back the lanes in which a settled record has its next version due at once. */
  settle(settlements: readonly Settlement[], node: string): Promise<LaneKey[]>;
  /** Takes up to `wanted` calls from the destination's budget, which all nodes share; a negative number gives back. */
  takeBudget(destination: string, wanted: number, rate: Rate): Promise<{ granted: number; waitMs: number }>;
  /**
   * Remembers who was told to wait until the destination takes something. Where somebody else was told so before, no node
   * claims for the destination until the wait is over.
   */
  toldToWait(destination: string, told: ToldToWait): Promise<void>;
}

export interface DeliverPorts {
  readonly store: DeliveryStore;
  /** As the documents in force say; asked anew at every turn. */
  readonly lanes: () => readonly Lane[];
  /** Opens a destination as configured. A throw (a missing secret, say) leaves its work waiting and is tried again. */
  readonly open: (config: DestinationConfig) => Promise<Destination>;
  readonly clock: Clock;
  readonly wake: { wait(topic: 'outbox', maxMs: number, signal?: AbortSignal): Promise<void> };
  /** Where changes come from that are leased to this node already; without it, all are claimed. */
  readonly directLeases?: DirectLeases;
  readonly log: DeliverLog;
  readonly chance: () => number;
  /** Between the end of a call and the end of its lease, to write down the result; half a minute unless told. */
  readonly leaseMarginMs?: number;
  /** Told of every settled batch, for metrics. */
  readonly observe?: (settled: { delivered: number; skipped: number; retry: number; dead: number }) => void;
  readonly node: string;
}

interface DeliverLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}
