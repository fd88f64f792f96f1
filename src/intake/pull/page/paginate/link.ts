import type { Pagination } from '../../../../documents/connector-pagination.ts';
import { answerReader } from '../../../../outbound/ask/answer-reader.ts';
import type { Paginator, SeenPage } from './paginator.ts';

/** The Link header (RFC 8288) with rel="next", followed only on the same host. */
export function linkPaginator(
  pagination: Extract<Pagination, { type: 'link' }>,
  added: ReadonlySet<string>,
): Paginator {
  return addressPaginator(pagination, added, ({ headers }) => nextLink(headers.link ?? ''));
}

/** The address of the next page at a path of the response, such as links.next; followed only on the same host. */
export function urlPaginator(pagination: Extract<Pagination, { type: 'url' }>, added: ReadonlySet<string>): Paginator {
  const read = answerReader(pagination.next);
  return addressPaginator(pagination, added, ({ body, headers }) => {
    const named = read(body, headers);
    return typeof named === 'string' && named.trim() !== '' ? named : undefined;
  });
}

function addressPaginator(
  { limit, page_size: pageSize }: Extract<Pagination, { type: 'link' | 'url' }>,
  added: ReadonlySet<string>,
  nextOf: (page: SeenPage) => string | undefined,
): Paginator {
  return {
    first: { url: null },
    counts: false,
    placements: (state) => (state.url !== null || limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    address: (state) => (typeof state.url === 'string' ? state.url : undefined),
    after: (_state, page) => {
      const target = nextOf(page);
      if (target === undefined) return { kind: 'end' };
      const next = URL.parse(target, page.url);
      if (next === null) {
        return { kind: 'broken', code: 'pull.cursor_invalid', message: 'the next link is not a URL' };
      }
      next.hash = '';
      next.search = withoutParameters(next.search, added);
      if (next.origin !== new URL(page.url).origin) {
        return { kind: 'broken', code: 'pull.link_foreign', message: 'the next link points to another host' };
      }
      return { kind: 'next', state: { url: next.href } };
    },
  };
}

/** Every request adds these itself: a link that repeats them would send them twice, and store a key with the position of the run. */
function withoutParameters(search: string, added: ReadonlySet<string>): string {
  const isAdded = (pair: string) => new URLSearchParams(pair).keys().some((name) => added.has(name));
  const pairs = search.slice(1).split('&');
  return pairs.some(isAdded) ? pairs.filter((pair) => !isAdded(pair)).join('&') : search;
}

/** Matched one by one, so that text inside a title is not read as a parameter. */
const parameter = /;\s*([^=;,\s]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",;\s]*)))?/g;

/** The target of the first link with relation next. Commas and semicolons inside <> and quotes are text. */
export function nextLink(header: string): string | undefined {
  const link = /\s*<([^>]*)>((?:\s*;\s*[^=;,\s]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^",;\s]*))?)*)\s*(?:,|$)/y;
  while (link.lastIndex < header.length) {
    const found = link.exec(header);
    if (found === null) return undefined;
    const [, target = '', parameters = ''] = found;
    const relation = [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target.trim();
  }
  return undefined;
}
