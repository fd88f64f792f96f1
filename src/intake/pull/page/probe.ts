import type { Asker } from '../../../outbound/ask/ask.ts';
import type { AnswerRead, AskCounts } from '../../../outbound/ask/asked.ts';
import type { PullPlan } from '../ports.ts';
import { pageRequest } from '../request/page-request.ts';
import type { Position, Run } from '../run/run-state.ts';
import { readPage, type WholePage } from './page.ts';
import type { Paginator } from './paginate/paginator.ts';

/** The run whose paging is checked. */
export interface CheckedRun {
  readonly asker: Asker;
  readonly plan: PullPlan;
  readonly run: Run;
}

/** Requests a page only to learn how the partner pages: its rows are not taken. Undefined without a readable answer. */
export async function probe(
  { asker, plan, run }: CheckedRun,
  paginator: Paginator,
  position: Position,
  counts: AskCounts,
): Promise<{ readonly page: WholePage; readonly answer: AnswerRead } | undefined> {
  const request = pageRequest(plan.settings, run, paginator, position);
  const answer = await asker.ask(request, { canShrink: false, firstPage: false, counts });
  if (answer.kind !== 'answer') return undefined;
  const page = readPage(plan, answer);
  return page.kind === 'page' ? { page, answer } : undefined;
}
