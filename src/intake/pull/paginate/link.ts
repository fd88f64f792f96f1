import type { Pagination } from '../settings.ts';
import type { Paginator } from './paginator.ts';

/** The Link header (RFC 8288) with rel="next". The link is only followed to the host that we were asked to talk to. */
export function linkPaginator({ limit, pageSize }: Extract<Pagination, { type: 'link' }>): Paginator {
  return {
    first: { url: null },
    counts: false,
    placements: (state) => (state.url !== null || limit === undefined ? [] : [{ place: limit, value: pageSize }]),
    address: (state) => (typeof state.url === 'string' ? state.url : undefined),
    after: (_state, page) => {
      const target = nextLink(page.headers.link ?? '');
      if (target === undefined) return { kind: 'end' };
      const next = URL.parse(target, page.url);
      if (next === null) {
        return { kind: 'broken', code: 'pull.cursor_invalid', message: 'the next link is no address' };
      }
      next.hash = '';
      if (next.origin !== new URL(page.url).origin) {
        return { kind: 'broken', code: 'pull.link_foreign', message: `the next link leads to ${next.host}` };
      }
      return { kind: 'next', state: { url: next.href } };
    },
  };
}

/** One after the other, so that a title's text is not taken for a parameter. */
const parameter = /;\s*([^=;,\s]+)(?:\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^",;\s]*)))?/g;

/** The target of the first link whose relations include next. Commas and semicolons inside <> and quotes are part of the text. */
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
