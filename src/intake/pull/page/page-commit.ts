import { localDateAt } from '../../../canonical/dates.ts';
import { pathReader } from '../../../json-path/read.ts';
import type { AnswerRead, AskCounts } from '../../../outbound/ask/asked.ts';
import type { Json } from '../../../terms.ts';
import type { PullPlan, PullPorts } from '../ports.ts';
import type { Taken } from '../run/pass.ts';
import { type Counters, type PageCommit, type Position, type Run, sum } from '../run/run-state.ts';
import type { WholePage } from './page.ts';
import { type PageSource, preparePage, recognisableRows } from './prepare-page.ts';
import { planFor, routeRows } from './routing.ts';
import type { Row } from './row.ts';

/** A page that was read, with the positions around it. */
export interface ReadPage {
  readonly position: Position;
  readonly after: Position;
  readonly page: WholePage;
  readonly taken: Taken;
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
  ports: Pick<PullPorts, 'runs'>,
  plan: PullPlan,
  run: Run,
  { position, after, page, taken, answer, asking, counted }: ReadPage,
): Promise<PageCommit> {
  const { requestedAt, bytes } = answer;
  // A second pass shows the same rows again.
  const { no, plainFrom = 1 } = position.pass;
  const repeated = no === plainFrom ? page.repeated : 0;
  const { own, others, unrouted } = routeRows(plan, taken.rows);
  const { skipped, ...made } = await prepared(ports, { plan, run, position, requestedAt }, own);
  const routed = [];
  const skippedOf = [...skipped];
  for (const { brand, rows } of others) {
    const today = localDateAt(brand.body.timezone, requestedAt);
    const source = { plan: planFor(plan, brand), run, position: { ...position, today }, requestedAt };
    const { skipped: notIts, ...its } = await prepared(ports, source, rows);
    skippedOf.push(...notIts);
    routed.push({ ...its, brand });
  }
  const receipt = plan.settings.acknowledge?.ids;
  const receipts = receipt === undefined ? undefined : taken.rows.flatMap(({ raw }) => textAt(receipt, raw.value));
  const left = { fetched: unrouted.length, skipped: unrouted.length };
  return {
    ...made,
    ...(routed.length > 0 && { routed }),
    ...(unrouted.length > 0 && { unrouted }),
    ...(receipts && { receipts }),
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
      skipped: skippedOf.slice(0, mostSkipped),
    },
  };
}

function textAt(path: string, row: Json): string[] {
  const value = pathReader(path)(row);
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : [];
}

async function prepared(
  ports: Pick<PullPorts, 'runs'>,
  page: PageSource,
  rows: readonly Row[],
): Promise<ReturnType<typeof preparePage>> {
  const { plan } = page;
  const recognisable = plan.brand.shapers.pull.flat ? [] : recognisableRows(rows, plan.brand);
  const known = await ports.runs.known(plan.brand, recognisable);
  return preparePage(page, rows, known);
}
