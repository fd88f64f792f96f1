import type { Pagination } from '../../../../documents/connector-pagination.ts';
import { answerReader } from '../../../../outbound/ask/answer-reader.ts';
import type { Json } from '../../../../terms.ts';
import type { Paginator } from './paginator.ts';

/** Each page names the next one. A page without a cursor is the last; an empty page is not. The pass detects cursor loops. */
export function cursorPaginator({
  next,
  more,
  cursor,
  limit,
  page_size: pageSize,
}: Extract<Pagination, { type: 'cursor' }>): Paginator {
  const read = answerReader(next);
  const readMore = more === undefined ? undefined : answerReader(more);
  return {
    first: { cursor: null },
    counts: false,
    placements: (state) => [
      ...(state.cursor === null || state.cursor === undefined ? [] : [{ place: cursor, value: state.cursor }]),
      ...(limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    ],
    after: (_state, page) => {
      const named = read(page.body, page.headers);
      const flag = readMore?.(page.body, page.headers);
      if (saysNo(flag)) return { kind: 'end' };
      if (named === undefined || named === null || named === '' || named === false) {
        if (!saysYes(flag)) return { kind: 'end' };
        const message = `${more} says that there is another page, but ${next} does not name it`;
        return { kind: 'broken', code: 'pull.next_not_found', message };
      }
      // A run stores its cursor in PostgreSQL, which cannot store NUL characters.
      if (typeof named === 'string' && named.includes('\0')) {
        return { kind: 'broken', code: 'pull.cursor_invalid', message: `${next} contains a NUL character` };
      }
      if (typeof named === 'string' || typeof named === 'number') {
        // A number stays a number: a body may have to carry it as one.
        return { kind: 'next', state: { cursor: named } };
      }
      const what = Array.isArray(named) ? 'a list' : typeof named;
      return { kind: 'broken', code: 'pull.cursor_invalid', message: `${next} is ${what}, not text` };
    },
  };
}

/** An absent flag says nothing: a wrong path must not end the list. */
function saysNo(flag: Json | undefined): boolean {
  return flag !== undefined && /^(?:false|no|n|0)$/i.test(String(flag));
}

function saysYes(flag: Json | undefined): boolean {
  return flag !== undefined && /^(?:true|yes|y|1)$/i.test(String(flag));
}
