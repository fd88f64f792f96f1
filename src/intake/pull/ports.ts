import type { Status } from '../../canonical/reservation.ts';
import type { ErrorCode } from '../../errors.ts';
import type { Clock } from '../../kit/clock.ts';
import type { Http } from '../../kit/http.ts';
import type { Log } from '../../kit/log.ts';
import type { Arrival, Prepared, Tally } from '../../reconcile/incoming.ts';
import type { RawRecord, Shaper } from '../../shape/shape.ts';
import type { EntityType, EpochMs, IntegrationName, Json, LocalDate, SyncType } from '../../terms.ts';
import type { TokenStore } from './auth/token-store.ts';
import type { Counters, PageCommit, Position, Run, RunEnd, Waiting } from './run-state.ts';
import type { PullSettings, Rate } from './settings.ts';
import type { Window } from './windows.ts';

/** One integration, ready to be pulled. */
export interface PullPlan {
  readonly settings: PullSettings;
  readonly shaper: Pick<Shaper, 'records' | 'rows' | 'count' | 'group' | 'rowKey' | 'flat' | 'single'>;
  prepare(raw: RawRecord, arrival: Arrival): Prepared;
  /** Whom changes concern; the store's own business. */
  readonly target: Target;
}

export interface Target {
  readonly integration: IntegrationName;
  readonly connectorVersion: number;
  readonly integrationVersion: number;
  readonly destinations: Readonly<Record<EntityType, readonly string[]>>;
}

export type Planned =
  | { readonly kind: 'ok'; readonly plan: PullPlan }
  | { readonly kind: 'unavailable'; readonly code: ErrorCode; readonly message: string };

export interface PullPorts {
  readonly node: string;
  readonly clock: Clock;
  readonly http: Http;
  readonly log: Log;
  /** 0 to 1. */
  random(): number;
  /** The integration as it is in force now, its secrets read anew. */
  plan(integration: IntegrationName): Promise<Planned>;
  readonly runs: RunStore;
  readonly partners: PartnerStore;
  readonly tokens: TokenStore;
  /** Where others than those of limits.ts are to hold. */
  readonly limits?: Partial<Limits>;
}

export interface Limits {
  /** Pages of one window and pass, after which a list counts as endless. */
  readonly pages: number;
  /** Pages in a row without a row in them. */
  readonly emptyPages: number;
  /** Waits longer than this give the place in the runner to another run. */
  readonly parkMs: number;
  /** All the waits for one page; then the run makes room for the next one. */
  readonly waitMs: number;
  readonly leaseMs: number;
  /** Of the breaker. */
  readonly cooldownMs: number;
}

export interface QueueRequest {
  readonly integration: IntegrationName;
  /** Absent for a backfill, which keeps whatever the range holds. */
  readonly sync?: SyncType;
  readonly kind: Run['kind'];
  readonly from?: LocalDate;
  readonly to?: LocalDate;
  readonly requestedBy: string;
}

/** Queued or claimed; or the run of the same sync that is still going. */
export type Queued = { readonly kind: 'queued'; readonly run: Run } | { readonly kind: 'busy'; readonly runId: string };

export type Lease = Pick<Run, 'integration' | 'runId' | 'fence'>;

/** A row of a list as far as recognising it goes. */
export interface Pulled {
  readonly key: string;
  readonly content: number;
}

/** A row that the partner sent before, and the version of the reservation that came of it. */
export interface KnownRow {
  readonly key: string;
  readonly id: string;
  readonly version: number;
  /** As stored, for the run to tell whether it is there for it. */
  readonly check_in: LocalDate;
  readonly check_out: LocalDate;
  readonly status: Status;
}

/** What is known of a window's earlier pages when a run is resumed. */
export interface WindowPages {
  readonly marks: readonly number[];
  readonly fingerprints: readonly number[];
  /** Of the pass under way and all before. */
  readonly seen: readonly { readonly bytes: Uint8Array; readonly isCurrent: boolean }[];
}

export interface StagedKey {
  readonly key: string;
  readonly rows: readonly Json[];
  /** When the first of the rows was asked for: what came in since then is newer. */
  readonly requestedAt: EpochMs;
}

/** Pages may be written side by side; they count one after the other. */
export interface PageTurn {
  /** How many pages of the run come before. */
  readonly after: number;
  /** Whether the run is still ours after the page before. */
  readonly before: Promise<boolean>;
}

/** Runs in the store. Every write of a run under way names its fence and does nothing if another node has taken the run over. */
export interface RunStore {
  queue(request: QueueRequest, claim?: { readonly node: string; readonly leaseMs: number }): Promise<Queued>;
  claimNext(node: string, leaseMs: number): Promise<Run | undefined>;
  /** This run, if nobody works on it now, whether its wait is over or not. */
  claim(integration: IntegrationName, runId: string, node: string, leaseMs: number): Promise<Run | undefined>;
  extend(lease: Lease, leaseMs: number, waiting: Waiting | undefined): Promise<boolean>;
  /** Fixes what the run asks for and under which documents; a run resumed under other documents begins anew. */
  start(lease: Lease, position: Position, target: Target): Promise<boolean>;
  /** All that the page counted, or that another node has the run. */
  commitPage(
    lease: Lease,
    leaseMs: number,
    commit: PageCommit,
    target: Target,
    turn: PageTurn,
  ): Promise<Counters | 'fenced'>;
  /** Rows that were read before: they need not be again while what came of them still stands. */
  known(target: Target, rows: readonly Pulled[]): Promise<readonly KnownRow[]>;
  commitPosition(lease: Lease, position: Position): Promise<boolean>;
  windowPages(lease: Lease, window: Window, pass: number): Promise<WindowPages>;
  staged(lease: Lease, most: number): Promise<readonly StagedKey[]>;
  commitFormed(
    lease: Lease,
    leaseMs: number,
    formed: { readonly keys: readonly string[]; readonly prepared: readonly Prepared[]; readonly counted: Counters },
    target: Target,
  ): Promise<Tally | 'fenced'>;
  /** Gives the run back, to be claimed after the time by whoever is free. */
  park(
    lease: Lease,
    afterMs: number,
    waiting: Waiting | undefined,
    counted: Counters,
    position?: Position,
  ): Promise<boolean>;
  finish(lease: Lease, end: RunEnd, counted: Counters): Promise<boolean>;
  get(integration: IntegrationName, runId: string): Promise<RunView | undefined>;
}

export interface RunView {
  readonly state: Run['state'];
  readonly counters: Counters;
  readonly position?: Position;
  readonly waiting?: Waiting;
  readonly errorCode?: ErrorCode;
  readonly errorMessage?: string;
}

export interface Asking {
  readonly rate: Rate | undefined;
  /** The time that the partner asked for has been waited. */
  readonly rested: boolean;
  /** A place in the rate's queue that is further off is not taken. */
  readonly mostMs: number;
}

/** A wait for the rate is a place in the queue: after it, the request goes out without asking again. */
export type Admission =
  /** clean: no failure is counted against the partner. */
  | { readonly kind: 'go'; readonly clean: boolean }
  | { readonly kind: 'wait'; readonly ms: number; readonly reason: Waiting };

/** What all nodes know together about a partner. */
export interface PartnerStore {
  /** Leave to send one request: not while the partner asked for rest, the breaker is open or the rate is used up. */
  admit(api: string, integration: IntegrationName, asking: Asking): Promise<Admission>;
  succeeded(api: string): Promise<void>;
  failed(api: string, cooldownMs: number, what: string): Promise<void>;
  pause(integration: IntegrationName, ms: number): Promise<void>;
  authFailed(integration: IntegrationName, integrationVersion: number, message: string): Promise<void>;
  authWorked(integration: IntegrationName): Promise<void>;
}
