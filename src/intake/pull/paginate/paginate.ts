import type { Pagination } from '../settings.ts';
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

export function paginatorFor(pagination: Pagination): Paginator {
  switch (pagination.type) {
    case 'offset':
      return offsetPaginator(pagination);
    case 'page':
      return pagePaginator(pagination);
    case 'cursor':
      return cursorPaginator(pagination);
    case 'link':
      return linkPaginator(pagination);
    case 'url':
      return urlPaginator(pagination);
    case 'none':
      return onePage;
  }
}
