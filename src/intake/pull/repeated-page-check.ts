import type { AskCounts, Asker } from './ask.ts';
import { asksByDays } from './list-request.ts';
import { readPage, type WholePage } from './page.ts';
import { pageRequest } from './page-request.ts';
import { paginatorFor } from './paginate/paginate.ts';
import type { Next } from './paginate/paginator.ts';
import type { PullPlan } from './ports.ts';
import type { Position, Run } from './run-state.ts';
import { addedParameters, type Pagination } from './settings.ts';

/**
 * Finds a partner that ignores the offset or the page number. A short first page is confirmed by one more request; if the same rows
 * come again, they are the whole list, or the server caps its pages and ignores the parameter. To tell the two apart, the second page is
 * requested with half the limit: if it has exactly that many rows and begins with the first row again, the parameter is ignored.
 *
 * Without a limit there is no such proof, and the repeated page is reported.
 */
export class RepeatedPageCheck {
  readonly #asker: Asker;
  readonly #plan: PullPlan;
  readonly #run: Run;
  #first: number | undefined;
  /** The result of the one check of a run. */
  #found: Promise<Next | undefined> | undefined;

  constructor(asker: Asker, plan: PullPlan, run: Run) {
    this.#asker = asker;
    this.#plan = plan;
    this.#run = run;
  }

  /** What follows the page: unchanged, or broken off if paging does not work. */
  async after(position: Position, page: WholePage, next: Next, counts: AskCounts): Promise<Next> {
    const { settings } = this.#plan;
    const { pagination } = settings;
    const { pass } = position;
    if (pass.no === 1 && pass.pages === 0) this.#first = page.fingerprint;
    const isRepeat = pass.confirms === true && page.fingerprint !== 0 && page.fingerprint === this.#first;
    if (!isRepeat || page.total !== undefined || !isCounted(pagination)) return next;
    if (pagination.limit === undefined) return ignored(pagination);
    if (page.count < smallestCap || !asksByDays(settings, this.#run)) return next;
    this.#found ??= this.#check(position, page, pagination, counts);
    return (await this.#found) ?? next;
  }

  async #check(
    position: Position,
    whole: WholePage,
    pagination: Counted,
    counts: AskCounts,
  ): Promise<Next | undefined> {
    const { settings } = this.#plan;
    const half = Math.floor(whole.count / 2);
    const paginator = paginatorFor({ ...pagination, pageSize: half }, addedParameters(settings));
    const second = paginator.after(paginator.first, { rows: half, body: null, headers: {}, url: '' });
    if (second.kind !== 'next') return undefined;
    const at = { ...position, pass: { ...position.pass, page: second.state } };
    const request = pageRequest(settings, this.#run, paginator, at);
    const asked = await this.#asker.ask(request, { canShrink: false, firstPage: false, counts });
    if (asked.kind !== 'answer') return undefined;
    const page = readPage(this.#plan, asked);
    if (page.kind !== 'page' || page.count !== half) return undefined;
    return page.rows[0]?.identity === whole.rows[0]?.identity ? ignored(pagination) : undefined;
  }
}

/** Servers that cap their pages allow at least this many rows. A shorter list is not worth a request at each poll. */
const smallestCap = 10;

/** Paging by offset or page number. */
type Counted = Extract<Pagination, { type: 'offset' | 'page' }>;

function isCounted(pagination: Pagination): pagination is Counted {
  return pagination.type === 'offset' || pagination.type === 'page';
}

function ignored(pagination: Counted): Next {
  const place = pagination.type === 'offset' ? pagination.offset : pagination.page;
  return {
    kind: 'broken',
    code: 'pull.page_repeated',
    message: `the second page begins with the first row again: the partner ignores ${place}`,
  };
}
