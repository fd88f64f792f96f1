import type { ErrorCode } from '../../../errors.ts';
import { isProven } from '../page/overlap.ts';
import { firstPass, type PassState } from './run-state.ts';

/** What follows the last page of a pass: another pass, or the end of the window with its finding. */
export type PassEnd =
  | { readonly kind: 'again'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

const mostPasses = 4;

/**
 * Decides whether the list was read completely.
 *
 * A counted list (offset, page number) with rows on more than one page is read again until a pass finds nothing new, no row twice
 * and no row less, or until overlapping pages and the total prove the pass (overlap.ts). Without a total or by page number, only another
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
