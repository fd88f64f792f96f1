import { pathReader } from '../read-path.ts';
import type { Pagination } from '../settings.ts';
import type { Paginator } from './paginator.ts';

/** Each page names the next one. A page without a cursor is the last; an empty page is not. The pass detects cursor loops. */
export function cursorPaginator({ next, cursor, limit, pageSize }: Extract<Pagination, { type: 'cursor' }>): Paginator {
  const read = pathReader(next);
  return {
    first: { cursor: null },
    counts: false,
    placements: (state) => [
      ...(state.cursor === null || state.cursor === undefined ? [] : [{ place: cursor, value: state.cursor }]),
      ...(limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    ],
    after: (_state, page) => {
      const named = read(page.body);
      if (named === undefined || named === null || named === '' || named === false) return { kind: 'end' };
      // A run stores its cursor in PostgreSQL, which cannot store NUL characters.
      if (typeof named === 'string' && named.includes('\0')) {
        return { kind: 'broken', code: 'pull.cursor_invalid', message: `${next} contains a NUL character` };
      }
      if (typeof named === 'string' || typeof named === 'number') {
        return { kind: 'next', state: { cursor: String(named) } };
      }
      const what = Array.isArray(named) ? 'a list' : typeof named;
      return { kind: 'broken', code: 'pull.cursor_invalid', message: `${next} is ${what}, not text` };
    },
  };
}
