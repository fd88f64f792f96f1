import type { ErrorCode } from '../../../../errors.ts';
import type { Json } from '../../../../terms.ts';
import type { Pagination } from '../../../documents/connector-pagination.ts';
import type { RequestTemplate } from '../../../documents/pull.ts';
import { answerReader } from '../../../outbound/ask/answer.ts';
import { type OpenRequest, openRequest, type Placement, type Values } from '../../../outbound/ask/request.ts';

/** The place in a list. JSON, because another node may resume from it. */
export type PageState = { readonly [key: string]: string | number | null };

/** The parts of a page that decide which page is next. */
export interface SeenPage {
  /** Rows as the partner counts them. */
  readonly rows: number;
  /** The partner's total, if it sends a readable one. */
  readonly total?: number;
  readonly body: Json;
  readonly headers: Readonly<Record<string, string>>;
  /** The URL it came from. */
  readonly url: string;
}

export type Next =
  | {
      readonly kind: 'next';
      readonly state: PageState;
      /** The same, begun `overlap` rows earlier. Offered for offsets while the total is not reached. */
      readonly overlapping?: PageState;
    }
  /** Looks like the last page, but a server that caps its pages would answer the same. */
  | { readonly kind: 'short'; readonly state: PageState }
  | { readonly kind: 'end' }
  | { readonly kind: 'broken'; readonly code: ErrorCode; readonly message: string };

/** One style of paging, as a pure function from page to next request. */
export interface Paginator {
  readonly first: PageState;
  /** Counted paging (offset, page number): a list that shifts while it is read can hide rows. */
  readonly counts: boolean;
  placements(state: PageState): readonly Placement[];
  /** The full URL, if the partner supplies it. */
  address?(state: PageState): string | undefined;
  after(state: PageState, page: SeenPage): Next;
}

/** The request for a page; null for the first. */
export function openPage(
  paginator: Paginator,
  page: PageState | null,
  template: RequestTemplate,
  baseUrl: string,
  values: Values,
): OpenRequest {
  const state = page ?? paginator.first;
  const request = openRequest(template, baseUrl, values, paginator.placements(state));
  const address = paginator.address?.(state);
  return address === undefined ? request : { ...request, base: address, query: [] };
}

/** 450 or "450"; anything else is treated as no total. */
export function readTotal(value: Json | undefined): number | undefined {
  const number = typeof value === 'string' && /^\s*\d{1,15}\s*$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : undefined;
}

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
function offsetPaginator({
  offset,
  limit,
  page_size: pageSize,
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
      const next = goOn(state, page, pageSize, { at: Number(state.at) + page.rows });
      return next.kind === 'next' ? withOverlap(next.state, page) : next;
    },
  };
}

function pagePaginator({
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

/** Each page names the next one. A page without a cursor is the last; an empty page is not. The pass detects cursor loops. */
function cursorPaginator({
  next,
  more,
  cursor,
  replaces,
  limit,
  page_size: pageSize,
}: Extract<Pagination, { type: 'cursor' }>): Paginator {
  const read = answerReader(next);
  const readMore = more === undefined ? undefined : answerReader(more);
  return {
    first: { cursor: null },
    counts: false,
    placements: (state) => [
      ...(state.cursor === null || state.cursor === undefined
        ? []
        : [
            { place: cursor, value: state.cursor },
            ...(replaces === undefined ? [] : [{ place: `query.${replaces}` }]),
          ]),
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

/** The Link header (RFC 8288) with rel="next", followed only on the same host. */
export function linkPaginator(
  pagination: Extract<Pagination, { type: 'link' }>,
  added: ReadonlySet<string>,
): Paginator {
  return addressPaginator(pagination, added, ({ headers }) => nextLink(headers.link ?? ''));
}

/** The address of the next page at a path of the response, such as links.next; followed only on the same host. */
function urlPaginator(pagination: Extract<Pagination, { type: 'url' }>, added: ReadonlySet<string>): Paginator {
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
    const parts = link.exec(header);
    if (parts === null) return undefined;
    const [, target = '', parameters = ''] = parts;
    const relation = [...parameters.matchAll(parameter)].find(([, name]) => name?.toLowerCase() === 'rel');
    const relations = (relation?.[2] ?? relation?.[3] ?? '').toLowerCase().split(/\s+/);
    if (relations.includes('next')) return target.trim();
  }
  return undefined;
}
