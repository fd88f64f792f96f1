import type { AnswerRead, AskCounts } from './ask.ts';
import type { WholePage } from './page.ts';
import type { Taken } from './pass.ts';
import type { PullPlan, PullPorts } from './ports.ts';
import { preparePage, recognisableRows } from './prepare-page.ts';
import { type Counters, type PageCommit, type Position, type Run, sum } from './run-state.ts';

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

/** Everything that the page changes: its records are mapped here, except rows that are known to change nothing. */
export async function makePageCommit(
  ports: Pick<PullPorts, 'runs'>,
  plan: PullPlan,
  run: Run,
  { position, after, page, taken, answer, asking, counted }: ReadPage,
): Promise<PageCommit> {
  const { requestedAt, bytes } = answer;
  // A second pass shows the same rows again.
  const repeated = position.pass.no === 1 ? page.repeated : 0;
  const { rows } = taken;
  const recognisable = plan.shaper.flat ? [] : recognisableRows(rows);
  const known = await ports.runs.known(plan.target, recognisable);
  const made = preparePage(plan, run, position, rows, known, requestedAt);
  return {
    ...made,
    counted: sum(sum(counted, made.counted), { pages: 1, bytes, rows: page.count, repeated }),
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
      rows: page.count,
      fresh: taken.fresh,
      mark: taken.mark,
      fingerprint: page.fingerprint,
      seen: taken.seen,
    },
  };
}
