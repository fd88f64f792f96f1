import type { Seen } from './client.ts';
import { type Evidence, type Listed, type ListWords, rowKey, takeApart, type Walk, type WalkKind } from './evidence.ts';

const mostPages = 8;

export interface WalkPlan {
  readonly first: Evidence['list'];
  readonly listed: Listed;
  readonly asked: number;
  readonly kind: WalkKind | undefined;
  readonly words: ListWords;
  /** Requests the list with these additional parameters, or a full URL from a Link header. */
  readonly get: (purpose: string, parameters: Readonly<Record<string, string>> | URL) => Promise<Seen>;
  readonly cursorParameter: string;
}

/** Reads the list again in about three pages, to its end. The paging type is detected from the first list or the first small page. */
export async function walkPages(plan: WalkPlan): Promise<Walk> {
  const { listed, asked } = plan;
  const total = listed.envelope?.total;
  const got = listed.records.length;
  const distinct = new Set(listed.records.map(rowKey)).size;
  const known = typeof total === 'number' && Number.isInteger(total) ? Math.max(total, distinct) : undefined;
  let kind = plan.kind ?? signOf(plan.first, listed);
  const short = got > 0 && got < asked && known !== undefined && known > got;
  const capped = short && kind !== 'cursor' && kind !== 'link' ? { asked, got } : undefined;
  const more =
    kind === undefined || kind === 'offset' || kind === 'page'
      ? got >= asked
      : signOf(plan.first, listed) !== undefined;
  const expected = known ?? (more ? undefined : got);
  const third = Math.min(100, Math.max(1, Math.ceil((expected ?? got) / 3)));
  const { own } = plan.words;
  // A page size that cannot be requested is the partner's.
  const limit = capped?.got ?? (own && own.names.limit === undefined ? asked : third);
  const pages: { seen: Seen; listed: Listed | undefined }[] = [];
  const done = (end: Walk['end']): Walk => ({ kind: kind ?? 'offset', limit, pages, end, expected, capped });
  const met = new Set<string>();
  let next: Readonly<Record<string, string>> | URL | undefined = firstPage(kind ?? 'offset', limit);
  while (next !== undefined) {
    if (pages.length >= mostPages) return done('full');
    const seen: Seen = await plan.get(`page ${pages.length + 1} of the list`, next);
    const page = takeApart(seen, plan.words);
    pages.push({ seen, listed: page });
    if (page === undefined) return done('failed');
    kind ??= signOf(seen, page) ?? 'offset';
    const marks = page.records.map(rowKey).join(' ');
    const rows = page.records.length;
    // The same page again: a rule reports it, and we stop.
    if (rows > 0 && met.has(marks)) return done('full');
    met.add(marks);
    const read = pages.reduce((sum, { listed: one }) => sum + (one?.records.length ?? 0), 0);
    if (expected !== undefined && read > expected + limit) return done('full');
    next = nextPage(kind, { limit, pagesRead: pages.length, page, seen, cursorParameter: plan.cursorParameter });
  }
  return done('ended');
}

/** A response with a cursor or link shows its paging type; any other may be paged by offset, or be the complete list. */
function signOf(seen: Seen, listed: Listed): 'cursor' | 'link' | undefined {
  if (listed.nextCursor !== undefined) return 'cursor';
  return nextLink(seen) === undefined ? undefined : 'link';
}

function firstPage(kind: WalkKind, limit: number): Record<string, string> {
  if (kind === 'page') return { page: '1', page_size: String(limit), limit: String(limit) };
  return kind === 'offset' ? { offset: '0', limit: String(limit) } : { limit: String(limit) };
}

interface PageRead {
  readonly limit: number;
  readonly pagesRead: number;
  readonly page: Listed;
  readonly seen: Seen;
  readonly cursorParameter: string;
}

function nextPage(kind: WalkKind, { limit, pagesRead, page, seen, cursorParameter }: PageRead) {
  const isLast = page.records.length < limit;
  switch (kind) {
    case 'cursor':
      return page.nextCursor === undefined ? undefined : { limit: String(limit), [cursorParameter]: page.nextCursor };
    case 'link':
      return nextLink(seen);
    case 'offset':
      return isLast ? undefined : { offset: String(pagesRead * limit), limit: String(limit) };
    case 'page':
      return isLast ? undefined : { page: String(pagesRead + 1), page_size: String(limit), limit: String(limit) };
  }
}

function nextLink(seen: Seen): URL | undefined {
  for (const part of (seen.link ?? '').split(/,\s*(?=<)/)) {
    const found = /^<([^>]+)>.*;\s*rel="?next"?/.exec(part);
    // Never send credentials to another host.
    if (found?.[1] !== undefined && URL.canParse(found[1], seen.url)) {
      const url = new URL(found[1], seen.url);
      return url.origin === new URL(seen.url).origin ? url : undefined;
    }
  }
  return undefined;
}
