import type { Asked, Reply } from './partner.ts';

/** `cursor` and `link` hand out offsets in disguise, as many partners do; `token` a stable place in the list. */
export const styles = ['offset', 'page', 'cursor', 'link', 'token'] as const;
export type Style = (typeof styles)[number];

export const pageSize = 10;

/** How the connector describes each style. */
export const pagination: Readonly<Record<Style, Record<string, unknown>>> = {
  offset: { type: 'offset', offset: 'query.offset', limit: 'query.limit', page_size: pageSize },
  page: { type: 'page', page: 'query.page', limit: 'query.page_size', page_size: pageSize },
  cursor: { type: 'cursor', next: 'next_cursor', cursor: 'query.cursor', limit: 'query.limit', page_size: pageSize },
  link: { type: 'link', limit: 'query.limit', page_size: pageSize },
  token: { type: 'cursor', next: 'next_cursor', cursor: 'query.cursor' },
};

export interface ListOptions {
  /** The number of rows in the envelope; left out if undefined. */
  readonly total?: unknown;
  /** The server's cap. */
  readonly cap?: number;
}

export interface ListPage {
  readonly rows: readonly unknown[];
  /** Where the page starts. */
  readonly start: number;
  readonly envelope: Record<string, unknown>;
  readonly headers: Record<string, string>;
}

/** The page of a correct server. */
export function listPage(style: Style, list: readonly unknown[], asked: Asked, options: ListOptions = {}): ListPage {
  const limit = Math.min(
    Number(asked.query.get(style === 'page' ? 'page_size' : 'limit') ?? pageSize),
    options.cap ?? 1000,
  );
  const start = startOf(style, asked, limit, list);
  const rows = list.slice(start, start + limit);
  const after = start + rows.length;
  const headers: Record<string, string> = {};
  const envelope: Record<string, unknown> = { reservations: rows };
  if (options.total !== undefined) envelope.total = options.total;
  if (style === 'page') Object.assign(envelope, { page: Number(asked.query.get('page')), page_size: limit });
  if (style === 'cursor' && after < list.length) envelope.next_cursor = `c${after}`;
  if (style === 'token' && after < list.length) envelope.next_cursor = tokenAfter(idOf(rows.at(-1)));
  if (style === 'link' && after < list.length) {
    const next = new URLSearchParams(asked.query);
    next.set('start', String(after));
    headers.link = `<${asked.path}?first=1>; rel="first", <${asked.path}?${next}>; title="a, b"; rel="next"`;
  }
  return { rows, start, envelope, headers };
}

export function tokenAfter(id: string): string {
  return Buffer.from(`after:${id}`).toString('base64url');
}

const idOf = (row: unknown): string => String((row as { id: unknown }).id);

function startOf(style: Style, asked: Asked, limit: number, list: readonly unknown[]): number {
  switch (style) {
    case 'offset':
      return Number(asked.query.get('offset'));
    case 'page':
      return (Number(asked.query.get('page')) - 1) * limit;
    case 'cursor':
      return Number((asked.query.get('cursor') ?? 'c0').slice(1));
    case 'link':
      return Number(asked.query.get('start') ?? 0);
    case 'token': {
      const token = asked.query.get('cursor');
      return token === null ? 0 : list.findIndex((row) => tokenAfter(idOf(row)) === token) + 1;
    }
  }
}

export function replyOf({ envelope, headers }: ListPage): Reply {
  return { json: envelope, headers };
}
