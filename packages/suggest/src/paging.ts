import { isObject, type Json, type JsonObject } from '../../../src/terms.ts';
import { child, keysOf } from './leaf.ts';
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

interface PagingValue {
  readonly path: string;
  readonly key: string;
  readonly value: Json;
}

const names = (list: string): readonly string[] => list.split(', ');

/** How responses and requests name the parts of paging. The more specific names come first. */
export const pagingNames = {
  cursor: names(
    'next cursor, cursor, next page token, page token, continuation token, next token, cursor next, after, next page cursor, end cursor, starting after, start after, after id, last id',
  ),
  offset: names(
    'offset, skip, start index, start at, start row, first row, from row, row from, first record, start, first result, results offset',
  ),
  page: names('page, page number, current page, page index, page num, number'),
  limit: names(
    'limit, page size, top, per page, page limit, results per page, take, size, max results, count, page count',
  ),
};
const limits = pagingNames.limit.filter((name) => !name.endsWith('count'));
/** Flags that say whether there is another page. */
const flags = names('has next page, has more, has next, has more results, more');
const totals = names(
  'total, total results, total count, total records, total rows, rows total, records total, row count, total number, data total, total elements, total items, count, record count, results count',
);

/** Detects the paging from the keys of the envelope. */
export function findPaging(envelope: JsonObject, rootPath: string | undefined): Paging {
  const scalars = scalarsOf(envelope, rootPath);
  const by = (names: readonly string[], test: (value: Json) => boolean) =>
    names.flatMap((name) => scalars.find(({ path, value }) => test(value) && nameFits(path, name)) ?? [])[0];
  const total = by(totals, (value) => typeof value === 'number');
  const held = total === undefined || total.path === 'total' ? {} : { total: total.path };
  const more = by(flags, (value) => typeof value === 'boolean');
  const flag = more === undefined ? {} : { more: more.path };
  const limit = by(limits, (value) => typeof value === 'number');
  const size =
    typeof limit?.value === 'number' && limit.value >= 1 && limit.value <= 10_000 ? { page_size: limit.value } : {};
  const as = (pagination: JsonObject, confidence: number, reason: string): Paging => {
    return { pagination: { ...pagination, ...held }, ...held, ...flag, confidence, reason };
  };
  const next = scalars.find(({ path, value }) => isNextAddress(path, value));
  if (next !== undefined) {
    const [confidence, how] = typeof next.value === 'string' ? [0.9, ''] : [0.75, ', judging by its name'];
    return as({ type: 'url', next: next.path }, confidence, `${next.path} holds the address of the next page${how}`);
  }
  const cursor =
    by(pagingNames.cursor, (value) => value === null || typeof value === 'string') ??
    by(['next page'], (value) => typeof value === 'string');
  if (cursor) {
    const reason = `${cursor.path} in the envelope names the next page; check the name of the request parameter in the partner's documentation`;
    const pagination = { type: 'cursor', next: cursor.path, ...flag, cursor: 'query.cursor' };
    return as(pagination, typeof cursor.value === 'string' ? 0.9 : 0.75, reason);
  }
  const repeats = (one: PagingValue) => `the envelope repeats ${one.key}${limit ? ` and ${limit.key}` : ''}`;
  const offset = by(pagingNames.offset, (value) => typeof value === 'number');
  if (offset) {
    const span = { limit: `query.${limit?.key ?? 'limit'}`, ...size };
    const pagination = { offset: `query.${offset.key}`, ...span, ...(offset.value === 1 && { first: 1 }) };
    return as({ type: 'offset', ...pagination }, limit ? 0.9 : 0.7, repeats(offset));
  }
  const usual = { type: 'offset', offset: 'query.offset', limit: 'query.limit' };
  const page = by(pagingNames.page, (value) => typeof value === 'number');
  if (page?.path === 'page' && limit?.path === 'page_size' && rootPath === 'reservations')
    return as(
      { ...usual, ...size },
      0.8,
      'the envelope is that of the interface description, which pages by offset and limit',
    );
  if (page) {
    const pagination = { page: `query.${page.key}`, ...(limit && { limit: `query.${limit.key}` }), ...size };
    return as({ type: 'page', ...pagination }, limit ? 0.85 : 0.7, repeats(page));
  }
  return as(
    usual,
    0.3,
    total
      ? 'only the count of all records shows that there are pages'
      : 'nothing in the sample shows the paging; offset is the most common',
  );
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
  return name.endsWith(own) && wordsOf(path.replaceAll('.', ' ')).join(' ').endsWith(name);
}

function scalarsOf(value: JsonObject, rootPath: string | undefined, path = '', depth = 0): PagingValue[] {
  if (depth > 3) return [];
  return keysOf(value).flatMap((key) => {
    const inner = value[key] ?? null;
    const at = child(path, key);
    if (at === rootPath) return [];
    if (isObject(inner)) return scalarsOf(inner, rootPath, at, depth + 1);
    return Array.isArray(inner) ? [] : [{ path: at, key, value: inner }];
  });
}
