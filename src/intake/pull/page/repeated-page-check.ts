import type { Pagination } from '../../../documents/connector-pagination.ts';
import type { AskCounts } from '../../../outbound/ask/asked.ts';
import { addedParameters } from '../../../outbound/auth/secrets.ts';
import { asksByDays } from '../request/list-request.ts';
import type { Position } from '../run/run-state.ts';
import type { WholePage } from './page.ts';
import { paginatorFor } from './paginate/paginate.ts';
import type { Next } from './paginate/paginator.ts';
import { type CheckedRun, probe } from './probe.ts';

/**
 * Finds a partner that ignores the offset or the page number. A short first page is confirmed by one more request; if the same rows
 * come again, they are the whole list, or the server caps its pages and ignores the parameter. To tell the two apart, the second page is
 * requested with half the limit: if it has exactly that many rows and begins with the first row again, the parameter is ignored.
 *
 * Without a limit there is no such proof, and the repeated page is reported.
 */
export class RepeatedPageCheck {
  readonly #checked: CheckedRun;
  #first: number | undefined;
  /** The result of the one check of a run. */
  #found: Promise<Next | undefined> | undefined;

  constructor(checked: CheckedRun) {
    this.#checked = checked;
  }

  /** What follows the page: unchanged, or broken off if paging does not work. */
  async after(position: Position, page: WholePage, next: Next, counts: AskCounts): Promise<Next> {
    const { plan, run } = this.#checked;
    const { pagination } = plan.settings;
    const { pass } = position;
    if (pass.no === 1 && pass.pages === 0) this.#first = page.fingerprint;
    const isRepeat = pass.confirms === true && page.fingerprint !== 0 && page.fingerprint === this.#first;
    if (!isRepeat || page.total !== undefined || !isCounted(pagination)) return next;
    if (pagination.limit === undefined && !('end' in pagination)) return ignored(pagination);
    if (page.count < smallestCap || !asksByDays(plan.settings, run)) return next;
    this.#found ??= this.#check(position, page, pagination, counts);
    return (await this.#found) ?? next;
  }

  async #check(
    position: Position,
    whole: WholePage,
    pagination: Counted,
    counts: AskCounts,
  ): Promise<Next | undefined> {
    const half = Math.floor(whole.count / 2);
    const paginator = paginatorFor({ ...pagination, page_size: half }, addedParameters(this.#checked.plan.settings));
    const second = paginator.after(paginator.first, { rows: half, body: null, headers: {}, url: '' });
    if (second.kind !== 'next') return undefined;
    const at = { ...position, pass: { ...position.pass, page: second.state } };
    const found = await probe(this.#checked, paginator, at, counts);
    if (found?.page.count !== half) return undefined;
    return found.page.rows[0]?.identity === whole.rows[0]?.identity ? ignored(pagination) : undefined;
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
