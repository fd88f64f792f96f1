import type { ErrorCode } from '../../errors.ts';
import { firstPass, type PassState } from './run-state.ts';

/** What follows the last page of a pass: the list once more, or the end of the window, with what is wrong with it. */
export type Verdict =
  | { readonly kind: 'again'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

const mostPasses = 4;

/**
 * The partner says that this was the last page. Was it all? A list that is paged by counting and spans pages is gone through
 * again until a pass brings nothing new and shows no row twice: rows that move from a part not yet read to one already read
 * are found in no other way, and neither an overlap of pages nor the total shows them when something else makes up for the
 * count. `pages` leaves out one that only confirmed a short page.
 */
export function afterLastPage(pass: PassState, pages: number): Verdict {
  const short = pass.total !== undefined && pass.distinct < pass.total;
  const moved = pass.counting && pass.doubles > 0;
  const unproven = pass.no === 1 && pages > 1 && ((pass.counting && pass.distinct > 0) || short);
  const news = pass.no > 1 && pass.fresh > 0;
  const doubtful = unproven || news || moved || pass.repeats > 0;
  if (doubtful && pass.no < mostPasses) {
    const { no, distinct, counting } = pass;
    return { kind: 'again', pass: { ...firstPass, no: no + 1, distinct, counting } };
  }
  if (doubtful && pass.repeats > 0) {
    return done('pull.page_repeated', `${pass.repeats} of ${pass.pages} pages came twice at every pass`);
  }
  if (doubtful && news)
    return done('pull.list_unstable', `pass ${pass.no} over the list still brought ${pass.fresh} new rows`);
  if (doubtful) return done('pull.list_unstable', `${pass.doubles} rows came on two pages at every pass`);
  if (short) return done('pull.total_not_reached', `the partner counts ${pass.total}, and ${pass.distinct} came`);
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
