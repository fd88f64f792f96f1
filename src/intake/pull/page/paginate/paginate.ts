import type { Pagination } from '../../../../documents/connector-pagination.ts';
import { offsetPaginator, pagePaginator } from './counted.ts';
import { cursorPaginator } from './cursor.ts';
import { linkPaginator, urlPaginator } from './link.ts';
import type { Paginator } from './paginator.ts';

/** A single answer for the window. */
const onePage: Paginator = {
  first: {},
  counts: false,
  placements: () => [],
  after: () => ({ kind: 'end' }),
};

/** `added`: the query parameters that every request of the integration gets, such as a key. */
export function paginatorFor(pagination: Pagination, added: ReadonlySet<string> = new Set()): Paginator {
  switch (pagination.type) {
    case 'offset':
      return offsetPaginator(pagination);
    case 'page':
      return pagePaginator(pagination);
    case 'cursor':
      return cursorPaginator(pagination);
    case 'link':
      return linkPaginator(pagination, added);
    case 'url':
      return urlPaginator(pagination, added);
    case 'none':
      return onePage;
  }
}
