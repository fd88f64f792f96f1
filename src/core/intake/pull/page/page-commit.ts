import { shortHash } from '../../../../kit/short-hash.ts';
import { version } from '../../../../kit/version.ts';
import type { EpochMs } from '../../../../terms.ts';
import type { Brand } from '../../../brand/brand.ts';
import type { Reservation } from '../../../canonical/reservation.ts';
import { localDateAt } from '../../../canonical/values.ts';
import type { AnswerRead, AskCounts } from '../../../outbound/ask/ports.ts';
import { read } from '../../../pipeline.ts';
import type { Receipt, Statement } from '../../../reconcile/forms.ts';
import type { RawRecord } from '../../../shape/shape.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import type { Taken } from '../run/pass.ts';
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
import { arrivalOf, cancelled, goneIsCancelled } from '../run/unlisted.ts';
import { type Selection, selectionOf } from '../window/range.ts';
import { planFor, type Row, routeRows, type WholePage } from './page.ts';

/** A page that was read, with the positions around it. */
interface ReadPage {
  readonly position: Position;
  readonly after: Position;
  readonly page: WholePage;
  readonly taken: Taken;
  /** The partner's ids of listed reservations that it does not have any more. */
  readonly missing: readonly string[];
  readonly answer: AnswerRead;
  /** The cost of asking for it, related tables included. */
  readonly asking: AskCounts;
  /** Counted since the page before. */
  readonly counted: Counters;
}

/** How many ids of skipped rows are kept of a page. */
const mostSkipped = 100;

/** Everything that the page changes. Maps its records, except rows that are known to change nothing. */
export async function makePageCommit(
  ports: Pick<PullPorts, 'runs' | 'clock'>,
  plan: PullPlan,
  run: Run,
  { position, after, page, taken, missing, answer, asking, counted }: ReadPage,
): Promise<PageCommit> {
  const { requestedAt, bytes } = answer;
  // A second pass shows the same rows again.
  const { no, plainFrom = 1 } = position.pass;
  const repeated = no === plainFrom ? page.repeated : 0;
  const { own, others, unrouted } = routeRows(plan, taken.rows);
  const prepared = async (source: Omit<PageSource, 'run' | 'requestedAt'>, rows: readonly Row[]) => {
    const { brand } = source.plan;
    const known = await ports.runs.known(brand, brand.shapers.pull.flat ? [] : recognisableRows(rows, brand));
    return preparePage({ ...source, run, requestedAt }, rows, known);
  };
  const { skipped, ...made } = await prepared({ plan, position }, own);
  const routed = [];
  for (const { brand, rows } of others) {
    const today = localDateAt(brand.body.timezone, requestedAt);
    const its = await prepared({ plan: planFor(plan, brand), position: { ...position, today } }, rows);
    skipped.push(...its.skipped);
    routed.push({ ...its, brand });
  }
  const gone = plan.settings.details?.missing === 'cancelled' ? await cancellations(ports, plan, run, missing) : [];
  const isLeft = unrouted.length + missing.length - gone.length;
  const left = { fetched: unrouted.length + missing.length, skipped: isLeft };
  return {
    ...made,
    statements: [...made.statements, ...gone],
    ...(routed.length > 0 && { routed }),
    ...(unrouted.length > 0 && { unrouted }),
    ...(page.receipts && { receipts: page.receipts }),
    counted: sum(sum(sum(counted, made.counted), left), { pages: 1, bytes, rows: taken.count, repeated }),
    position: after,
    requestedAt,
    log: {
      window: position.window ?? position,
      pass: position.pass.no,
      requestedAt,
      durationMs: Math.round(answer.durationMs),
      tries: asking.requests,
      waitedMs: asking.waitedMs,
      bytes,
      rows: taken.count,
      fresh: taken.fresh,
      mark: taken.mark,
      fingerprint: page.fingerprint,
      seen: taken.seen,
      skipped: skipped.slice(0, mostSkipped),
    },
  };
}

/** Of stored reservations that the partner lists and does not have any more. */
async function cancellations(
  ports: Pick<PullPorts, 'runs' | 'clock'>,
  { brand }: PullPlan,
  run: Run,
  missing: readonly string[],
): Promise<Statement[]> {
  const arrival = arrivalOf(run, ports.clock.now());
  const statements: Statement[] = [];
  for (const key of missing) {
    const stored = await ports.runs.storedReservation(brand.integration, `${brand.idPrefix ?? ''}${key}`);
    if (stored !== undefined && goneIsCancelled(stored)) statements.push(cancelled(stored, arrival));
  }
  return statements;
}

/** Where rows come from: a page of a run, or several of its pages. */
interface PageSource {
  readonly plan: PullPlan;
  readonly run: Run;
  readonly position: Position;
  readonly requestedAt: EpochMs;
}

type MadePage = Pick<PageCommit, 'statements' | 'known' | 'staged' | 'readLate' | 'counted'> & {
  /** Ids of rows that are not for this run. */
  readonly skipped: string[];
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
  const arrival: Receipt = { mode: 'pull', effectiveAt, cause: 'run', causeId: run.runId, ...trace };
  // A bare cancellation is applied after the row of the same reservation in the same answer.
  const later: Receipt = { ...arrival, effectiveAt: effectiveAt + 1 };
  const isWanted: Selection = selectionOf(run, plan.settings, position);
  const statements: Statement[] = [];
  const skipped: string[] = [];
  for (const [i, raw] of raws.entries()) {
    const one = read(plan.brand, raw, raw.partial ? later : arrival);
    if (one.record === undefined || one.dropped !== undefined) statements.push(one);
    else if (!isWanted(one.record as Reservation)) skipped.push(one.id);
    else statements.push({ ...one, listed: listed[i] });
  }
  const counted = sum(noCounts, { fetched: raws.length, skipped: skipped.length });
  return { statements, counted, skipped };
}
