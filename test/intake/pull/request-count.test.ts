import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type ListOptions, listPage, pagination, replyOf, type Style } from './support/list.ts';
import { bookings } from './support/partner.ts';
import { sync } from './support/runtime.ts';
import { week } from './support/scripts.ts';
import { setUpPulls } from './support/set-up.ts';

/** How many requests a correct list takes. */
const { runtime, partnerOf } = setUpPulls();

interface List {
  readonly about: string;
  readonly rows: number;
  readonly limit: number;
  readonly options?: (rows: number) => ListOptions;
  /** Of page number, and of offset unless named; of cursor and link. */
  readonly counted: number;
  readonly offset?: number;
  readonly handed: number;
}

const total = (rows: number): ListOptions => ({ total: rows });
const lists: readonly List[] = [
  { about: 'nothing', rows: 0, limit: 10, counted: 1, handed: 1 },
  { about: 'less than a page', rows: 7, limit: 10, counted: 2, handed: 1 },
  { about: 'less than a page, with the total', rows: 7, limit: 10, options: total, counted: 1, handed: 1 },
  { about: 'a short page whose size looks like a cap', rows: 20, limit: 50, counted: 2, handed: 1 },
  { about: 'a short page of thirty-two', rows: 32, limit: 50, counted: 2, handed: 1 },
  {
    about: 'a short page that looks like a cap, with the total',
    rows: 20,
    limit: 50,
    options: total,
    counted: 1,
    handed: 1,
  },
  { about: 'a short page of no round size', rows: 23, limit: 50, counted: 2, handed: 1 },
  {
    about: 'four pages by a server that caps at an odd number, without a total',
    rows: 143,
    limit: 50,
    options: () => ({ cap: 37 }),
    counted: 8,
    handed: 4,
  },
  { about: 'exactly one page', rows: 10, limit: 10, counted: 2, handed: 2 },
  { about: 'exactly one page, with the total', rows: 10, limit: 10, options: total, counted: 2, handed: 1 },
  { about: 'three pages', rows: 23, limit: 10, counted: 6, handed: 3 },
  { about: 'three pages, with the total', rows: 23, limit: 10, options: total, counted: 6, offset: 3, handed: 3 },
  { about: 'exactly two pages, with the total', rows: 20, limit: 10, options: total, counted: 6, offset: 3, handed: 2 },
  { about: 'pages of one row, with the total', rows: 3, limit: 1, options: total, counted: 8, handed: 3 },
  {
    about: 'three pages by a server that caps',
    rows: 23,
    limit: 50,
    options: () => ({ cap: 10 }),
    counted: 6,
    handed: 3,
  },
  {
    about: 'three pages by a server that caps, with the total',
    rows: 23,
    limit: 50,
    options: (rows) => ({ cap: 8, total: rows }),
    counted: 6,
    offset: 4,
    handed: 3,
  },
];

let asked = 0;

for (const { about, rows, limit, options, counted, offset = counted, handed } of lists) {
  for (const style of ['offset', 'page', 'cursor', 'link'] as const) {
    const cost = style === 'offset' ? offset : style === 'page' ? counted : handed;
    test(`${about}, by ${style}: ${cost} request${cost === 1 ? '' : 's'}`, async () => {
      assert.equal(await requestsFor(style, rows, { ...pagination[style], page_size: limit }, options?.(rows)), cost);
    });
  }
}

test('without a limit, the first page shows the page size', async () => {
  const { limit, page_size, ...unlimited } = pagination.page;
  assert.equal(
    await requestsFor('page', 7, unlimited),
    2,
    'a page of seven may be the whole list, or the most that the server sends',
  );
  assert.equal(await requestsFor('page', 23, unlimited), 6);
});

test('no paging: one request', async () => {
  assert.equal(await requestsFor('offset', 7, { type: 'none' }), 1);
});

async function requestsFor(
  style: Style,
  rows: number,
  paging: Record<string, unknown>,
  options: ListOptions = {},
): Promise<number> {
  const book = bookings(rows, week.from, 20);
  const partner = await partnerOf((request) => replyOf(listPage(style, book, request, options)));
  const integration = `e${++asked}-${style}`;
  try {
    const ports = runtime.ports({ integration, baseUrl: partner.url, connector: { pull: { pagination: paging } } });
    const result = await sync(ports, integration, week);
    assert.equal(result.state, 'complete', JSON.stringify(result));
    assert.equal((await runtime.stored(integration)).length, rows);
    assert.equal(result.counters.fetched, rows, 'an overlap is not counted');
    assert.equal(result.counters.requests, partner.requests.length);
    return partner.requests.length;
  } finally {
    await partner.close();
  }
}
