import type { ErrorCode } from '../../errors.ts';
import { firstPass, type PassState } from './run-state.ts';

/** What follows the last page of a pass: another pass, or the end of the window with its finding. */
export type Verdict =
  | { readonly kind: 'again'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

const mostPasses = 4;

/**
 * Decides whether the list was read completely.
 *
 * A counted list (offset, page number) with rows on more than one page is read again until a pass finds nothing new and no row
 * twice. There is no other way to find a row that moved from an unread page to one already read: neither overlapping pages nor
 * the total reveal it if another change keeps the count right. A cursor or link is the partner's own continuation, so such a
 * list is read once, and a second time if a page was repeated or the total is higher than the rows received. A total that
 * counts something else costs that one pass only.
 */
export function afterLastPage(pass: PassState, counts: boolean): Verdict {
  const { no, total, distinct, fresh, doubles, repeats } = pass;
  const spansPages = pass.pages - pass.emptyPages > 1;
  const unproven = counts && no === 1 && spansPages;
  const news = counts && no > 1 && fresh > 0;
  const moved = counts && doubles > 0;
  const missing = no === 1 && spansPages && total !== undefined && distinct < total;
  const doubtful = unproven || news || moved || missing || repeats > 0;
  if (doubtful && no < mostPasses) return { kind: 'again', pass: { ...firstPass, no: no + 1, distinct } };
  if (repeats > 0) return done('pull.page_repeated', `${repeats} of ${pass.pages} pages were repeated in every pass`);
  if (news) return done('pull.list_unstable', `pass ${no} over the list still found new rows (${fresh})`);
  if (moved) return done('pull.list_unstable', `rows appeared on two pages in every pass (${doubles})`);
  if (total !== undefined && distinct < total) {
    return done('pull.total_not_reached', `the partner reports a total of ${total}, but sent ${distinct}`);
  }
  return { kind: 'done' };
}

/** Paging failed. The total can still prove that nothing is missing, except for an endless list. */
export function brokenOff(pass: PassState, code: ErrorCode, message: string): Verdict {
  const isWhole = code !== 'pull.endless' && pass.distinct > 0 && pass.distinct === pass.total;
  return isWhole ? { kind: 'done' } : done(code, message);
}

function done(code: ErrorCode, message: string): Verdict {
  return { kind: 'done', finding: { code, message } };
}
