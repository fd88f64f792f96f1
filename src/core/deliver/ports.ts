import type { Clock, Timers } from '../../kit/clock.ts';
import type { Heartbeats } from '../../kit/loop.ts';
import type { Tracer } from '../../kit/trace.ts';
import type { ChangeEvent, DestinationName, EntityType, EpochMs, IntegrationName, JsonObject } from '../../terms.ts';
import type { Guest, Reservation } from '../canonical/reservation.ts';
import type { Circuit, CircuitSettings, FailedCall, Rate } from '../outbound/circuit.ts';
import type { Destination } from './destination.ts';
import type { MessageData } from './message.ts';

/** Which part of which changes a destination gets. */
export interface Selection {
  readonly receives: readonly EntityType[];
  /** The message of a failure holds no values of the record. */
  readonly filter?: (type: EntityType, data: MessageData) => boolean | { readonly message: string };
  readonly consent?: 'marketing';
  /** Obvious test guests are not sent, nor bookings of nobody else. */
  readonly leavesOutTests?: boolean;
  /** The destination needs to know what changed in a guest's consent, with or without `consent: marketing`. */
  readonly comparesConsent?: boolean;
  readonly fields: (type: EntityType, data: MessageData) => MessageData;
}

/** One destination as its document describes it, with all defaults filled in. */
export interface DestinationConfig {
  readonly name: DestinationName;
  readonly type: string;
  /** Changes with the document; the destination is then closed and opened again. */
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
  /** Nothing is sent while it is paused by its document; work waits. */
  readonly paused: boolean;
}

/** The flow from one brand to one destination. */
export interface Lane {
  readonly integration: IntegrationName;
  readonly brandId: string;
  readonly destination: DestinationConfig;
  /** The brand no longer delivers to the destination: what the destination has is removed. */
  readonly isLeaving?: boolean;
  /** Nothing is sent until somebody releases it; work waits. */
  readonly inPreview?: boolean;
}

/** The lanes of the documents in force. They are made when they are needed: with 100,000 brands, an edit would otherwise make them all. */
export interface Lanes {
  readonly brands: Pick<ReadonlySet<string>, 'size' | 'keys'>;
  /** Every destination of a lane; some may have none. */
  readonly destinations: readonly DestinationConfig[];
  of(brand: string): readonly Lane[];
}

/** One version of a record, leased to this node. */
export interface Claimed {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  /** The newest version that the destination is known to have; 0 for none. */
  readonly deliveredVersion: number;
  /** That version said that the record has left. */
  readonly isRemoved?: boolean;
  /** Queued because the brand no longer delivers to the destination. */
  readonly isLeaving?: boolean;
  readonly triesUsed: number;
  readonly fence: number;
  /** The lease before ours expired: its node may have sent this version before it died. */
  readonly interrupted: boolean;
  /** Absent when the version is no longer stored. */
  readonly change?: {
    readonly event: ChangeEvent;
    readonly idempotencyKey: string;
    readonly at: EpochMs;
    readonly statedAt?: EpochMs;
    /** The stored record, decoded on demand. */
    readonly record: () => Reservation | Guest;
    /** For an erasure: the identifiers of the erased guests, kept until every destination has confirmed. */
    readonly erased?: readonly Guest[];
    /** W3C traceparent of the span that made the version. */
    readonly trace?: string;
  };
  /** The latest delivered versions of the record, newest first; only read where consent is compared. */
  readonly deliveredDataTexts?: readonly string[];
  /** Newer versions that failed and were dropped, newest first. They were sent, so the destination may have them. */
  readonly droppedDataTexts?: readonly string[];
  /** Absent where profiles are not read. */
  readonly persons?: ClaimedPersons;
}

/** What the profiles of the brand know about the guests of a claimed version. */
export interface ClaimedPersons {
  /** A newer statement of the same person contradicts the consent that the version states. */
  readonly isOutdated: (guest: Guest) => boolean;
  /** Somebody else than the guests of this version has the address or number. */
  readonly isShared: (address: string) => boolean;
  /** The guest is the one who booked, in every booking with this address: a contact with it has the guest's name. */
  readonly isOwner: (guest: Guest, address: string) => boolean;
  /** So does somebody else who agrees to marketing. */
  readonly isAgreed: (address: string) => boolean;
  /** Where else the guest is named, and in the version's own record as it is stored now; empty where the destination keeps no people. */
  readonly mentions: (guest: Guest) => readonly PersonMention[];
}

/** A record that names a person: of this brand, or of another one that delivers to the same destination. */
export interface PersonMention {
  readonly integration: string;
  readonly type: EntityType;
  readonly id: string;
  /** The destination has it. */
  readonly isDelivered: boolean;
  /** The destination has it as it is named here. */
  readonly isCurrent: boolean;
  /** The person as this record names them; absent if only the profile says so. */
  readonly guest?: Guest;
  /** Absent for a profile. */
  readonly stay?: Reservation;
}

/** What a transaction may lease to this node of the versions that it queues for a lane: whole calls, which then need no claim. */
export interface Room {
  /** The most records. */
  readonly most: number;
  /** The records of one call. */
  readonly batch: number;
  readonly leaseMs: number;
  /** Sends them: after the commit. */
  readonly take: (claims: readonly Claimed[]) => void;
}

/** The deliveries of a node, for those who queue. */
export interface Deliveries {
  room(lane: LaneKey): Room | undefined;
  /** These lanes have records that were just queued, and not leased. */
  offer(lanes: readonly LaneKey[]): void;
}

export interface ClaimedByBrand extends Claimed {
  readonly integration: string;
}

/** The result of one try to deliver a claimed version. */
export interface Settlement extends LaneKey {
  readonly type: EntityType;
  readonly id: string;
  readonly version: number;
  readonly fence: number;
  /** The number of this try, from 1. */
  readonly attempt: number;
  readonly result:
    | { readonly kind: 'delivered' }
    | { readonly kind: 'skipped' }
    | {
        readonly kind: 'retry';
        readonly delayMs: number;
        readonly triesUsed: number;
        /** The next claim says that it may have arrived, also if no try was used. */
        readonly mayHaveArrived?: boolean;
      }
    | { readonly kind: 'dead' };
  readonly code?: string;
  readonly message?: string;
  readonly status?: number;
  readonly durationMs?: number;
  /** The destination's answer to a failure; kept with a dead letter only. */
  readonly answer?: string;
  /** When the version was made. */
  readonly changedAt?: EpochMs;
}

export interface DueLane extends LaneKey {
  /** Not positive: due now. */
  readonly dueInMs: number;
  /** The same for its first record alone, whether or not the destination is paused or away. */
  readonly firstDueInMs: number;
  /** The circuit of its destination is open: only a probe may be sent. */
  readonly isProbe: boolean;
}

/** What a scan for due work leaves out. */
export interface DueBounds {
  /** Records that became due longer ago than this. */
  readonly sinceMs?: number | undefined;
  /** Records that become due later than this. */
  readonly withinMs?: number;
}

export interface ClaimOptions {
  /** Leave out records that became due longer ago than this. */
  readonly sinceMs?: number | undefined;
  /** Also read the versions delivered before, and the profiles of guests who agree to marketing in a reservation. */
  readonly withDelivered?: boolean;
  /** Also read where else the guests are named. */
  readonly withMentions?: boolean;
  /** Claim although the circuit is open. */
  readonly isProbe?: boolean;
}

export interface DeliveryStore {
  /** For each of these lanes with waiting work: when its first record is due, or its first lease ends. */
  nextDue(lanes: readonly LaneKey[], bounds?: DueBounds): Promise<DueLane[]>;
  /** The same for all lanes, also those of documents that are not in force. */
  nextDueOfAll(bounds?: DueBounds): Promise<DueLane[]>;
  /** Counts the due records of a lane, up to a limit. */
  countDue(lane: LaneKey, limit: number): Promise<number>;
  /**
   * Leases due records of these brands, up to `mostEach` of each; none while the destination is paused, or while its circuit is open and
   * this is not a probe.
   */
  claim(
    destination: string,
    integrations: readonly string[],
    mostEach: number,
    leaseMs: number,
    options?: ClaimOptions,
  ): Promise<ClaimedByBrand[]>;
  /** Extends the leases that this node still holds; returns how many. With 0 they end: due at once, marked as possibly arrived. */
  extend(lane: LaneKey, claims: readonly Pick<Claimed, 'type' | 'id' | 'fence'>[], leaseMs: number): Promise<number>;
  /** Releases records that were leased and not sent: due at once. */
  putBack(lane: LaneKey, claims: readonly Pick<Claimed, 'type' | 'id' | 'fence'>[]): Promise<void>;
  /** Returns the lanes in which a settled record has a further version to send. */
  settle(settlements: readonly Settlement[], node: string): Promise<LaneKey[]>;
  /** Takes up to `wanted` calls from the budget that all nodes share; a negative number returns calls to it. */
  takeBudget(destination: string, wanted: number, rate: Rate): Promise<{ granted: number; waitMs: number }>;
  /**
   * Remembers which record was asked to wait, until the destination accepts something. If another record was asked before, no node
   * claims for the destination until the wait is over.
   */
  noteWaitRequest(destination: string, request: WaitRequest): Promise<void>;
  /** Counts a failed call. */
  noteFailure(destination: string, failure: FailedCall, circuit: CircuitSettings): Promise<Circuit>;
  /** Closes the circuit. The settlement of a success does so too. */
  noteAnswer(destination: string): Promise<void>;
  /** True for the one caller, over all nodes, that may send a probe now. */
  takeProbe(destination: string, leaseMs: number): Promise<boolean>;
  /** Lets another node send the probe that this one had no record for. */
  releaseProbe(destination: string): Promise<void>;
}

export interface DeliverPorts {
  readonly heartbeats?: Heartbeats;
  readonly store: DeliveryStore;
  /** Read on every pass; another object after a change of documents. */
  readonly lanes: () => Lanes;
  /** Opens a destination. If it throws (for example on a missing secret), work waits and opening is retried. */
  readonly open: (config: DestinationConfig) => Promise<Destination>;
  readonly clock: Clock & Timers;
  readonly wake: {
    wait(topic: 'outbox', maxMs: number, signal?: AbortSignal): Promise<void>;
    /** Wakes the loop of this process. */
    arrived(topic: 'outbox'): void;
  };
  /** Where transactions of this process announce their changes; without it the scan finds them. */
  readonly handover?: { connect(deliveries: Deliveries | undefined): void };
  readonly log: Record<'info' | 'warn' | 'error', (fields: object, message: string) => void>;
  readonly chance: () => number;
  /** The store's epoch, see Message. */
  readonly epoch: () => number;
  /** Time between the end of a call and the end of its lease, for writing the result; 30 s by default. */
  readonly leaseMarginMs?: number;
  /** How often a scan for due work has no bounds, see DueFloor; 30 s by default. */
  readonly fullScanMs?: number;
  readonly circuit?: CircuitSettings;
  readonly tracer?: Tracer | undefined;
  /** Called for every settled batch. */
  readonly settled?: (settlements: readonly Settlement[]) => void;
  readonly node: string;
}

/**
 * A record that the destination asks to wait (429 with Retry-After) waits alone, and other records flow past it. If a second record
 * is asked to wait too and nothing was accepted in between, the destination itself is busy: it is paused on all nodes.
 */
export interface WaitRequest {
  /** The records asked to wait since the last success. */
  readonly records: readonly string[];
  /** They were asked in more than one answer. */
  readonly severalAnswers: boolean;
  readonly waitMs: number;
}

export interface LaneKey {
  readonly integration: string;
  readonly destination: string;
}
