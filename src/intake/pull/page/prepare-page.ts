import type { Brand } from '../../../brand/brand.ts';
import type { Reservation } from '../../../canonical/reservation.ts';
import { shortHash } from '../../../kit/short-hash.ts';
import { version } from '../../../kit/version.ts';
import { state } from '../../../pipeline.ts';
import type { Arrival, Statement } from '../../../reconcile/forms.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import type { EpochMs } from '../../../terms.ts';
import type { PullPlan } from '../ports.ts';
import {
  type Counters,
  type KnownRow,
  type ListedRow,
  noCounts,
  type PageCommit,
  type Position,
  type Run,
  sum,
} from '../run/run-state.ts';
import { type Selection, selectionOf } from '../run/select.ts';
import type { Row } from './row.ts';

/** Where rows come from: a page of a run, or several of its pages. */
export interface PageSource {
  readonly plan: PullPlan;
  readonly run: Run;
  readonly position: Position;
  readonly requestedAt: EpochMs;
}

type MadePage = Pick<PageCommit, 'statements' | 'known' | 'staged' | 'readLate' | 'counted'> & {
  /** Ids of rows that are not for this run. */
  readonly skipped: readonly string[];
};

/**
 * Maps rows to records and keeps those that the run is for. Rows known to change nothing are skipped. Flat rows are staged until
 * all pages are read.
 */
export function preparePage(page: PageSource, rows: readonly Row[], known: readonly KnownRow[]): MadePage {
  const { plan, requestedAt } = page;
  const keys = new Set(known.map(({ key }) => key));
  const read = (which: readonly Row[]) =>
    stateRows(
      page,
      which.map(({ raw }) => raw),
      which.map((row) => listedAs(row, plan.brand)),
    );
  if (plan.brand.shapers.pull.flat) {
    const staged = rows.map(({ raw }) => ({ key: raw.key, row: raw.value, requestedAt }));
    return { statements: [], known: [], staged, readLate: () => read([]), counted: noCounts, skipped: [] };
  }
  const made = read(keys.size === 0 ? rows : rows.filter(({ raw }) => raw.partial || !keys.has(raw.key)));
  return {
    ...made,
    known,
    staged: [],
    readLate: (late) => read(rows.filter(({ raw }) => !raw.partial && late.has(raw.key))),
  };
}

/** Of a row whose mapping reads more than the row: it shows that the row was listed, and no row has it. */
const unrecognisable = -1;

/** By what the row is recognised while the documents and the program that map it stay the same. */
function listedAs({ raw, content, added = 0 }: Row, brand: Brand): number | undefined {
  // A partial row does not show whether the list still contains its reservation.
  if (raw.partial || raw.key === '') return undefined;
  if (raw.around !== undefined || raw.body !== undefined) return unrecognisable;
  const { connectorVersion, integrationVersion, spellingsHash = '' } = brand;
  return shortHash(`${content} ${added} ${connectorVersion}.${integrationVersion}.${version}.${spellingsHash}`);
}

/** The rows that can be recognised as unchanged. */
export function recognisableRows(rows: readonly Row[], brand: Brand): ListedRow[] {
  return rows.flatMap((row) => {
    const listed = listedAs(row, brand);
    return listed === undefined || listed === unrecognisable ? [] : [{ key: row.raw.key, listed }];
  });
}

/** A reservation grouped from several rows is only recognised as listed, by the key of its rows. */
export const formedAs = ({ key }: RawRecord): number | undefined => (key === '' ? undefined : -shortHash(key));

export function stateRows(
  { plan, run, position, requestedAt: effectiveAt }: PageSource,
  raws: readonly RawRecord[],
  listed: readonly (number | undefined)[],
): { statements: Statement[]; counted: Counters; skipped: string[] } {
  const trace = run.trace === undefined ? undefined : { trace: run.trace };
  const arrival: Arrival = { mode: 'pull', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
  // A bare cancellation is applied after the row of the same reservation in the same answer.
  const later: Arrival = { ...arrival, effectiveAt: effectiveAt + 1 };
  const isWanted: Selection = selectionOf(run, plan.settings, position);
  const statements: Statement[] = [];
  const skipped: string[] = [];
  for (const [i, raw] of raws.entries()) {
    const one = state(plan.brand, raw, raw.partial ? later : arrival);
    if (one.record === undefined || one.dropped !== undefined) statements.push(one);
    else if (!isWanted(one.record as Reservation)) skipped.push(one.id);
    else statements.push({ ...one, listed: listed[i] });
  }
  const counted = sum(noCounts, { fetched: raws.length, skipped: skipped.length });
  return { statements, counted, skipped };
}
