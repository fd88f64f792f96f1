import type { ErrorCode } from '../../errors.ts';
import { firstPass, type PassState } from './run-state.ts';

/** What follows the last page of a pass: the list once more, or the end of the window, with what is wrong with it. */
export type Verdict =
  | { readonly kind: 'again'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

const mostPasses = 4;

/**
 * The partner says that this was the last page. Was it all?
 *
 * A list that is paged by counting and has rows on more than one page is gone through again until a pass brings nothing new
 * and shows no row twice: rows that move from a part not yet read to one already read are found in no other way, and neither
 * an overlap of pages nor the total shows them when something else makes up for the count. A cursor or a link is the partner's
 * own word for where the list goes on: such a list is read once, and once more where a page came in place of another or the
 * partner counts more than came, because something was booked meanwhile. A total that counts something else costs that one
 * pass and no more.
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
  if (repeats > 0) return done('pull.page_repeated', `${repeats} of ${pass.pages} pages came twice at every pass`);
  if (news) return done('pull.list_unstable', `pass ${no} over the list still brought ${fresh} new rows`);
  if (moved) return done('pull.list_unstable', `${doubles} rows came on two pages at every pass`);
  if (total !== undefined && distinct < total) {
    return done('pull.total_not_reached', `the partner counts ${total}, and ${distinct} came`);
  }
  return { kind: 'done' };
}

/** Paging went wrong. The count can still show that nothing is missing; an endless list's count shows nothing. */
export function brokenOff(pass: PassState, code: ErrorCode, message: string): Verdict {
  const isWhole = code !== 'pull.endless' && pass.distinct > 0 && pass.distinct === pass.total;
  return isWhole ? { kind: 'done' } : done(code, message);
}

function done(code: ErrorCode, message: string): Verdict {
  return { kind: 'done', finding: { code, message } };
}
