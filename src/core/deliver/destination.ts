import type { z } from 'zod';
import type { ErrorCode } from '../../errors.ts';
import type { Clock, Timers } from '../../kit/clock.ts';
import type { EntityType, EpochMs, Json, JsonObject, Report } from '../../terms.ts';
import type { Capacity } from '../canonical/capacity.ts';
import type { Authorizer } from '../outbound/auth/outgoing.ts';
import type { Rate } from '../outbound/circuit.ts';
import type { Http } from '../outbound/http.ts';
import type { There } from './compare.ts';
import type { Delivery } from './message.ts';

/**
 * The port of a destination. Each type is a folder beside this file with a `destination.ts` that exports `destinationType`;
 * nothing else knows it by name.
 *
 * The engine promises: the versions of a record arrive in order, each after the previous one was settled, never two at a time. After
 * a crash a version may arrive again, with `mayHaveArrived` set. The destination promises: one outcome per delivery, in the same
 * order; failures are outcomes, never exceptions; a delivered version is durable.
 */
export interface Destination {
  deliver(batch: readonly Delivery[], limits: DeliverLimits): Promise<readonly Outcome[]>;
  close(): Promise<void>;
}

export interface DeliverLimits {
  /**
   * How long this node still holds the records of the call. Check it right before anything is sent: a process that was frozen in
   * between may have lost them to another node. See `lostLease`.
   */
  readonly leaseLeftMs: () => number;
  /**
   * Before each request of a call that makes several: it gets the whole deadline, and the lease is extended when that is due. False if
   * another node may hold the records.
   */
  readonly extend: () => Promise<boolean>;
  /** How many deliveries a call may hold. A call with one delivery still has the form of a batch if this is more than 1. */
  readonly batch: number;
  readonly deadlineMs: number;
  readonly signal: AbortSignal;
  /** W3C traceparent for requests over HTTP. Absent without tracing, or if the deliveries belong to several traces. */
  readonly traceparent?: string | undefined;
}

interface AnswerDetails {
  /** HTTP status, where there is one. */
  readonly status?: number;
  readonly durationMs?: number;
  /** The beginning of the destination's answer to a failure. It may quote guest data: it goes to the store, never to a log. */
  readonly answer?: string;
}

export type Outcome = AnswerDetails &
  (
    | { readonly kind: 'delivered' }
    /** Settled without a delivery: the record holds nothing for this destination, or it refuses a guest for a known reason. */
    | { readonly kind: 'skipped'; readonly code: string; readonly message: string }
    /** It may work later. `afterMs` is the wait that the destination asked for; with `free` this try does not count. */
    | {
        readonly kind: 'retry';
        readonly code: ErrorCode;
        readonly message: string;
        readonly afterMs?: number;
        readonly free?: boolean;
        /** The answer is about the batch as a whole; the delivery that caused it is not known. */
        readonly whole?: boolean;
        /** An earlier call of the same try may have arrived. */
        readonly mayHaveArrived?: boolean;
      }
    /** A retry cannot succeed. */
    | { readonly kind: 'dead'; readonly code: ErrorCode; readonly message: string; readonly whole?: boolean }
  );

/** The outcome of a delivery that was not sent because another node may hold its record by now; undefined while the lease is valid. */
export function lostLease({ leaseLeftMs }: Pick<DeliverLimits, 'leaseLeftMs'>, callMs: number): Outcome | undefined {
  return leaseLeftMs() >= callMs ? undefined : leaseLost;
}

export const leaseLost: Outcome = {
  kind: 'retry',
  code: 'deliver.lease_expired',
  message: 'Not sent: the process was frozen for so long that another node may deliver the record.',
  free: true,
};

/** Requests that share one limit of the vendor. */
export interface Limit {
  readonly name: string;
  readonly rate: Rate;
}

/** The services that a node offers to its destinations. */
export interface DestinationServices {
  readonly name: string;
  readonly workspaceDir: string;
  readonly allowPrivate: boolean;
  readonly node: string;
  readonly clock: Clock & Pick<Timers, 'uptimeMs'>;
  readonly http: Http;
  readonly authorizer: (auth: Json) => Authorizer;
  /** The rate of the destination's document. A claim takes one request from it for each call. */
  readonly rate?: Rate;
  /** Takes a request from a rate that all nodes share, if its turn comes within a minute: then it waits for `waitMs`. */
  readonly takeRequest: (from: Limit) => Promise<{ granted: number; waitMs: number }>;
  /** Every brand id that the integration had: its document may have been corrected. */
  readonly brandIdsOf: (integration: string) => Promise<readonly string[]>;
  /** Undefined for an integration that is no longer in force. */
  readonly brandOf: (integration: string) => Promise<BrandFacts | undefined>;
}

/** What the integration document says about the hotel itself. */
export interface BrandFacts {
  readonly brandId: string;
  readonly timezone: string;
  readonly country?: string | undefined;
  readonly roomsAvailable: Capacity;
}

/** What `destination prepare` found and did, in order. It ends at the first step that failed or that only a person can do. */
export interface Prepared {
  readonly steps: readonly PreparedStep[];
  /** Values for `with` in the destination's document. */
  readonly settings: Readonly<Record<string, string>>;
  /** The least rights that it needs, as statements or roles for the one who administers the vendor's side. */
  readonly grants?: readonly string[];
}

export interface PreparedStep {
  readonly what: string;
  readonly result: 'exists' | 'created' | 'would_create' | 'by_hand' | 'unknown' | 'failed';
  /** What to do, why it failed, what cannot be seen, or what the destination does not promise. */
  readonly message?: string;
}

/** Pages of reports since a time; the first failure is the last page. A report may come several times. */
export type ReadFeedback = (
  since: EpochMs,
  signal: AbortSignal,
) => AsyncIterable<{ readonly kind: 'page'; readonly reports: readonly Report[] } | FeedbackFailure>;

export interface FeedbackFailure {
  readonly kind: 'failed';
  readonly code: ErrorCode;
  /** The wait that the vendor asked for. */
  readonly afterMs?: number | undefined;
}

/** Rows of the tables of a warehouse; the cells are texts. */
export type WarehouseState = Readonly<Partial<Record<'brands' | 'runs', readonly Readonly<Record<string, string>>[]>>>;

/** What a destination holds, for an audit. A call that cannot read rejects with `Unreadable`. */
export interface Holdings {
  /** Before the first reading of an audit and after the last: what it set aside. */
  forget?(): Promise<void>;
  /** The rows with these ids, in any order. Contents are asked for where digests differ. */
  rows(
    of: RecordsOf,
    ids: readonly string[],
    what: 'digests' | 'contents',
    /** What would be sent of them. */
    deliveries: ReadonlyMap<string, Delivery>,
  ): Promise<readonly HeldRow[]>;
  /** How many are asked for at once. */
  readonly atOnce?: number;
  /** Whether anything of a delivery is kept there that can be read back; by default all of it. */
  expects?(delivery: Delivery): boolean;
  /** What a row has of a delivery; by default its record. */
  contentOf?(delivery: Delivery): JsonObject;
  /** The digest of a row that was delivered so. It may differ although the contents are equal. */
  digestOf(delivery: Delivery): string;
  /** The ids after this one that it has, in its own order. Absent: it cannot be listed. */
  ids?(of: RecordsOf, after: string, limit: number): Promise<readonly string[]>;
  /** Every brand of which it has records. */
  integrations?(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export interface RecordsOf {
  readonly integration: string;
  readonly type: EntityType;
}

export interface HeldRow extends Omit<There, 'content'> {
  readonly id: string;
  readonly digest?: string;
  readonly content?: There['content'];
}

/** A row in a file, which an audit sets aside: files have no order by record. */
export interface HeldInFile extends RecordsOf {
  readonly id: string;
  readonly epoch: number;
  readonly version: number;
  readonly isRemoved: boolean;
  readonly digest: string;
  readonly place: number;
}

export interface HeldFiles {
  /** Each file that was read, with its state. */
  files(): Promise<ReadonlyMap<string, string>>;
  clear(): Promise<void>;
  add(file: string, state: string, rows: readonly HeldInFile[]): Promise<void>;
  /** The newest version of each of these records. */
  find(of: RecordsOf, ids: readonly string[]): Promise<readonly (HeldInFile & { readonly file: string })[]>;
  ids(of: RecordsOf, after: string, limit: number): Promise<readonly string[]>;
  integrations(): Promise<readonly string[]>;
}

/** The message names no value. */
export class Unreadable extends Error {}

export interface Foreseen {
  readonly requests: number;
  readonly limit: Limit | undefined;
}

export interface DestinationType<Settings = unknown> {
  readonly type: string;
  readonly settings: z.ZodType<Settings>;
  /** How many deliveries one call takes: by default, and at most; and how long an incomplete batch waits for more. */
  readonly batch: (settings: Settings) => {
    readonly standard: number;
    readonly most: number;
    readonly waitMs?: number;
  };
  readonly timeoutMs: (settings: Settings) => number;
  /** The destination distinguishes first consent, new consent and withdrawals (`Delivery.consentChange`). */
  readonly comparesConsent?: (settings: Settings) => boolean;
  /** False if it sends an erasure as it is, so that what the guests were known by need not be kept for it. */
  readonly findsErasedGuests?: false;
  /** The requests that these deliveries take at least, if nobody of them is known there yet. Absent: one for each batch. */
  foresee?(settings: Settings, deliveries: readonly Delivery[], batch: number): readonly Foreseen[];
  /** Creates what the destination needs at the vendor: properties, objects, event types. Running it again creates nothing. */
  prepare?(settings: Settings, services: DestinationServices, options: { readonly dryRun: boolean }): Promise<Prepared>;
  /** Writes what is no record: how fresh and complete each brand is, and its runs. See composition/state.ts. */
  writeState?(settings: Settings, services: DestinationServices, state: WarehouseState): Promise<Outcome>;
  /** The vendor tells who unsubscribed, bounced or complained. */
  readonly reports?: (settings: Settings) => boolean;
  feedback?(settings: Settings, services: DestinationServices): ReadFeedback;
  /** Reads back what it holds; absent where that is not possible. `held` is for what is in files. */
  holdings?(settings: Settings, services: DestinationServices, held: HeldFiles): Holdings | undefined;
  /** Opens without connecting: an unreachable destination shows at the first delivery, as a retry. */
  open(settings: Settings, services: DestinationServices): Destination;
}
