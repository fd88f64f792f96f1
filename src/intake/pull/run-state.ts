import type { ErrorCode } from '../../errors.ts';
import type { Prepared } from '../../reconcile/incoming.ts';
import type { EpochMs, IntegrationName, Json, LocalDate, RunId, SyncType } from '../../terms.ts';
import type { PageState } from './paginate/paginator.ts';
import type { KnownRow, Pulled } from './ports.ts';
import type { Window } from './windows.ts';

/**
 * The life of a run:
 *
 *   queued ──claim──▶ running ──▶ complete     every window read to its end, and shown to be whole
 *      ▲                 │   ├──▶ incomplete   read as far as the partner let us; what is missing is named
 *      └──── park ───────┘   └──▶ failed       an error ended it; what was read before is stored
 *
 * A running run whose lease ran out is claimed again by any node and goes on at `position`, the place after its last page.
 */
export interface Run {
  readonly integration: IntegrationName;
  readonly runId: RunId;
  readonly sync: SyncType | undefined;
  readonly kind: 'scheduled' | 'manual' | 'backfill';
  readonly state: 'queued' | 'running' | 'complete' | 'incomplete' | 'failed';
  /** Asked for explicitly; otherwise the range of the sync. */
  readonly from?: LocalDate;
  readonly to?: LocalDate;
  readonly fence: number;
  readonly position?: Position;
  readonly connectorVersion?: number;
  readonly integrationVersion?: number;
  readonly counters: Counters;
}

/** Where a run is. JSON in the store. */
export interface Position {
  /** What the whole run asks for, fixed at its start: a run that goes over midnight stays what it was. */
  readonly from: LocalDate;
  readonly to: LocalDate;
  readonly today: LocalDate;
  /** The longest window from here on; smaller once the partner could not take more. */
  readonly stepDays: number;
  /** Absent when every window is done and flat rows are put together. */
  readonly window?: Window;
  readonly pass: PassState;
  /** Days that the partner could not answer for, and what keeps windows from being complete. */
  readonly findings: readonly Finding[];
}

export interface Finding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly from: LocalDate;
  readonly to: LocalDate;
}

/** One way through all pages of a window. */
export interface PassState {
  /** 1 for the first. */
  readonly no: number;
  /** The page to ask for; null for the first. */
  readonly page: PageState | null;
  readonly pages: number;
  /** Rows as the partner's paging counts them. */
  readonly rows: number;
  /** Rows whose identity no pass before had shown. */
  readonly fresh: number;
  /** Rows that an earlier page of this pass had shown. */
  readonly doubles: number;
  /** Pages that had come before in this pass. */
  readonly repeats: number;
  /** In a row, up to the last page. */
  readonly emptyPages: number;
  /** Rows with an identity of their own, over all passes of the window. */
  readonly distinct: number;
  readonly total?: number;
  /** The page to ask for only shows whether a short first page was the end. */
  readonly confirms?: boolean;
  /** What the page to ask for has been through before the run was put off. */
  readonly tried?: Tried;
}

/** How a request fared so far: tries that failed, times that it was told to come later, and how long it waited for the partner. */
export interface Tried {
  readonly failures: number;
  readonly waits: number;
  readonly waitedMs: number;
}

export const firstPass: PassState = {
  no: 1,
  page: null,
  pages: 0,
  rows: 0,
  fresh: 0,
  doubles: 0,
  repeats: 0,
  emptyPages: 0,
  distinct: 0,
};

/** Why a run is not asking right now. */
export type Waiting = 'retry_after' | 'breaker' | 'rate' | 'backoff';

const counterNames = [
  'pages',
  'requests',
  'retries',
  'waitedMs',
  'bytes',
  'rows',
  'fetched',
  'changed',
  'unchanged',
  'superseded',
  'dropped',
  'skipped',
  'dead',
] as const;
export type CounterName = (typeof counterNames)[number];
export type Counters = Readonly<Record<CounterName, number>>;

export const noCounts: Counters = Object.freeze(
  Object.fromEntries(counterNames.map((name) => [name, 0])) as Record<CounterName, number>,
);

export function sum(a: Counters, b: Partial<Counters> = noCounts): Counters {
  return Object.fromEntries(counterNames.map((name) => [name, a[name] + (b[name] ?? 0)])) as Record<
    CounterName,
    number
  >;
}

/** All that a page changes, in one transaction. */
export interface PageCommit {
  readonly position: Position;
  readonly prepared: readonly Prepared[];
  /** What each prepared one was made from; undefined where that cannot be recognised again. */
  readonly pulled: readonly (Pulled | undefined)[];
  /** Rows that change nothing and were not read. */
  readonly known: readonly KnownRow[];
  /** Reads known rows after all. */
  readLate(keys: ReadonlySet<string>): Pick<PageCommit, 'prepared' | 'pulled' | 'counted'>;
  readonly requestedAt: EpochMs;
  /** Besides what applying the records counts. */
  readonly counted: Counters;
  readonly log: PageLog;
  readonly staged: readonly StagedRow[];
}

export interface PageLog {
  readonly window: Window;
  readonly pass: number;
  readonly requestedAt: EpochMs;
  readonly durationMs: number;
  readonly tries: number;
  readonly waitedMs: number;
  readonly bytes: number;
  readonly rows: number;
  readonly fresh: number;
  readonly mark: number;
  readonly fingerprint: number;
  readonly seen: Uint8Array;
}

export interface StagedRow {
  readonly key: string;
  readonly row: Json;
  readonly requestedAt: EpochMs;
}

export interface RunEnd {
  readonly state: 'complete' | 'incomplete' | 'failed';
  readonly code?: ErrorCode;
  readonly message?: string;
  readonly findings: readonly Finding[];
}
