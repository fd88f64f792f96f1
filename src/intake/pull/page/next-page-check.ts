import type { Pagination } from '../../../documents/connector-pagination.ts';
import type { AnswerRead, AskCounts } from '../../../outbound/ask/asked.ts';
import { addedParameters } from '../../../outbound/auth/secrets.ts';
import { asksByDays } from '../request/list-request.ts';
import type { Position } from '../run/run-state.ts';
import type { WholePage } from './page.ts';
import { paginatorFor } from './paginate/paginate.ts';
import type { Next, SeenPage } from './paginate/paginator.ts';
import { type CheckedRun, probe } from './probe.ts';

/** The parts of an answer that decide which page is next. */
export function seenPage({ count, total }: WholePage, { body, headers, url }: AnswerRead): SeenPage {
  return { rows: count, ...(total !== undefined && { total }), body: body ?? null, headers, url };
}

/**
 * Finds a connector whose paging never finds the next page. Such a list looks as if it had one page. To prove it, the first page is
 * requested again with half the limit: an answer with exactly that many rows is not the whole list, so it must name another page.
 *
 * A run checks a full page only, which costs one request where a list is exactly as long as a page. A dry run checks any page. Lists
 * without dates are not checked: a partner may show each of their rows once.
 */
export class NextPageCheck {
  readonly #checked: CheckedRun;
  readonly #anyPage: boolean;
  /** The result of the one check of a run. */
  #found: Promise<Next | undefined> | undefined;

  constructor(checked: CheckedRun, anyPage: boolean) {
    this.#checked = checked;
    this.#anyPage = anyPage;
  }

  /** What follows the page: unchanged, or broken off if the check proves that there is another page. */
  async after(position: Position, page: WholePage, next: Next, counts: AskCounts): Promise<Next> {
    const { plan, run } = this.#checked;
    const { pagination } = plan.settings;
    const { pass } = position;
    const isWhole = next.kind === 'end' && pass.no === 1 && pass.pages === 0;
    if (!isWhole || page.total !== undefined || page.count < 2) return next;
    if (!hasNextPath(pagination) || pagination.limit === undefined || !asksByDays(plan.settings, run)) return next;
    if (!this.#anyPage && page.count < pagination.page_size) return next;
    this.#found ??= this.#check(position, page.count, pagination, counts);
    return (await this.#found) ?? next;
  }

  async #check(position: Position, rows: number, pagination: Handed, counts: AskCounts): Promise<Next | undefined> {
    const half = Math.floor(rows / 2);
    const paginator = paginatorFor({ ...pagination, page_size: half }, addedParameters(this.#checked.plan.settings));
    const found = await probe(this.#checked, paginator, position, counts);
    if (found?.page.count !== half) return undefined;
    if (paginator.after(paginator.first, seenPage(found.page, found.answer)).kind === 'next') return undefined;
    const where = pagination.type === 'link' ? 'the Link header' : `pagination.next (${pagination.next})`;
    const message = `a page with ${half} of at least ${rows} rows names no next page at ${where}`;
    return { kind: 'broken', code: 'pull.next_not_found', message };
  }
}

/** Paging in which each page names the next one. */
type Handed = Exclude<Pagination, { type: 'offset' | 'page' | 'none' }>;

function hasNextPath(pagination: Pagination): pagination is Handed {
  return pagination.type !== 'offset' && pagination.type !== 'page' && pagination.type !== 'none';
}
