import { isObject, type Json, type JsonObject } from '../terms.ts';
import { child, keysOf } from './keys.ts';
import { wordsOf } from './words.ts';

export interface Paging {
  readonly pagination: JsonObject;
  /** Path of the total number of records, unless it is `total`. */
  readonly total?: string;
  /** Path of a flag that says whether there is another page. */
  readonly more?: string;
  readonly confidence: number;
  readonly reason: string;
}

interface Found {
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

const cursors = [
  'next cursor',
  'cursor',
  'next page token',
  'page token',
  'continuation token',
  'next token',
  'cursor next',
  'after',
  'next page cursor',
  'end cursor',
];
/** Flags that say whether there is another page. */
const flags = ['has next page', 'has more', 'has next', 'has more results', 'more'];
const totals = [
  'total',
  'total results',
  'total count',
  'total records',
  'total rows',
  'row count',
  'total number',
  'data total',
  'total elements',
  'total items',
  'count',
  'record count',
  'results count',
];
const offsets = ['offset', 'skip', 'start index'];
const pages = ['page', 'page number', 'current page', 'page index', 'number'];
const limits = ['limit', 'page size', 'per page', 'size', 'page limit', 'results per page'];

/** Detects the paging from the keys of the envelope. */
export function findPaging(envelope: JsonObject, rootPath: string | undefined): Paging {
  const found = scalarsOf(envelope, rootPath);
  const by = (names: readonly string[], test: (value: Json) => boolean) => {
    for (const name of names) {
      const one = found.find(
        ({ path, value }) =>
          wordsOf(path.replaceAll('.', ' ')).join(' ').endsWith(name) && test(value) && nameFits(path, name),
      );
      if (one) return one;
    }
    return undefined;
  };
  const total = by(totals, (value) => typeof value === 'number');
  const held = total === undefined || total.path === 'total' ? {} : { total: total.path };
  const more = by(flags, (value) => typeof value === 'boolean');
  const flag = more === undefined ? {} : { more: more.path };
  const rest = { ...held, ...flag };
  const limit = by(limits, (value) => typeof value === 'number');
  const size =
    typeof limit?.value === 'number' && limit.value >= 1 && limit.value <= 10_000 ? { page_size: limit.value } : {};
  const next = found.find(({ path, value }) => isNextAddress(path, value));
  if (next !== undefined) {
    return {
      pagination: { type: 'url', next: next.path, ...held },
      ...rest,
      confidence: typeof next.value === 'string' ? 0.9 : 0.75,
      reason: `${next.path} holds the address of the next page${typeof next.value === 'string' ? '' : ', judging by its name'}`,
    };
  }
  const cursor =
    by(cursors, (value) => value === null || typeof value === 'string') ??
    by(['next page'], (value) => typeof value === 'string');
  if (cursor) {
    return {
      pagination: {
        type: 'cursor',
        next: cursor.path,
        ...flag,
        cursor: 'query.cursor',
        ...held,
      },
      ...rest,
      confidence: typeof cursor.value === 'string' ? 0.9 : 0.75,
      reason: `${cursor.path} in the envelope names the next page; check the name of the request parameter in the partner's documentation`,
    };
  }
  const offset = by(offsets, (value) => typeof value === 'number');
  if (offset) {
    return {
      pagination: {
        type: 'offset',
        offset: `query.${offset.key}`,
        limit: `query.${limit?.key ?? 'limit'}`,
        ...size,
        ...held,
      },
      ...rest,
      confidence: limit ? 0.9 : 0.7,
      reason: `the envelope repeats ${offset.key}${limit ? ` and ${limit.key}` : ''}`,
    };
  }
  const page = by(pages, (value) => typeof value === 'number');
  if (page?.path === 'page' && limit?.path === 'page_size' && rootPath === 'reservations') {
    return {
      pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', ...size },
      confidence: 0.8,
      reason: 'the envelope is that of the interface description, which pages by offset and limit',
    };
  }
  if (page) {
    return {
      pagination: {
        type: 'page',
        page: `query.${page.key}`,
        ...(limit && { limit: `query.${limit.key}` }),
        ...size,
        ...held,
      },
      ...rest,
      confidence: limit ? 0.85 : 0.7,
      reason: `the envelope repeats ${page.key}${limit ? ` and ${limit.key}` : ''}`,
    };
  }
  return {
    pagination: { type: 'offset', offset: 'query.offset', limit: 'query.limit', ...held },
    ...rest,
    confidence: 0.3,
    reason: total
      ? 'only the count of all records shows that there are pages'
      : 'nothing in the sample shows the paging; offset is the most common',
  };
}

const nextNames = /(?:^|\.)_?links?\.next(?:\.href|\.url)?$|(?:^|[._])next_?(?:page_?)?(?:url|uri|link|href)$/i;

/** `links.next`, `_links.next.href`, `next_page_url`; or a plain `next` whose value is an address. */
function isNextAddress(path: string, value: Json): boolean {
  const isAddress = typeof value === 'string' && /^(?:https?:\/\/|\/|\?)/.test(value);
  return nextNames.test(path) ? value === null || isAddress : isAddress && /(?:^|\.)next(?:_?page)?$/i.test(path);
}

/** The last words must be the name: `account` does not contain `count`. */
function nameFits(path: string, name: string): boolean {
  const own = wordsOf(path.split('.').at(-1) ?? '').join(' ');
  return own === name || name.endsWith(own);
}

function scalarsOf(value: JsonObject, rootPath: string | undefined, path = '', depth = 0): Found[] {
  if (depth > 3) return [];
  return keysOf(value).flatMap((key) => {
    const inner = value[key] ?? null;
    const at = child(path, key);
    if (at === rootPath) return [];
    if (isObject(inner)) return scalarsOf(inner, rootPath, at, depth + 1);
    return Array.isArray(inner) ? [] : [{ path: at, key, value: inner }];
  });
}
