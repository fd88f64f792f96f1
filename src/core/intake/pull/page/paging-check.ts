import type { Pagination } from '../../../documents/connector-pagination.ts';
import type { AnswerRead, AskCounts } from '../../../outbound/ask/ports.ts';
import { addedParameters } from '../../../outbound/auth/fixed.ts';
import { asksByDays, pageRequest } from '../request/list-request.ts';
import type { Position } from '../run/run-state.ts';
import type { RunContext } from '../run/run-work.ts';
import { readPage, type WholePage } from './page.ts';
import { type Next, type Paginator, paginatorFor, type SeenPage } from './paginate.ts';

/** Servers that cap their pages allow at least this many rows. A shorter list is not worth a request at each poll. */
const smallestCap = 10;

/** Paging by offset or page number. */
type Counted = Extract<Pagination, { type: 'offset' | 'page' }>;
/** Paging in which each page names the next one. */
type Handed = Exclude<Pagination, Counted | { type: 'none' }>;

/** The parts of an answer that decide which page is next. */
export function seenPage({ count, total }: WholePage, { body, headers, url }: AnswerRead): SeenPage {
  return { rows: count, ...(total !== undefined && { total }), body: body ?? null, headers, url };
}

/**
 * Finds paging that does not work, with at most one more request in a run, for half as many rows. Lists without dates are not checked: a
 * partner may show each of their rows once. Returns what follows a page: unchanged, or broken off.
 *
 * A next page that is never found looks like a list of one page. The first page is requested again with half the limit: an answer with
 * exactly that many rows is not the whole list, so it must name another page. A run checks a full page only, which costs one request where a
 * list is exactly as long as a page. A dry run checks any page.
 *
 * A partner may ignore the offset or the page number. A short first page is confirmed by one more request; if the same rows come again, they
 * are the whole list, or the server caps its pages and ignores the parameter. To tell the two apart, the second page is requested with
 * half the limit: if it has exactly that many rows and begins with the first row again, the parameter is ignored. Without a limit there is
 * no such proof, and the repeated page is reported.
 */
export function pagingCheck(context: RunContext) {
  const { settings } = context.plan;
  const { pagination } = settings;
  const byDays = asksByDays(settings, context.run);
  let first: number | undefined;
  /** The result of the one check of a run. */
  let probed: Promise<Next | undefined> | undefined;
  return async (position: Position, page: WholePage, next: Next, counts: AskCounts): Promise<Next> => {
    const { no, pages, confirms } = position.pass;
    if (no === 1 && pages === 0) first = page.fingerprint;
    if (page.total !== undefined || pagination.type === 'none') return next;
    if (pagination.type === 'offset' || pagination.type === 'page') {
      if (confirms !== true || page.fingerprint === 0 || page.fingerprint !== first) return next;
      if (pagination.limit === undefined) return ignored(pagination);
      if (page.count < smallestCap || !byDays) return next;
      probed ??= ignoresPlace(context, pagination, position, page, counts);
    } else {
      const least = context.ports.runs.isDryRun ? 2 : Math.max(2, pagination.page_size);
      const isWhole = next.kind === 'end' && no === 1 && pages === 0;
      if (!isWhole || page.count < least || pagination.limit === undefined || !byDays) return next;
      probed ??= namesNoNext(context, pagination, position, page, counts);
    }
    return (await probed) ?? next;
  };
}

type Check<P> = (
  context: RunContext,
  pagination: P,
  position: Position,
  page: WholePage,
  counts: AskCounts,
) => Promise<Next | undefined>;

const namesNoNext: Check<Handed> = async (context, pagination, position, { count }, counts) => {
  const half = Math.floor(count / 2);
  const paginator = halved(context, pagination, half);
  const next = await probe(context, paginator, position, counts);
  if (next?.page.count !== half) return undefined;
  if (paginator.after(paginator.first, seenPage(next.page, next.answer)).kind === 'next') return undefined;
  const where = pagination.type === 'link' ? 'the Link header' : `pagination.next (${pagination.next})`;
  const message = `a page with ${half} of at least ${count} rows names no next page at ${where}`;
  return { kind: 'broken', code: 'pull.next_not_found', message };
};

const ignoresPlace: Check<Counted> = async (context, pagination, position, { count, rows }, counts) => {
  const half = Math.floor(count / 2);
  const paginator = halved(context, pagination, half);
  const second = paginator.after(paginator.first, { rows: half, body: null, headers: {}, url: '' });
  if (second.kind !== 'next') return undefined;
  const at = { ...position, pass: { ...position.pass, page: second.state } };
  const next = await probe(context, paginator, at, counts);
  if (next?.page.count !== half) return undefined;
  return next.page.rows[0]?.identity === rows[0]?.identity ? ignored(pagination) : undefined;
};

const halved = ({ plan }: RunContext, pagination: Counted | Handed, half: number): Paginator =>
  paginatorFor({ ...pagination, page_size: half }, addedParameters(plan.settings));

/** Requests a page only to learn how the partner pages: its rows are not taken. Undefined without a readable answer. */
async function probe(
  { asker, plan, run, ports }: RunContext,
  paginator: Paginator,
  position: Position,
  counts: AskCounts,
) {
  const request = pageRequest(plan.settings, run, paginator, position, ports.clock.now());
  const answer = await asker.ask(request, { canShrink: false, firstPage: false, counts });
  if (answer.kind !== 'answer') return undefined;
  const page = readPage(plan, answer);
  return page.kind === 'page' ? { page, answer } : undefined;
}

function ignored(pagination: Counted): Next {
  const place = pagination.type === 'offset' ? pagination.offset : pagination.page;
  const message = `the second page begins with the first row again: the partner ignores ${place}`;
  return { kind: 'broken', code: 'pull.page_repeated', message };
}
