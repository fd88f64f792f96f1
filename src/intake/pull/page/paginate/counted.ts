import type { Pagination } from '../../../../documents/connector-pagination.ts';
import type { Next, PageState, Paginator, SeenPage } from './paginator.ts';

/**
 * Counted paging: offset and page number. This table decides where such a list ends:
 *
 *   an empty page                                   the end
 *   a page of the expected size, or larger          the next page
 *   a smaller one, before the total is reached      the next page: the server caps its pages
 *   a smaller one, the total reached                the end
 *   the first one, smaller, without a total         one more request: a server that caps its pages looks the same
 *   a later one, smaller, without a total           the end
 *
 * The expected size is the requested limit, or the size of the first page if that was smaller. A total can only continue a list,
 * never end it: totals are wrong too often.
 */
export function offsetPaginator({
  offset,
  limit,
  end,
  page_size: pageSize,
  first,
}: Extract<Pagination, { type: 'offset' }>): Paginator {
  return {
    first: { at: first, rows: 0 },
    counts: true,
    placements: ({ at }) => [
      { place: offset, value: Number(at) },
      ...(limit === undefined ? [] : [{ place: limit, value: pageSize }]),
      // Where the partner excludes its end, pages are one row shorter, and the rows received still decide where the next one begins.
      ...(end === undefined ? [] : [{ place: end, value: Number(at) + pageSize - 1 }]),
    ],
    after: (state, page) => {
      const next = goOn(state, page, pageSize, { at: Number(state.at) + page.rows });
      return next.kind === 'next' ? withOverlap(next.state, page) : next;
    },
  };
}

export function pagePaginator({
  page: place,
  limit,
  page_size: pageSize,
  first,
}: Extract<Pagination, { type: 'page' }>): Paginator {
  // If no limit is sent, the first page shows the server's page size.
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

const mostOverlap = 3;

function withOverlap(state: PageState, { rows, total }: SeenPage): Next {
  const overlap = Math.min(mostOverlap, Math.floor(rows / 4));
  if (overlap === 0 || total === undefined || Number(state.rows) >= total) return { kind: 'next', state };
  return { kind: 'next', state, overlapping: { ...state, at: Number(state.at) - overlap, overlap } };
}

function goOn(state: PageState, page: SeenPage, asked: number | undefined, place: PageState): Next {
  if (page.rows === 0) return { kind: 'end' };
  const rows = Number(state.rows) + page.rows - Number(state.overlap ?? 0);
  const isFirst = state.size === undefined;
  const size = isFirst ? Math.min(asked ?? page.rows, page.rows) : Number(state.size);
  const next: Next = { kind: 'next', state: { ...place, rows, size } };
  if (page.total !== undefined) return page.rows >= (asked ?? size) || rows < page.total ? next : { kind: 'end' };
  if (!isFirst) return page.rows >= size ? next : { kind: 'end' };
  return asked !== undefined && page.rows >= asked ? next : { ...next, kind: 'short' };
}
