import type { ErrorCode } from '../../../../errors.ts';
import type { EpochMs, IntegrationName, Json, LocalDate, RunId, SyncType } from '../../../../terms.ts';
import type { Brand } from '../../../brand/brand.ts';
import type { ShownExchange } from '../../../outbound/ask/exchange.ts';
import type { Tried, WaitReason } from '../../../outbound/ask/ports.ts';
import type { Statement } from '../../../reconcile/forms.ts';
import type { PageState } from '../page/paginate.ts';
import type { Window } from '../window/windows.ts';

export interface Progress {
  readonly position: Position;
  readonly counters: Counters;
  readonly waiting?: { readonly reason: WaitReason; readonly ms: number };
}

export interface RunOptions {
  /** Long waits park the run instead of holding its slot. */
  readonly parkable: boolean;
  /** False for a run that somebody else queued: while the partner cannot be reached, it is returned to the queue instead of ended. */
  readonly ownsRun?: boolean;
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: Progress) => void;
}

export type RunOutcome =
  | { readonly kind: 'finished'; readonly end: RunEnd; readonly counters: Counters }
  /** Waiting until the next request to the partner is allowed. */
  | { readonly kind: 'parked'; readonly ms: number; readonly reason: WaitReason }
  /** Another node has the run. */
  | { readonly kind: 'fenced' }
  /** The process is shutting down; the run is returned to the queue. */
  | { readonly kind: 'stopped' };

/** A row of a list: the partner's id of the reservation, and a hash of the content and of what maps it. */
export interface ListedRow {
  readonly key: string;
  readonly listed: number;
}

/** A row that the partner sent before, and that is still in force. */
export interface KnownRow extends ListedRow {
  readonly id: string;
}

/**
 * The life of a run:
 *
 *   queued ──claim──▶ running ──▶ complete     every window was read to its end, and nothing shows that a row is missing
 *      ▲                 │   ├──▶ incomplete   read as far as possible; the findings name what is missing
 *      └──── park ───────┘   └──▶ failed       an error ended it; what was read before is stored
 *
 * A running run whose lease ran out is claimed by any node and resumes at `position`, after its last page.
 */
export interface Run {
  readonly integration: IntegrationName;
  readonly runId: RunId;
  readonly sync: SyncType | undefined;
  readonly kind: 'scheduled' | 'manual' | 'backfill';
  readonly state: 'queued' | 'running' | 'complete' | 'incomplete' | 'failed';
  /** Requested explicitly; otherwise the range of the sync applies. */
  readonly from?: LocalDate;
  readonly to?: LocalDate;
  readonly fence: number;
  readonly position?: Position;
  readonly connectorVersion?: number;
  readonly integrationVersion?: number;
  readonly counters: Counters;
  /** W3C traceparent of the span to which its records belong. */
  readonly trace?: string;
}

/** Where a run is. JSON in the store. */
export interface Position {
  /** The range of the whole run, fixed at its start: passing midnight does not change it. */
  readonly from: LocalDate;
  readonly to: LocalDate;
  readonly today: LocalDate;
  /** When the run began, by the database's clock or the partner's, if that is slower; the watermark of a complete run. */
  readonly startedAt?: EpochMs;
  /** The list to which the watermark belongs. */
  readonly feed?: number;
  /** The changes that a list by modification time is asked for. */
  readonly since?: EpochMs;
  readonly until?: EpochMs;
  /** Which of the connector's lists is read, from 0, and the last of them; absent if there is one. */
  readonly list?: number;
  readonly lastList?: number;
  /** The longest window from here on; reduced when the partner could not answer for more. */
  readonly stepDays: number;
  /** Absent once every window is read and flat rows are being grouped. */
  readonly window?: Window;
  readonly pass: PassState;
  /** What keeps the run from being complete, by window. */
  readonly findings: readonly WindowFinding[];
}

export interface WindowFinding {
  readonly code: ErrorCode;
  readonly message: string;
  readonly from: LocalDate;
  readonly to: LocalDate;
}

/** One pass through all pages of a window. */
export interface PassState {
  /** 1 for the first. */
  readonly no: number;
  /** The page to request; null for the first. */
  readonly page: PageState | null;
  readonly pages: number;
  /** Rows as the partner's paging counts them. */
  readonly rows: number;
  /** Rows that no earlier pass showed. */
  readonly fresh: number;
  /** Rows that an earlier page of this pass showed. */
  readonly doubles: number;
  /** Pages repeated in this pass. */
  readonly repeats: number;
  /** Consecutive empty pages, up to the last page. */
  readonly emptyPages: number;
  /** Distinct rows over all passes of the window. */
  readonly distinct: number;
  readonly total?: number;
  /** The page to request only confirms that a short first page was the last. */
  readonly confirms?: boolean;
  /** Present in a pass whose pages overlap (pass-end.ts). */
  readonly joint?: Joint;
  /** Pages that did not begin with the end of the page before, though they should. */
  readonly slips?: number;
  /** The first pass that is read without overlap, if the server does not support it. */
  readonly plainFrom?: number;
  /** Rows of the pass before. */
  readonly rowsBefore?: number;
  /** Failures and waits of the page to request, from before the run was parked. */
  readonly tried?: Tried;
}

/** The end of the last page, which the page to request shows again. */
export interface Joint {
  /** Identities of the rows, in order. */
  readonly ids: readonly number[];
  /** When the last page was requested. */
  readonly at: EpochMs;
  /** Nothing so far contradicts the proof that the pass is complete. */
  readonly proves: boolean;
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
  'repeated',
  'dead',
  'held',
] as const;
type CounterName = (typeof counterNames)[number];
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

/** The rows of a page for one brand. */
export interface PageRows {
  readonly statements: readonly Statement[];
  /** Rows known to change nothing, not mapped. */
  readonly known: readonly KnownRow[];
  /** Maps known rows whose reservation changed in the meantime. */
  readLate(keys: ReadonlySet<string>): Pick<PageRows, 'statements' | 'counted'>;
  /** Excludes the counts from applying the records. */
  readonly counted: Counters;
}

/** Everything a page changes, in one transaction. */
export interface PageCommit extends PageRows {
  readonly position: Position;
  readonly requestedAt: EpochMs;
  /** The rows of the page for other brands of the account. */
  readonly routed?: readonly (PageRows & { readonly brand: Brand })[];
  /** The properties of rows that belong to no brand, one entry per row. */
  readonly unrouted?: readonly string[];
  /** What acknowledges the page, unless the ids of its reservations do (`acknowledge.ids`). */
  readonly receipts?: readonly string[];
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
  /** Ids of rows that are not for this run; not all of many. */
  readonly skipped?: readonly string[];
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
  /** The partner's own words: payload. */
  readonly said?: string;
  /** The last request of the run. */
  readonly request?: ShownExchange;
  /** Where the next run of a list by modification time begins. */
  readonly watermark?: EpochMs;
  readonly findings: readonly WindowFinding[];
}
