import type { JsonObject } from '../json.ts';

export const pagings = ['offset', 'cursor', 'page', 'link', 'body_link', 'none'] as const;
export type Paging = (typeof pagings)[number];

/** An entry of a list: its sort key, and its JSON, which is built only for the requested page. */
export interface Entry {
  readonly key: string;
  json(): JsonObject;
}

export interface Page {
  readonly kind: 'page';
  readonly entries: readonly Entry[];
  readonly total: number;
  readonly page: number;
  readonly pageSize: number;
  readonly nextCursor?: string;
  /** Query parameters of the next page, for a Link header or a link in the body. */
  readonly next?: Readonly<Record<string, string>>;
}

/** The request's parameters, from the query string or the body. */
type Ask = (name: string) => string | undefined;

/** Page size if the request names none. */
const usualLimit = 100;

/** `entries` must be sorted by key. */
export function paginate(
  paging: Paging,
  entries: readonly Entry[],
  ask: Ask,
  maxLimit: number,
): Page | { readonly kind: 'bad'; readonly message: string } {
  const total = entries.length;
  if (paging === 'none') return { kind: 'page', entries, total, page: 1, pageSize: total };
  const asked = whole(ask('limit') ?? ask('page_size'), usualLimit, 1);
  if (asked === undefined) return { kind: 'bad', message: 'limit must be a whole number, at least 1.' };
  const limit = Math.min(asked, maxLimit);
  if (paging === 'cursor') return byCursor(entries, ask('cursor'), limit);
  const number = whole(ask('page'), 1, 1);
  const offset = paging === 'page' ? ((number ?? 0) - 1) * limit : whole(ask('offset'), 0, 0);
  if (number === undefined || offset === undefined)
    return { kind: 'bad', message: 'offset must be a whole number, at least 0; page at least 1.' };
  const page = {
    kind: 'page',
    entries: entries.slice(offset, offset + limit),
    total,
    page: Math.floor(offset / limit) + 1,
    pageSize: limit,
  } as const;
  if ((paging !== 'link' && paging !== 'body_link') || offset + limit >= total) return page;
  return { ...page, next: { offset: String(offset + limit), limit: String(limit) } };
}

/** The cursor is the key of the last entry sent, so bookings made in the meantime do not shift the list. */
function byCursor(
  entries: readonly Entry[],
  cursor: string | undefined,
  limit: number,
): Page | { readonly kind: 'bad'; readonly message: string } {
  const after = cursor === undefined || cursor === '' ? '' : readCursor(cursor);
  if (after === undefined) return { kind: 'bad', message: 'The cursor is not valid.' };
  const rest = entries.filter((entry) => entry.key > after);
  const sent = rest.slice(0, limit);
  const before = entries.length - rest.length;
  const page = {
    kind: 'page',
    entries: sent,
    total: entries.length,
    page: Math.floor(before / limit) + 1,
    pageSize: limit,
  } as const;
  const last = sent.at(-1);
  return last === undefined || rest.length <= limit ? page : { ...page, nextCursor: writeCursor(last.key) };
}

export function writeCursor(key: string): string {
  return Buffer.from(`k:${key}`).toString('base64url');
}

function readCursor(cursor: string): string | undefined {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  return text.startsWith('k:') ? text.slice(2) : undefined;
}

function whole(text: string | undefined, absent: number, least: number): number | undefined {
  if (text === undefined) return absent;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : -1;
  return value >= least ? value : undefined;
}
