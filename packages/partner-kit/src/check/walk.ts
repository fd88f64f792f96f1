import type { Seen } from './client.ts';
import { type Listed, rowKey, type Target, takeApart, type Walk } from './evidence.ts';

const mostPages = 8;

type Query = Readonly<Record<string, string>>;

/** The list that was read, and how to read it in pages. */
interface WalkPlan {
  readonly target: Target;
  readonly list: Seen;
  readonly listed: Listed;
  /** The rows that were asked of it. */
  readonly asked: number;
  /** Requests the list with these additional parameters, or a full URL from a Link header. */
  readonly get: (purpose: string, parameters: Query | URL) => Promise<Seen>;
}

/** Reads the list again in about three pages, to its end. The paging type is detected from the first list or the first small page. */
export async function walkPages({ target, list, listed, asked, get }: WalkPlan): Promise<Walk> {
  const { own, paging, cursorParameter = 'cursor' } = target;
  const total = listed.envelope?.total;
  const got = listed.records.length;
  const distinct = new Set(listed.records.map(rowKey)).size;
  const known = typeof total === 'number' && Number.isInteger(total) ? Math.max(total, distinct) : undefined;
  let kind = paging === 'none' ? undefined : (paging ?? signOf(list, listed));
  const isCounted = kind !== 'cursor' && kind !== 'link';
  const capped = isCounted && got > 0 && got < asked && known !== undefined && known > got ? { asked, got } : undefined;
  const more = isCounted ? got >= asked : signOf(list, listed) !== undefined;
  const expected = known ?? (more ? undefined : got);
  const third = Math.min(100, Math.max(1, Math.ceil((expected ?? got) / 3)));
  // A page size that cannot be requested is the partner's.
  const limit = capped?.got ?? (own && own.names.limit === undefined ? asked : third);
  const size = { limit: String(limit) };
  const pages: { seen: Seen; listed: Listed | undefined }[] = [];
  const done = (end: Walk['end']): Walk => ({ kind: kind ?? 'offset', limit, pages, end, expected, capped });
  const met = new Set<string>();
  /** The request of the page after those that were read; undefined after the last. */
  const following = (seen?: Seen, page?: Listed): Query | URL | undefined => {
    if (kind === 'link' && seen) return nextLink(seen);
    if (kind === 'cursor' && page)
      return page.nextCursor === undefined ? undefined : { ...size, [cursorParameter]: page.nextCursor };
    if (kind === 'cursor' || kind === 'link') return size;
    if (page && page.records.length < limit) return undefined;
    return kind === 'page'
      ? { page: String(pages.length + 1), page_size: size.limit, ...size }
      : { offset: String(pages.length * limit), ...size };
  };
  let next = following();
  while (next !== undefined) {
    if (pages.length >= mostPages) return done('full');
    const seen: Seen = await get(`page ${pages.length + 1} of the list`, next);
    const page = takeApart(seen, target);
    pages.push({ seen, listed: page });
    if (page === undefined) return done('failed');
    kind ??= signOf(seen, page) ?? 'offset';
    const marks = page.records.map(rowKey).join(' ');
    // The same page again: a rule reports it, and we stop.
    if (page.records.length > 0 && met.has(marks)) return done('full');
    met.add(marks);
    const read = pages.reduce((sum, { listed: one }) => sum + (one?.records.length ?? 0), 0);
    if (expected !== undefined && read > expected + limit) return done('full');
    next = following(seen, page);
  }
  return done('ended');
}

/** A response with a cursor or link shows its paging type; any other may be paged by offset, or be the complete list. */
function signOf(seen: Seen, listed: Listed): 'cursor' | 'link' | undefined {
  if (listed.nextCursor !== undefined) return 'cursor';
  return nextLink(seen) === undefined ? undefined : 'link';
}

function nextLink(seen: Seen): URL | undefined {
  for (const part of (seen.link ?? '').split(/,\s*(?=<)/)) {
    const target = /^<([^>]+)>.*;\s*rel="?next"?/.exec(part);
    // Never send credentials to another host.
    if (target?.[1] !== undefined && URL.canParse(target[1], seen.url)) {
      const url = new URL(target[1], seen.url);
      return url.origin === new URL(seen.url).origin ? url : undefined;
    }
  }
  return undefined;
}
