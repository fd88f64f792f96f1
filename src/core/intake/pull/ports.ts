import type { ErrorCode } from '../../../errors.ts';
import type { Clock, Timers } from '../../../kit/clock.ts';
import type { Log } from '../../../kit/log.ts';
import type { Tracer } from '../../../kit/trace.ts';
import type { EpochMs, IntegrationName, Json, LocalDate, SyncType } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import type { Reservation } from '../../canonical/reservation.ts';
import type { PullSettings } from '../../documents/pull.ts';
import {
  type AskedPartners,
  type AskLimits,
  type AskPorts,
  askLimits,
  type Planned,
  type WaitReason,
} from '../../outbound/ask/ports.ts';
import type { Shown } from '../../reconcile/accidents/guard.ts';
import type { Statement, Summary } from '../../reconcile/forms.ts';
import type { Counters, KnownRow, ListedRow, PageCommit, Position, Run, RunEnd } from './run/run-state.ts';
import type { Window } from './window/windows.ts';

/** One integration, ready to pull. */
export interface PullPlan {
  readonly brand: Brand;
  /** With its secrets. */
  readonly settings: PullSettings;
  /** Present where rows name their property (`pull.property`). */
  readonly routing?: Routing;
  /** The other brands that pull from the same API with the same connector. */
  others?(): Promise<readonly string[]>;
}

/** How one poll serves several brands of one account. */
export interface Routing {
  propertyOf(row: Json): string | undefined;
  /** The brands that are polled together with the plan's own. */
  readonly brands: readonly Brand[];
}

export interface PullPorts extends AskPorts {
  readonly node: string;
  readonly clock: Clock & Timers;
  readonly log: Log;
  plan(integration: IntegrationName): Promise<Planned<PullPlan>>;
  readonly runs: RunStore;
  readonly partners: AskedPartners;
  /** Overrides of the defaults. */
  readonly limits?: Partial<Limits>;
  readonly tracer?: Tracer | undefined;
}

export interface Limits extends AskLimits {
  /** More pages than this in one pass over a window end as `pull.endless`. */
  readonly pages: number;
  /** Consecutive empty pages. */
  readonly emptyPages: number;
  /** The longest total wait for one page; then the run fails. */
  readonly waitMs: number;
  readonly leaseMs: number;
}

interface Parked {
  readonly afterMs: number;
  readonly waiting?: WaitReason;
  /** Where the run continues; unchanged if absent. */
  readonly position?: Position;
}

export interface QueueRequest {
  readonly integration: IntegrationName;
  /** Absent for a backfill, which keeps everything in the range. */
  readonly sync?: SyncType | undefined;
  readonly kind: Run['kind'];
  readonly from?: LocalDate | undefined;
  readonly to?: LocalDate | undefined;
  readonly requestedBy: string;
}

/** Queued or claimed; busy if a run of the same sync is active. */
export type Queued = { readonly kind: 'queued'; readonly run: Run } | { readonly kind: 'busy'; readonly runId: string };

export type Lease = Pick<Run, 'integration' | 'runId' | 'fence'>;

/** A reservation of earlier lists that a complete run did not list. */
export interface UnlistedRow extends Pick<Reservation, 'id' | 'check_in' | 'check_out' | 'status'> {
  /** The partner's id of it. */
  readonly key: string;
  /** The partner answered a request for it during the last day. */
  readonly isAskedRecently: boolean;
}

export interface Unlisted {
  readonly missing: readonly UnlistedRow[];
  /** The reservations of earlier lists, inside the range, that the list must show: missing and not. */
  readonly expected: number;
}

export interface UnlistedNote {
  readonly id: string;
  readonly isAsked: boolean;
  /** The partner's answer to the request for this reservation; absent if there was none. */
  readonly answer?: 'present' | 'absent';
  /** The partner has it with other dates or cancelled, so the list need not show it. */
  readonly isElsewhere?: boolean;
}

/** The earlier pages of a window, for a run that is resumed inside it. */
export interface WindowPages {
  readonly marks: readonly number[];
  readonly fingerprints: readonly number[];
  /** Of the current pass and all earlier ones. */
  readonly seen: readonly { readonly bytes: Uint8Array; readonly isCurrent: boolean }[];
}

export interface StagedKey {
  readonly key: string;
  readonly rows: readonly Json[];
  /** When the first of the rows was requested; anything received since is newer. */
  readonly requestedAt: EpochMs;
}

/** Reservations made after all pages are read: from staged rows, or from answers for single ones. */
export interface FormedCommit {
  /** The staged rows that are used up. */
  readonly keys: readonly string[];
  readonly statements: readonly Statement[];
  readonly counted: Counters;
  readonly shown?: Shown;
}

/** What shows that two bookings are the same one. */
export type BookingKeys = Pick<Reservation, 'id' | 'check_in' | 'check_out' | 'confirmation_number'>;

/** Runs in the store. Every write to an active run names its fence and changes nothing if another node has the run. */
export interface RunStore {
  /** Nothing is stored, so nothing must be acknowledged to the partner. */
  readonly isDryRun?: true;
  queue(request: QueueRequest, claim?: { readonly node: string; readonly leaseMs: number }): Promise<Queued>;
  claimDue(most: number, node: string, leaseMs: number): Promise<Run[]>;
  /** Claims this run if no node is working on it, even if its wait is not over. */
  claim(integration: IntegrationName, runId: string, node: string, leaseMs: number): Promise<Run | undefined>;
  extend(lease: Lease, leaseMs: number, waiting: WaitReason | undefined): Promise<boolean>;
  /** Stores the range and the document versions; a run resumed under other documents starts over. */
  start(lease: Lease, position: Position, brand: Brand): Promise<boolean>;
  /** Returns everything the page counted. */
  commitPage(
    lease: Lease,
    leaseMs: number,
    commit: PageCommit,
    brand: Brand,
    pagesBefore: number,
  ): Promise<Counters | 'fenced'>;
  /** Rows whose result is still stored: they need not be mapped again. */
  known(brand: Brand, rows: readonly ListedRow[]): Promise<readonly KnownRow[]>;
  commitPosition(lease: Lease, position: Position): Promise<boolean>;
  windowPages(lease: Lease, window: Window, pass: number): Promise<WindowPages>;
  staged(lease: Lease, most: number): Promise<readonly StagedKey[]>;
  commitFormed(lease: Lease, leaseMs: number, formed: FormedCommit, brand: Brand): Promise<Summary | 'fenced'>;
  /** Reservations of earlier lists, inside the range, that the run's pages did not show; called before flat rows are grouped. */
  unlisted(
    lease: Lease,
    range: Window,
    of: {
      readonly brand: Brand;
      readonly isFlat: boolean;
      /** The hash of a row's identity, by its key. */
      readonly identity: (key: string) => number;
    },
  ): Promise<Unlisted>;
  noteUnlisted(lease: Lease, integration: IntegrationName, sync: string, notes: readonly UnlistedNote[]): Promise<void>;
  /** Another brand that has received most of these bookings, of which this brand has none yet. */
  receivedElsewhere(
    integration: IntegrationName,
    others: () => Promise<readonly string[]>,
    bookings: readonly BookingKeys[],
  ): Promise<string | undefined>;
  storedReservation(integration: IntegrationName, id: string): Promise<Reservation | undefined>;
  storedRooms(integration: IntegrationName, ids: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Returns the run to the queue, to be claimed by any node after `afterMs`. */
  park(lease: Lease, counted: Counters, parked: Parked): Promise<boolean>;
  finish(lease: Lease, end: RunEnd, counted: Counters): Promise<boolean>;
  get(integration: IntegrationName, runId: string): Promise<RunView | undefined>;
  /** When the last complete run of the sync over this feed began; for lists by modification time. */
  watermark(integration: IntegrationName, sync: SyncType, feed: number): Promise<EpochMs | undefined>;
}

export interface RunView extends Pick<Run, 'state' | 'counters' | 'position'> {
  readonly waiting?: WaitReason;
  readonly errorCode?: ErrorCode;
  readonly errorMessage?: string;
}

const defaults: Limits = {
  ...askLimits,
  // 400,000 reservations in one window of at most a week, at 200 rows a page.
  pages: 2_000,
  emptyPages: 100,
  waitMs: 6 * 3_600_000,
  leaseMs: 60_000,
};

export function limitsOf(ports: Pick<PullPorts, 'limits'>): Limits {
  return { ...defaults, ...ports.limits };
}
