import type { Pagination } from '../settings.ts';
import type { Next, PageState, Paginator, SeenPage } from './paginator.ts';

/**
 * Counted paging: offset and page number. This table decides where such a list ends:
 *
 *   an empty page                                   the end
 *   a page of the expected size, or larger          goes on
 *   a smaller one, before the total is reached      goes on: the server caps its pages
 *   a smaller one, the total reached                the end
 *   a smaller one, without a total                  the end; but a first page whose size looks like a server's cap is
 *                                                   asked behind once, so that a capped list is no silent loss
 *
 * The expected size is the limit that was asked for, or the size of the first page where that was smaller. A total only ever
 * makes it go on and never makes it stop: totals are wrong too often.
 */
export function offsetPaginator({
  offset,
  limit,
  pageSize,
  first,
}: Extract<Pagination, { type: 'offset' }>): Paginator {
  return {
    first: { at: first, rows: 0 },
    counts: true,
    placements: ({ at }) => [
      { place: offset, value: Number(at) },
      { place: limit, value: pageSize },
    ],
    after: (state, page) => goOn(state, page, pageSize, { at: Number(state.at) + page.rows }),
  };
}

export function pagePaginator({
  page: place,
  limit,
  pageSize,
  first,
}: Extract<Pagination, { type: 'page' }>): Paginator {
  // Where no limit is sent, the server's own size is all there is to go by: the first page shows it.
  const asked = limit === undefined ? undefined : pageSize;
  return {
    first: { page: first, rows: 0 },
    counts: true,
    placements: ({ page }) => [
      { place, value: Number(page) },
      ...(limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    ],
    after: (state, page) => goOn(state, page, asked, { page: Number(state.page) + 1 }),
  };
}

function goOn(state: PageState, page: SeenPage, asked: number | undefined, place: PageState): Next {
  if (page.rows === 0) return { kind: 'end' };
  const rows = Number(state.rows) + page.rows;
  const isFirst = state.size === undefined;
  const size = isFirst ? Math.min(asked ?? page.rows, page.rows) : Number(state.size);
  const next: Next = { kind: 'next', state: { ...place, rows, size } };
  if (page.total !== undefined) return page.rows >= (asked ?? size) || rows < page.total ? next : { kind: 'end' };
  if (!isFirst) return page.rows >= size ? next : { kind: 'end' };
  if (asked !== undefined && page.rows >= asked) return next;
  return asked === undefined || looksLikeCap(page.rows) ? { ...next, kind: 'short' } : { kind: 'end' };
}

/** Servers cap at round numbers: 10, 25, 50, 100, or 16, 32, 64. A list that ends by chance at one costs a request, no more. */
function looksLikeCap(rows: number): boolean {
  const isRound = rows >= 10 && rows % 5 === 0;
  const isPowerOfTwo = rows >= 16 && Number.isInteger(Math.log2(rows));
  return isRound || isPowerOfTwo;
}
