import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../../../src/errors.ts';
import { type ListOptions, listPage, pageSize, replyOf, type Style, styles, tokenAfter } from './list.ts';
import { type Asked, arriving, type Booking, bookings, type Reply } from './partner.ts';

/**
 * Partners that misbehave on purpose. The tests request the week 2026-03-01 to 2026-03-07, with 23 reservations, so three
 * pages. `honest` is the answer of a correct server; a script returns that, or something else.
 */
export interface Script {
  readonly name: string;
  /** By default all. */
  readonly styles?: readonly Style[];
  /** How the run ends; by default complete. */
  readonly ends?: 'complete' | 'incomplete' | 'failed';
  readonly code?: ErrorCode;
  /** What the store holds in the end, if it is not the whole book: nothing, some, or anything (an incomplete run). */
  readonly stored?: 'none' | 'some';
  /** The expected message of the run. */
  readonly says?: RegExp;
  /** In the partner's own words, which are payload. */
  readonly partnerSays?: RegExp;
  readonly requests?: number | ((style: Style) => number);
  readonly deadLetters?: number;
  readonly waited?: (waits: readonly number[]) => boolean;
  readonly documents?: { readonly connector?: Record<string, unknown>; readonly pull?: Record<string, unknown> };
  readonly list?: ListOptions;
  /** The requested page size, if it is not ten. */
  readonly limit?: number;
  readonly book?: readonly Booking[];
  /** A new one for each run, so that it can keep state. */
  make?(): Answering;
}

export interface Answering {
  answer(asked: Asked, context: Context): Reply;
  /** What the partner holds when the run is over, if it changed meanwhile. */
  truth?(): readonly Booking[];
}

export interface Context {
  readonly style: Style;
  readonly book: readonly Booking[];
  honest(book?: readonly unknown[], options?: ListOptions): Reply;
}

export const week = { from: '2026-03-01', to: '2026-03-07' } as const;
const book = bookings(23, week.from, 4);
const counted: readonly Style[] = ['offset', 'page'];
const handed: readonly Style[] = ['cursor', 'link'];
/** With a token, the partner promises that the place in the list is stable. */
const steady: readonly Style[] = [...counted, 'token'];

/** The second page, whatever the style; by offset with a total, it begins two rows earlier. */
const isSecond = ({ query }: Asked): boolean =>
  ['8', '10'].includes(query.get('offset') ?? '') ||
  query.get('page') === '2' ||
  query.get('cursor') === 'c10' ||
  query.get('start') === '10' ||
  query.get('cursor') === tokenAfter('R00010');
const isFirst = ({ query }: Asked): boolean =>
  query.get('offset') === '0' ||
  query.get('page') === '1' ||
  !(query.has('offset') || query.has('page') || query.has('cursor') || query.has('start'));
const daysAsked = ({ query }: Asked): number =>
  (Date.parse(query.get('dateTo') ?? '') - Date.parse(query.get('dateFrom') ?? '')) / 86_400_000 + 1;

const isAbout =
  (day: string) =>
  ({ query }: Asked): boolean =>
    (query.get('dateFrom') ?? '') <= day && (query.get('dateTo') ?? '') >= day;

/** Five kilobytes on the wire, five megabytes of JSON. */
const bomb = gzipSync(`{"reservations":[],"padding":"${' '.repeat(5 << 20)}"}`);

/** Answers the first `times` requests that fit with something else. */
function sometimes(
  fits: (asked: Asked) => boolean,
  times: number,
  reply: Reply | ((asked: Asked) => Reply),
): () => Answering {
  return () => {
    let left = times;
    return {
      answer: (asked, { honest }) => {
        if (left === 0 || !fits(asked)) return honest();
        left--;
        return typeof reply === 'function' ? reply(asked) : reply;
      },
    };
  };
}
const once = (reply: Reply | ((asked: Asked) => Reply)) => sometimes(isSecond, 1, reply);
const always = (reply: Reply | ((asked: Asked) => Reply)) => sometimes(() => true, Number.POSITIVE_INFINITY, reply);
const overDays = (days: number, reply: Reply) =>
  sometimes((asked) => daysAsked(asked) > days, Number.POSITIVE_INFINITY, reply);
const json = { 'content-type': 'application/json' };
const nothing: Reply = { status: 500, json: { message: 'boom' } };

export const scripts: readonly Script[] = [
  { name: 'answers as described', requests: (style) => (counted.includes(style) ? 6 : 3) },
  {
    name: 'reports the total',
    list: { total: 23 },
    requests: (style) => (style === 'page' ? 6 : 3),
  },

  // Statuses
  { name: 'answers 500 once', make: once(nothing) },
  { name: 'answers 500 four times', make: sometimes(isSecond, 4, nothing), waited: (waits) => waits.length === 4 },
  {
    name: 'answers 500 every time',
    make: always(nothing),
    ends: 'failed',
    code: 'pull.server_error',
    stored: 'none',
    requests: 5,
  },
  {
    name: 'answers 500 every time from the second page on',
    make: sometimes((asked) => !isFirst(asked), 1_000, nothing),
    ends: 'failed',
    code: 'pull.server_error',
    stored: 'some',
  },
  {
    name: 'answers 503 with Retry-After',
    make: once({ status: 503, headers: { 'retry-after': '7' }, json: {} }),
    waited: (waits) => waits.includes(7_000),
  },
  {
    name: 'answers 429 with seconds',
    make: sometimes(isSecond, 2, { status: 429, headers: { 'retry-after': '11' }, json: {} }),
    waited: (waits) => waits.filter((ms) => ms === 11_000).length >= 2,
  },
  {
    name: 'answers 429 with a date',
    make: once(() => ({
      status: 429,
      headers: { 'retry-after': new Date(Date.now() + 25_000).toUTCString() },
      json: {},
    })),
    waited: (waits) => waits.some((ms) => ms > 20_000 && ms <= 25_000),
  },
  {
    name: 'answers 429 without a time',
    make: once({ status: 429, json: {} }),
    waited: (waits) => waits.some((ms) => ms >= 1_000),
  },
  {
    name: 'answers 429 with nonsense',
    make: once({ status: 429, headers: { 'retry-after': 'in a while' }, json: {} }),
    waited: (waits) => waits.some((ms) => ms >= 1_000 && ms <= 60_000),
  },
  {
    name: 'answers 429 with a day',
    make: once({ status: 429, headers: { 'retry-after': '86400' }, json: {} }),
    waited: (waits) => waits.includes(3_600_000),
  },
  {
    name: 'answers 429 every time',
    make: always({ status: 429, headers: { 'retry-after': '1' }, json: {} }),
    ends: 'failed',
    code: 'pull.rate_limited',
    stored: 'none',
    requests: 11,
  },
  {
    name: 'answers 400 with a reason',
    make: always({ status: 400, json: { error: { message: 'dateFrom: not a date' } } }),
    ends: 'failed',
    code: 'pull.bad_request',
    says: /^the partner answered 400$/,
    partnerSays: /^dateFrom: not a date$/,
    stored: 'none',
    requests: 1,
  },
  {
    name: 'answers 404',
    make: always({ status: 404, json: {} }),
    ends: 'failed',
    code: 'pull.not_found',
    stored: 'none',
    requests: 1,
  },
  {
    name: 'answers 403',
    make: always({ status: 403, json: { ref: 'a-17', allowed: false } }),
    ends: 'failed',
    code: 'pull.forbidden',
    partnerSays: /^\{"ref":"a-17","allowed":false\}$/,
    stored: 'none',
    requests: 1,
  },
  {
    name: 'answers 422',
    make: always({ status: 422, json: {} }),
    ends: 'failed',
    code: 'pull.refused',
    stored: 'none',
    requests: 1,
  },
  { name: 'answers 401 once', make: once({ status: 401, json: {} }), waited: (waits) => waits.length === 0 },
  {
    name: 'answers 401 every time',
    make: always({ status: 401, json: {} }),
    ends: 'failed',
    code: 'pull.auth_failed',
    stored: 'none',
    requests: 2,
  },
  {
    name: 'redirects',
    make: always({ status: 307, headers: { location: 'http://127.0.0.1:9/' }, json: {} }),
    ends: 'failed',
    code: 'pull.redirect',
    stored: 'none',
    requests: 1,
  },
  {
    name: 'answers 206',
    make: always({ status: 206, json: { reservations: [] } }),
    ends: 'failed',
    code: 'pull.unexpected_status',
    stored: 'none',
  },
  { name: 'answers 204 for nothing', make: always({ status: 204, raw: '' }), book: [], requests: 1 },

  // Windows that are too much
  { name: 'answers 504 to more than a day', make: overDays(1, { status: 504, json: {} }) },
  { name: 'answers 413 to more than two days', make: overDays(2, { status: 413, json: {} }) },
  { name: 'answers 408 to more than three days', make: overDays(3, { status: 408, json: {} }) },
  { name: 'answers 504 once, in the middle', make: once({ status: 504, json: {} }) },
  {
    name: 'sends too much for more than a day',
    make: overDays(1, { headers: json, raw: `{"reservations":[],"padding":"${'x'.repeat(5 << 20)}"}` }),
  },
  {
    name: 'hangs on more than three days',
    make: overDays(3, 'hang'),
    documents: { pull: { timeouts: { idle: '1s', total: '1s' } } },
    styles: ['offset'],
  },
  {
    name: 'sends a gzip bomb for one of the days',
    make: sometimes(isAbout('2026-03-03'), Number.POSITIVE_INFINITY, {
      headers: { ...json, 'content-encoding': 'gzip' },
      raw: bomb,
    }),
    ends: 'incomplete',
    code: 'pull.too_large',
    says: /2026-03-03 to 2026-03-03/,
    stored: 'some',
  },
  {
    name: 'cannot answer for one of the days',
    make: sometimes(isAbout('2026-03-03'), Number.POSITIVE_INFINITY, { status: 413, json: {} }),
    ends: 'incomplete',
    code: 'pull.too_large',
    says: /2026-03-03 to 2026-03-03/,
    stored: 'some',
  },

  // Connections
  { name: 'cuts the connection once', make: once('cut') },
  {
    name: 'cuts the connection every time',
    make: always('cut'),
    ends: 'failed',
    code: 'pull.unreachable',
    stored: 'none',
    requests: 5,
  },
  {
    name: 'hangs once',
    make: once('hang'),
    documents: { pull: { timeouts: { idle: '1s', total: '1s' } } },
    styles: ['cursor'],
  },
  {
    name: 'promises more bytes than it sends, once',
    make: once({ headers: { ...json, 'content-length': '5000' }, raw: '{"reservations":[' }),
    documents: { pull: { timeouts: { idle: '1s', total: '1s' } } },
    styles: ['offset'],
  },
  {
    name: 'closes the connection after each answer',
    make: () => ({ answer: (_asked, { honest }) => withHeaders(honest(), { connection: 'close' }) }),
  },

  // Bytes
  {
    name: 'sends a web page',
    make: always({ headers: { 'content-type': 'text/html' }, raw: '<!DOCTYPE html><p>Sign in' }),
    ends: 'failed',
    code: 'pull.not_json',
    says: /web page/,
    partnerSays: /^<!DOCTYPE html><p>Sign in$/,
    stored: 'none',
    requests: 1,
  },
  {
    name: 'sends XML',
    make: always({ headers: { 'content-type': 'application/xml' }, raw: '<?xml version="1.0"?><list/>' }),
    ends: 'failed',
    code: 'pull.xml',
    says: /adapter/,
    stored: 'none',
    requests: 1,
  },
  {
    name: 'sends Latin-1',
    make: always({ headers: json, raw: Buffer.from('{"reservations":[{"id":"é"}]}', 'latin1') }),
    ends: 'failed',
    code: 'pull.not_utf8',
    stored: 'none',
    requests: 1,
  },
  {
    name: 'sends plain text',
    make: always({ raw: 'OK' }),
    ends: 'failed',
    code: 'pull.not_json',
    partnerSays: /^OK$/,
    stored: 'none',
    requests: 1,
  },
  { name: 'breaks JSON off once', make: once({ headers: json, raw: '{"reservations":[{"id":"R0' }) },
  {
    name: 'truncates JSON every time',
    make: always({ headers: json, raw: '{"reservations":[{"id":"R0' }),
    ends: 'failed',
    code: 'pull.not_json',
    stored: 'none',
    requests: 5,
  },
  { name: 'sends nothing with 200, once', make: once({ headers: json, raw: '' }) },
  {
    name: 'sends a byte order mark',
    make: () => ({ answer: (_asked, { honest }) => asRaw(honest(), (text) => Buffer.from(`\ufeff${text}`)) }),
  },
  {
    name: 'compresses',
    make: () => ({
      answer: (_asked, { honest }) =>
        withHeaders(
          asRaw(honest(), (text) => gzipSync(text)),
          { 'content-encoding': 'gzip' },
        ),
    }),
  },
  {
    name: 'calls JSON text/plain',
    make: () => ({ answer: (_asked, { honest }) => withHeaders(honest(), { 'content-type': 'text/plain' }) }),
  },
  {
    name: 'nests JSON a thousand levels deep',
    make: always({ headers: json, raw: `{"reservations":${'['.repeat(1000)}${']'.repeat(1000)}}` }),
    ends: 'failed',
    code: 'pull.too_deep',
    stored: 'none',
  },

  // Shapes
  {
    name: 'sends an error with 200',
    make: always({ json: { error: 'maintenance' } }),
    ends: 'failed',
    code: 'pull.error_in_answer',
    says: /body reports an error$/,
    partnerSays: /^maintenance$/,
    stored: 'none',
    requests: 5,
  },
  {
    name: 'sends an error with 200 and an empty list',
    make: always({ json: { success: 'false', message: 'Invalid authentication token', reservations: [] } }),
    ends: 'failed',
    code: 'pull.error_in_answer',
    partnerSays: /^Invalid authentication token$/,
    stored: 'none',
    requests: 5,
  },
  {
    name: 'sends an error with 200 where a missing list is an empty one',
    documents: { connector: { shape: { root_path: 'reservations', missing_is_empty: true } } },
    make: always({ json: { status: 'error', description: 'try later' } }),
    ends: 'failed',
    code: 'pull.error_in_answer',
    partnerSays: /^try later$/,
    stored: 'none',
  },
  { name: 'sends an error with 200 once', make: once({ json: { success: false } }) },
  {
    name: 'sends 401 inside a 200',
    make: always({ json: { error: { code: 401, message: 'no such key' }, reservations: [] } }),
    ends: 'failed',
    code: 'pull.auth_failed',
    stored: 'none',
    requests: 2,
  },
  {
    name: 'sends an empty list with error fields that are empty',
    make: always({ json: { success: true, error: null, errors: [], reservations: [] } }),
    stored: 'none',
  },
  {
    name: 'sends a declared error beside rows, once, that means to wait',
    documents: {
      connector: {
        pull: { errors: [{ when: { 'meta.state': ['BUSY', 'LIMIT'] }, means: 'rate', message: 'meta.text' }] },
      },
    },
    make: once({ json: { meta: { state: 'LIMIT', text: 'slow down' }, reservations: [{ id: 'half' }] } }),
    waited: (waits) => waits.length > 0,
  },
  {
    name: 'sends a bare list',
    documents: { connector: { shape: {} } },
    styles: ['offset', 'page', 'link'],
    make: () => ({ answer: (_asked, { honest }) => bare(honest()) }),
  },
  {
    name: 'sends a record that is not an object',
    book: [...book, { ...(book[0] as Booking), id: 'BAD', check_in: '2026-03-02', check_out: 'soon' }],
    deadLetters: 1,
  },
  {
    name: 'sends ids of twenty digits',
    book: bookings(23, week.from, 4).map((one, i) => ({ ...one, id: `9007199254740993${1000 + i}` })),
    make: () => ({
      answer: (_asked, { honest }) => asRaw(honest(), (text) => Buffer.from(text.replace(/"id":"(\d+)"/g, '"id":$1'))),
    }),
  },

  // Totals
  { name: 'writes the total as text', list: { total: '23' } },
  { name: 'caps its pages and writes the total as text', list: { cap: 4, total: ' 23 ' } },
  {
    name: 'writes a total as text that is too high',
    list: { total: '25' },
    ends: 'incomplete',
    code: 'pull.total_not_reached',
  },
  {
    name: 'reports a total that is too high',
    list: { total: 25 },
    ends: 'incomplete',
    code: 'pull.total_not_reached',
    says: /a total of 25, but sent 23/,
  },
  { name: 'reports a total that is too low', list: { total: 3 } },
  {
    name: 'reports the page size as total',
    make: () => ({ answer: (asked, { style, book: list }) => replyOf(listPage(style, list, asked, { total: 10 })) }),
  },
  { name: 'reports a total of -1', list: { total: -1 } },
  { name: 'reports a total that is not a number', list: { total: 'many' } },

  // Limits
  { name: 'caps its pages and reports the total', list: { cap: 4, total: 23 } },
  { name: 'caps its pages at a round number and reports no total', limit: 40, list: { cap: 10 } },
  { name: 'caps its pages at sixteen and reports no total', limit: 40, list: { cap: 16 } },
  {
    name: 'ignores the limit and sends all, with the total',
    styles: counted,
    make: () => ({ answer: (_asked, { book: list }) => ({ json: { reservations: list, total: list.length } }) }),
  },
  {
    name: 'ignores the start, without a total',
    styles: counted,
    make: () => ({ answer: (_asked, { book: list }) => ({ json: { reservations: list.slice(0, pageSize) } }) }),
    ends: 'incomplete',
    code: 'pull.page_repeated',
    stored: 'some',
  },
  {
    name: 'ignores the start, with the total',
    styles: counted,
    make: () => ({
      answer: (_asked, { book: list }) => ({ json: { reservations: list.slice(0, pageSize), total: 23 } }),
    }),
    ends: 'incomplete',
    code: 'pull.page_repeated',
    stored: 'some',
  },
  {
    name: 'ignores the start, with a short list',
    styles: counted,
    book: book.slice(0, 7),
    make: () => ({ answer: (_asked, { book: list }) => ({ json: { reservations: list } }) }),
  },
  { name: 'has exactly one page', book: book.slice(0, pageSize) },
  { name: 'has exactly two pages', book: book.slice(0, pageSize * 2), list: { total: 20 } },
  { name: 'has one reservation', book: book.slice(0, 1) },
  { name: 'has nothing', book: [] },

  // Circles and endless lists
  {
    name: 'loops over one page (A, A)',
    styles: handed,
    make: () => ({
      answer: (asked, { style, book: list }) => pointingTo(style, asked, list.slice(0, 10), isFirst(asked) ? 10 : 10),
    }),
    ends: 'incomplete',
    code: 'pull.cursor_repeated',
    stored: 'some',
  },
  {
    name: 'loops over two pages (A, B, A, B)',
    styles: handed,
    make: () => ({
      answer: (asked, { style, book: list }) =>
        isSecond(asked)
          ? pointingTo(style, asked, list.slice(10, 20), 20)
          : pointingTo(style, asked, list.slice(0, 10), 10),
    }),
    ends: 'incomplete',
    code: 'pull.cursor_repeated',
    stored: 'some',
  },
  {
    name: 'loops after the end of the list',
    styles: handed,
    list: { total: 23 },
    make: () => ({ answer: (asked, { style, book: list }) => circular(style, asked, list) }),
  },
  {
    name: 'repeats the last cursor forever, with empty pages',
    styles: handed,
    make: () => ({
      answer: (asked, { style, book: list, honest }) =>
        startFrom(asked) >= 20
          ? pointingTo(style, asked, list.slice(startFrom(asked), startFrom(asked) + 10), 30)
          : honest(),
    }),
  },
  {
    name: 'sends the same page under new cursors',
    styles: handed,
    make: () => ({
      answer: (asked, { style, book: list }) => pointingTo(style, asked, list.slice(0, 10), asked.no * 10),
    }),
    ends: 'incomplete',
    code: 'pull.page_repeated',
    stored: 'some',
  },
  { name: 'sends one page twice and goes on', make: () => twice(), ends: 'complete' },
  {
    name: 'has no end',
    styles: [...counted, ...handed],
    make: () => ({ answer: (asked, { style }) => endless(style, asked) }),
    ends: 'incomplete',
    code: 'pull.endless',
    stored: 'some',
  },
  {
    name: 'has no end of empty pages',
    styles: handed,
    make: () => ({ answer: (asked, { style }) => pointingTo(style, asked, [], asked.no * 10) }),
    ends: 'incomplete',
    code: 'pull.endless',
    stored: 'none',
  },
  {
    name: 'sends empty pages in between',
    styles: handed,
    make: () => ({ answer: (asked, { style, book: list }) => withGaps(style, asked, list) }),
  },
  ...[null, '', false].map((end) => ({
    name: `ends with the cursor ${JSON.stringify(end)}`,
    styles: ['cursor'] as const,
    make: (): Answering => ({
      answer: (_asked: Asked, { honest }: Context) => withMember(honest(), { next_cursor: end }),
    }),
  })),
  {
    name: 'returns numbers as cursors',
    styles: ['cursor'],
    make: () => ({
      answer: (asked, { book: list }) => {
        const start = Number(asked.query.get('cursor') ?? 0);
        const next = start + 10 < list.length ? { next_cursor: start + 10 } : {};
        return { json: { reservations: list.slice(start, start + 10), ...next } };
      },
    }),
  },
  {
    name: 'loops over three pages (A, B, C, A) from the second page on',
    styles: handed,
    make: () => ({
      answer: (asked, { style, book: list }) => {
        const start = startFrom(asked);
        return pointingTo(style, asked, list.slice(start, start + 10), start >= 20 ? 10 : start + 10);
      },
    }),
    ends: 'incomplete',
    code: 'pull.cursor_repeated',
  },
  {
    name: 'returns an object as cursor',
    styles: ['cursor'],
    make: () => ({
      answer: (_asked, { book: list }) => ({ json: { reservations: list.slice(0, 10), next_cursor: { at: 10 } } }),
    }),
    ends: 'incomplete',
    code: 'pull.cursor_invalid',
    stored: 'some',
  },
  {
    name: 'links to another host',
    styles: ['link'],
    make: () => ({
      answer: (_asked, { book: list }) => ({
        json: { reservations: list.slice(0, 10) },
        headers: { link: '<http://elsewhere.example/?start=10>; rel=next' },
      }),
    }),
    ends: 'incomplete',
    code: 'pull.link_foreign',
    stored: 'some',
  },

  // Lists that move
  { name: 'loses a row that was read', styles: steady, make: shifting((list) => list.filter((_, i) => i !== 3)) },
  { name: 'gains a row before the current page', styles: counted, make: shifting((list) => [extra('NEW'), ...list]) },
  {
    name: 'gains a row before the current page, and its total shows it',
    make: shifting((list) => [extra('NEW'), ...list], true),
  },
  {
    name: 'moves a row from an unread page to a read one, with the count unchanged',
    styles: counted,
    make: shifting(moveUnread),
  },
  {
    // By offset, this is the combination that pass-end.ts names.
    name: 'moves a row from an unread page to a read one, with the total unchanged',
    styles: ['page'],
    make: shifting(moveUnread),
    list: { total: 23 },
  },
  {
    name: 'rounds offsets down to a multiple of the limit',
    styles: ['offset'],
    list: { total: 23 },
    make: () => ({ answer: (asked, { book: list }) => page(list, Math.floor(offsetOf(asked) / 10) * 10) }),
    requests: 8,
  },
  {
    name: 'refuses offsets that are not a multiple of the limit',
    styles: ['offset'],
    make: () => ({
      answer: (asked, { book: list }) =>
        offsetOf(asked) % 10 === 0
          ? page(list, offsetOf(asked))
          : { status: 400, json: { message: 'offset must be a multiple of limit' } },
    }),
    requests: 8,
  },
  {
    name: 'loses as many rows as it gains',
    styles: steady,
    make: shifting((list) => [...list.slice(4), extra('E1'), extra('E2'), extra('E3'), extra('E4')]),
    list: { total: 23 },
  },
  {
    name: 'reverses its order at every request',
    make: () => ({
      answer: (asked, { honest, book: list }) => honest(asked.no % 2 === 0 ? list : [...list].reverse()),
    }),
    styles: counted,
    ends: 'incomplete',
    code: 'pull.list_unstable',
    stored: 'some',
  },
  {
    name: 'has new rows at every pass',
    styles: counted,
    make: () => {
      const grown: Booking[] = [...book];
      return {
        answer: (asked, { honest }) => {
          if (isFirst(asked)) grown.unshift(extra(`G${asked.no}`));
          return honest(grown);
        },
      };
    },
    ends: 'incomplete',
    code: 'pull.list_unstable',
    stored: 'some',
  },
  {
    name: 'shows a reservation on two pages of a list that could have moved',
    styles: counted,
    book: [...book.slice(0, 15), book[2] as Booking, ...book.slice(15)],
    ends: 'incomplete',
    code: 'pull.list_unstable',
  },
  {
    name: 'shows a reservation on two pages by cursor or link',
    styles: handed,
    book: [...book.slice(0, 15), book[2] as Booking, ...book.slice(15)],
    requests: 3,
  },
];

function extra(id: string): Booking {
  return { ...(book[0] as Booking), id, check_in: '2026-03-04', check_out: '2026-03-05' };
}

/** A row that was read leaves, one that was not moves to the start, and another appears at the end. */
function moveUnread(list: readonly Booking[]): Booking[] {
  const rest = list.filter((_, i) => i !== 17 && i !== 5);
  return [list[17] as Booking, ...rest, extra('END')];
}

const offsetOf = ({ query }: Asked): number => Number(query.get('offset'));
const page = (list: readonly Booking[], start: number): Reply => ({
  json: { reservations: list.slice(start, start + pageSize), total: list.length },
});

/** The book changes once, when the second page is first requested. */
function shifting(change: (list: Booking[]) => Booking[], tellsTotal = false): () => Answering {
  return () => {
    let list: Booking[] = [...book];
    let changed = false;
    return {
      answer: (asked, { honest }) => {
        if (isSecond(asked) && !changed) {
          changed = true;
          list = change(list);
        }
        return tellsTotal ? honest(list, { total: list.length }) : honest(list);
      },
      truth: () => list,
    };
  };
}

function pointingTo(style: Style, asked: Asked, rows: readonly unknown[], next: number): Reply {
  if (style === 'cursor') return { json: { reservations: rows, next_cursor: `c${next}` } };
  const query = new URLSearchParams(asked.query);
  query.set('start', String(next));
  return { json: { reservations: rows }, headers: { link: `<?${query}>; rel="next"` } };
}

function startFrom({ query }: Asked): number {
  return Number(query.get('start') ?? (query.get('cursor') ?? 'c0').slice(1));
}

function circular(style: Style, asked: Asked, list: readonly Booking[]): Reply {
  const start = startFrom(asked);
  const rows = list.slice(start, start + 10);
  const reply = pointingTo(style, asked, rows, start + rows.length < list.length ? start + rows.length : 10);
  return withMember(reply, { total: list.length });
}

function withGaps(style: Style, asked: Asked, list: readonly Booking[]): Reply {
  const at = startFrom(asked);
  // Every other page is empty: 0, 1 (empty), 10, 11 (empty), 20.
  if (at % 10 === 1) return pointingTo(style, asked, [], at + 9);
  const rows = list.slice(at, at + 10);
  return at + 10 < list.length ? pointingTo(style, asked, rows, at + 1) : { json: { reservations: rows } };
}

function endless(style: Style, asked: Asked): Reply {
  const rows = Array.from({ length: pageSize }, (_, i) => extra(`N${asked.no}-${i}`));
  return counted.includes(style) ? { json: { reservations: rows } } : pointingTo(style, asked, rows, asked.no * 10);
}

function twice(): Answering {
  let repeated = false;
  return {
    answer: (asked, { style, book: list, honest }) => {
      if (!isSecond(asked) || repeated) return honest();
      repeated = true;
      const { envelope, headers } = listPage(style, list, asked);
      return { json: { ...envelope, reservations: list.slice(0, pageSize) }, headers };
    },
  };
}

function withHeaders(reply: Reply, headers: Record<string, string>): Reply {
  return typeof reply === 'string' ? reply : { ...reply, headers: { ...reply.headers, ...headers } };
}

function withMember(reply: Reply, members: Record<string, unknown>): Reply {
  if (typeof reply === 'string' || !('json' in reply)) return reply;
  return { ...reply, json: { ...members, ...(reply.json as object) } };
}

function asRaw(reply: Reply, encode: (text: string) => Uint8Array): Reply {
  if (typeof reply === 'string' || !('json' in reply)) return reply;
  return {
    status: reply.status ?? 200,
    headers: { ...json, ...reply.headers },
    raw: encode(JSON.stringify(reply.json)),
  };
}

function bare(reply: Reply): Reply {
  if (typeof reply === 'string' || !('json' in reply)) return reply;
  return { ...reply, json: (reply.json as { reservations: unknown }).reservations };
}

/** Runs the script's answer for one request. */
export function answerOf(script: Script, answering: Answering | undefined, style: Style, asked: Asked): Reply {
  const own = script.book ?? book;
  const honest = (list: readonly unknown[] = own, options = script.list ?? {}): Reply =>
    replyOf(listPage(style, arriving(list as Booking[], asked), asked, options));
  return answering?.answer(asked, { style, book: arriving(own, asked), honest }) ?? honest();
}

export const allStyles = styles;
export function truthOf(script: Script, answering: Answering | undefined): readonly Booking[] {
  return answering?.truth?.() ?? script.book ?? book;
}
