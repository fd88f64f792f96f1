import type { Pagination } from '../settings.ts';
import type { Next, PageState, Paginator, SeenPage } from './paginator.ts';

/**
 * Paging by counting: offset and page number. It ends at an empty page or one smaller than the limit. A total only ever makes
 * it go on (a server that caps its pages sends short ones before the end) and never makes it stop: totals are wrong too often.
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
    after: (state, page) => {
      const rows = Number(state.rows) + page.rows;
      return goOn(page, rows, pageSize, { at: Number(state.at) + page.rows, rows });
    },
  };
}

export function pagePaginator({
  page: place,
  limit,
  pageSize,
  first,
}: Extract<Pagination, { type: 'page' }>): Paginator {
  return {
    first: { page: first, rows: 0 },
    counts: true,
    placements: ({ page }) => [
      { place, value: Number(page) },
      ...(limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    ],
    after: (state, page) => {
      const rows = Number(state.rows) + page.rows;
      return goOn(page, rows, pageSize, { page: Number(state.page) + 1, rows });
    },
  };
}

function goOn(page: SeenPage, rows: number, pageSize: number, state: PageState): Next {
  if (page.rows === 0) return { kind: 'end' };
  if (page.rows >= pageSize) return { kind: 'next', state };
  if (page.total === undefined) return { kind: 'short', state };
  return rows < page.total ? { kind: 'next', state } : { kind: 'end' };
}
