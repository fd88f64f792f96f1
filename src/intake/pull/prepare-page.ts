import type { Reservation } from '../../canonical/reservation.ts';
import type { Arrival, Prepared } from '../../reconcile/incoming.ts';
import type { RawRecord } from '../../shape/shape.ts';
import type { EpochMs } from '../../terms.ts';
import type { PullPlan } from './ports.ts';
import type { Row } from './row.ts';
import type { KnownRow, Pulled } from './run-state.ts';
import { type Counters, noCounts, type PageCommit, type Position, type Run, sum } from './run-state.ts';
import { type Selection, selectionOf } from './select.ts';

/** Where rows come from: a page of a run, or several of its pages. */
export interface PageSource {
  readonly plan: PullPlan;
  readonly run: Run;
  readonly position: Position;
  readonly requestedAt: EpochMs;
}

type MadePage = Pick<PageCommit, 'prepared' | 'pulled' | 'known' | 'staged' | 'readLate' | 'counted'> & {
  /** Ids of rows that are not for this run. */
  readonly skipped: readonly string[];
};

/**
 * Maps rows to records and keeps those that the run is for. Rows known to change nothing are skipped. Flat rows are staged until
 * all pages are read.
 */
export function preparePage(page: PageSource, rows: readonly Row[], known: readonly KnownRow[]): MadePage {
  const { plan, run, position, requestedAt } = page;
  const keys = new Set(known.map(({ key }) => key));
  const read = (which: readonly Row[]) =>
    prepareRecords(
      page,
      which.map(({ raw }) => raw),
      which.map(pulledOf),
    );
  if (plan.shaper.flat) {
    const staged = rows.map(({ raw }) => ({ key: raw.key, row: raw.value, requestedAt }));
    return { prepared: [], pulled: [], known: [], staged, readLate: () => read([]), counted: noCounts, skipped: [] };
  }
  const made = read(keys.size === 0 ? rows : rows.filter(({ raw }) => raw.partial || !keys.has(raw.key)));
  const isWanted = selectionOf(run, plan.settings, position);
  const [wanted, others] = [known.filter(isWanted), known.filter((row) => !isWanted(row))];
  return {
    ...made,
    known: wanted,
    skipped: [...made.skipped, ...others.map(({ id }) => id)],
    counted: sum(made.counted, { fetched: others.length, skipped: others.length }),
    staged: [],
    readLate: (late) => read(rows.filter(({ raw }) => !raw.partial && late.has(raw.key))),
  };
}

/** Stored as the content of a row whose mapping reads more than the row: it shows that the row was listed, and never matches. */
const unrecognisable = -1;

const longestKey = 512;

/** Under which key and content a row is remembered. */
function pulledOf({ raw, content }: Pick<Row, 'raw' | 'content'>): Pulled | undefined {
  // A key that the database would refuse is not remembered; its record becomes a dead letter.
  // A partial row does not show whether the list still contains its reservation.
  if (raw.partial || raw.key === '' || raw.key.length > longestKey || raw.key.includes('\u0000')) return undefined;
  const isAlone = raw.around === undefined && raw.body === undefined;
  return { key: raw.key, content: isAlone ? content : unrecognisable };
}

/** The rows that can be recognised as unchanged. */
export function recognisableRows(rows: readonly Row[]): Pulled[] {
  return rows.flatMap((row) => pulledOf(row) ?? []).filter(({ content }) => content !== unrecognisable);
}

/** A reservation grouped from several rows is remembered only as listed. */
export function formedAs({ key }: RawRecord): Pulled | undefined {
  return pulledOf({ raw: { key, value: null, body: null }, content: unrecognisable });
}

export function prepareRecords(
  { plan, run, position, requestedAt: effectiveAt }: PageSource,
  raws: readonly RawRecord[],
  pulled: readonly (Pulled | undefined)[],
): { prepared: Prepared[]; pulled: (Pulled | undefined)[]; counted: Counters; skipped: string[] } {
  const trace = run.trace === undefined ? undefined : { trace: run.trace };
  const arrival: Arrival = { mode: 'pull', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
  // A bare cancellation is applied after the row of the same reservation in the same answer.
  const later: Arrival = { ...arrival, effectiveAt: effectiveAt + 1 };
  const isWanted: Selection = selectionOf(run, plan.settings, position);
  const made: Prepared[] = [];
  const from: (Pulled | undefined)[] = [];
  const skipped: string[] = [];
  for (const [i, one] of plan.preparePage(raws, ({ partial }) => (partial ? later : arrival)).entries()) {
    if (one.kind === 'record' && !isWanted(one.incoming.record as Reservation)) {
      skipped.push(one.incoming.id);
      continue;
    }
    made.push(one);
    from.push(pulled[i]);
  }
  const counted = sum(noCounts, { fetched: raws.length, skipped: raws.length - made.length });
  return { prepared: made, pulled: from, counted, skipped };
}
