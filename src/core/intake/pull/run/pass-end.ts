import type { ErrorCode } from '../../../../errors.ts';
import type { EpochMs } from '../../../../terms.ts';
import type { PullSettings } from '../../../documents/pull.ts';
import type { WholePage } from '../page/page.ts';
import type { Next, PageState } from '../page/paginate.ts';
import { firstPass, type Joint, type PassState } from './run-state.ts';

/** What follows the last page of a pass: another pass, or the end of the window with its finding. */
export type PassEnd =
  | { readonly kind: 'again'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

const mostPasses = 4;

/**
 * Decides whether the list was read completely.
 *
 * A counted list (offset, page number) with rows on more than one page is read again until a pass finds nothing new, no row twice
 * and no row less, or until overlapping pages and the total prove the pass (below). Without a total or by page number, only another
 * pass finds a row that moved from an unread page to one already read. A cursor or link is the partner's own continuation, so
 * such a list is read once, and a second time if a page was repeated or the total is higher than the rows received. A total that
 * counts something else costs that one pass only. Where absence alone cancels a reservation, every list is read twice: one wrong answer,
 * such as an empty list, must not cancel anything.
 */
export function afterLastPage(pass: PassState, counts: boolean, isReadTwice: boolean): PassEnd {
  const { no, total, distinct, fresh, doubles, repeats, slips = 0, plainFrom, rows, rowsBefore = 0 } = pass;
  if (isProven(pass)) return { kind: 'done' };
  // A first pass that was broken off because an overlap was refused does not count.
  const turn = no - (plainFrom ?? 1) + 1;
  const spansPages = pass.pages - pass.emptyPages > 1;
  const unproven = turn === 1 && (isReadTwice || (counts && spansPages));
  const news = counts && turn > 1 && fresh > 0;
  const moved = counts && doubles + slips > 0;
  // Without overlap, fewer rows than before can be a removal, or a row that a removal moved to a page already read. The last pass is
  // accepted: a row would have to be hidden in all of them.
  const shrank = counts && pass.joint === undefined && rows < rowsBefore;
  const missing = turn === 1 && spansPages && total !== undefined && distinct < total;
  const doubtful = unproven || news || moved || shrank || missing || repeats > 0;
  if (doubtful && turn < mostPasses) {
    const again = { ...firstPass, no: no + 1, distinct, rowsBefore: rows };
    return { kind: 'again', pass: plainFrom === undefined ? again : { ...again, plainFrom } };
  }
  if (repeats > 0) return done('pull.page_repeated', `${repeats} of ${pass.pages} pages were repeated in every pass`);
  if (news) return done('pull.list_unstable', `pass ${no} over the list still found new rows (${fresh})`);
  if (doubles > 0 && counts) return done('pull.list_unstable', `rows appeared on two pages in every pass (${doubles})`);
  if (moved) return done('pull.list_unstable', `rows moved between pages in every pass (${slips})`);
  if (total !== undefined && distinct < total) {
    return done('pull.total_not_reached', `the partner reports a total of ${total}, but sent ${distinct}`);
  }
  return { kind: 'done' };
}

/**
 * Acknowledged rows leave the list, so it is requested again until it is empty or shows only what this node has acknowledged. The latter is
 * an error in a queue; a list by dates may keep acknowledged rows.
 */
export function afterBatch({ no, fresh, rows, distinct }: PassState, mostPasses: number, byDays: boolean): PassEnd {
  if (fresh > 0 && no < mostPasses) return { kind: 'again', pass: { ...firstPass, no: no + 1, distinct } };
  if (fresh > 0) return done('pull.endless', `the queue was not empty after ${no} requests`);
  if (rows === 0 || byDays) return { kind: 'done' };
  return done('pull.page_repeated', `the partner lists ${rows} rows again after the call that acknowledges them`);
}

/** Paging failed. The total can still prove that nothing is missing, except for an endless list. */
export function brokenOff(pass: PassState, code: ErrorCode, message: string): PassEnd {
  const isWhole = code !== 'pull.endless' && pass.distinct > 0 && pass.distinct === pass.total;
  return isWhole ? { kind: 'done' } : done(code, message);
}

function done(code: ErrorCode, message: string): PassEnd {
  return { kind: 'done', finding: { code, message } };
}

/**
 * Proves that an offset list was read completely in one pass. Each page begins a few rows before the end of the last one. The pass
 * is proven if every page begins with exactly those rows, every page reports the same total, no row appears twice elsewhere, and
 * there are as many rows as the total says. Otherwise the list is read again.
 *
 * What can happen between two requests, and what shows it:
 *
 *   a row leaves the part already read, or moves from it to the rest     other rows at the boundary
 *   a row appears in the part already read, or moves into it             other rows at the boundary
 *   a row appears or disappears in the rest                              the total
 *   one row leaves the part already read, and another appears in it      nothing. No row of the rest is missed
 *   two rows change places across the boundary                           the one that moved to the rest appears twice
 *   a row moves to the part already read, and another leaves the list    the total
 *
 * One combination stays undetected, and the row that moved is missed: between the same two requests, one row moves from the rest to
 * the part already read, another leaves that part, and a third appears in the rest. (The same in two steps: two rows change places
 * across the boundary, and before its page is read the second one disappears while a third appears.) This needs an order in which
 * rows appear and move in both directions, such as by name. It cannot happen in a list by creation or modification time, where new
 * and changed rows all go to the same end. It is accepted because the next run over the same window reads the row. It must not have
 * a lasting effect: where absence from the list alone cancels a reservation, lists are not overlapped (`mayOverlap`), and a boundary
 * with more than 30 seconds between its requests proves nothing.
 */
export function mayOverlap({ gone, single }: Pick<PullSettings, 'gone' | 'single'>): boolean {
  return gone !== 'cancelled' || single !== undefined;
}

const longestGapMs = 30_000;

/** What one page shows about the boundary before it. */
interface Boundary {
  /** The rows at the start of the page that the last page showed too. */
  readonly overlap: number;
  /** The page does not begin with the last rows of the page before. */
  readonly slipped: boolean;
  /** Absent if the pass does not overlap its pages. */
  readonly joint?: Pick<Joint, 'at' | 'proves'>;
}

export function boundaryAt(pass: PassState, page: WholePage, at: EpochMs, overlaps: boolean): Boundary {
  // Only where each counted row is one row of the page can rows be compared by position.
  const isComparable = page.count === page.rows.length;
  if (pass.pages === 0) {
    const begins = overlaps && pass.plainFrom === undefined && page.total !== undefined && isComparable;
    return { overlap: 0, slipped: false, ...(begins && { joint: { at, proves: true } }) };
  }
  const { joint } = pass;
  if (joint === undefined) return { overlap: 0, slipped: false };
  const { ids } = joint;
  // Everything was read before; this page only shows that the list ends.
  if (ids.length === 0 && page.count === 0) return { overlap: 0, slipped: false, joint };
  const slipped = !ids.every((id, i) => page.rows[i]?.identity === id);
  const isCertain = !slipped && isComparable && page.total === pass.total && at - joint.at <= longestGapMs;
  return { overlap: slipped ? 0 : ids.length, slipped, joint: { at, proves: joint.proves && isCertain } };
}

/**
 * Whether the second page shows that the server supports only multiples of the page size as offset: it is the first page again, or
 * the next page without the overlap. A list that moved shows some of the rows. `again`: the rows that the first page showed too.
 */
export function isRounded(pass: PassState, { slipped }: Boundary, page: WholePage, again: number): boolean {
  return slipped && pass.no === 1 && pass.pages === 1 && (again === 0 || again === page.rows.length);
}

/** Where to continue, and the joint with it. */
export function continued(
  { state, overlapping }: Extract<Next, { kind: 'next' }>,
  { rows }: WholePage,
  { joint, ...after }: PassState,
): { readonly page: PageState; readonly joint?: Joint } {
  if (joint !== undefined && overlapping !== undefined) {
    const ids = rows.slice(-Number(overlapping.overlap)).map(({ identity }) => identity);
    return { page: overlapping, joint: { ...joint, ids } };
  }
  const isAll = after.total !== undefined && after.rows >= after.total;
  return { page: state, ...(joint && isAll && { joint: { ...joint, ids: [] } }) };
}

/** Whether the pass, read to its end, proves by itself that the list is complete. */
function isProven({ joint, rows, total, doubles, repeats }: PassState): boolean {
  return joint?.proves === true && rows === total && doubles === 0 && repeats === 0;
}

/** The pass that begins the list again, without overlap. */
export function withoutOverlap({ no, distinct }: PassState): PassState {
  return { ...firstPass, no: no + 1, distinct, plainFrom: no + 1 };
}

/** The first pass of the next window: a server that does not support overlaps is not asked for another in the same run. */
export function firstPassAfter({ plainFrom }: PassState): PassState {
  return plainFrom === undefined ? firstPass : { ...firstPass, plainFrom: 1 };
}
