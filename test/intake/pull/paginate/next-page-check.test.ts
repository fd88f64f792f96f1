import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openDryRunStore } from '../../../../src/core/store/runs/dry-runs.ts';
import { listPage, pagination, replyOf, type Style } from '../support/list.ts';
import { type Asked, bookings, type Reply } from '../support/partner.ts';
import { sync } from '../support/runtime.ts';
import { week } from '../support/scripts.ts';
import { setUpPulls } from '../support/set-up.ts';

/** A connector whose path of the next page is wrong reads only the first page of each list. */
const { runtime, partnerOf } = setUpPulls();

let count = 0;
interface Case {
  readonly rows: number;
  readonly style?: Style;
  readonly paging?: Record<string, unknown>;
  readonly isDry?: boolean;
  readonly answer?: (asked: Asked, correct: Reply) => Reply;
  readonly total?: number;
}

async function run({ rows, style = 'cursor', paging = {}, isDry = false, answer, total }: Case) {
  const book = bookings(rows, week.from, 20);
  const options = total === undefined ? {} : { total };
  const partner = await partnerOf((asked) => {
    const correct = replyOf(listPage(style, book, asked, options));
    return answer?.(asked, correct) ?? correct;
  });
  const integration = `next-${++count}`;
  const connector = { pull: { pagination: { ...pagination[style], ...paging } } };
  const ports = runtime.ports(
    { integration, baseUrl: partner.url, connector },
    isDry ? { runs: openDryRunStore(runtime.pool) } : {},
  );
  const { state, error, counters } = await sync(ports, integration, week);
  assert.equal(counters.requests, partner.requests.length);
  return { state, code: error?.code, message: error?.message ?? '', requests: partner.requests.length };
}
const wrong = { next: 'meta.next' };
const summary = ({ state, code, requests }: Awaited<ReturnType<typeof run>>) => [state, code, requests];
const notFound = ['incomplete', 'pull.next_not_found'];

test('a full first page without a next page is checked: the same page with half the rows must name one', async () => {
  const found = await run({ rows: 23, paging: wrong });
  assert.deepEqual(summary(found), [...notFound, 2]);
  assert.match(found.message, /5 of at least 10 rows.*meta\.next/);
  assert.deepEqual(summary(await run({ rows: 10, paging: wrong })), [...notFound, 2]);
  assert.deepEqual(summary(await run({ rows: 10 })), ['complete', undefined, 2], 'a correct path is never reported');
  assert.deepEqual(summary(await run({ rows: 9, paging: wrong })), ['complete', undefined, 1], 'not full');
});

test('the Link header and an address in the response are checked too', async () => {
  const silent = (_asked: Asked, reply: Reply): Reply =>
    typeof reply === 'object' ? { ...reply, headers: {} } : reply;
  const found = await run({ rows: 23, style: 'link', answer: silent });
  assert.deepEqual(summary(found), [...notFound, 2]);
  assert.match(found.message, /Link header/);
  assert.deepEqual(summary(await run({ rows: 10, style: 'link' })), ['complete', undefined, 2]);
  const paging = { type: 'url', next: 'links.next' };
  assert.deepEqual(summary(await run({ rows: 23, style: 'link', paging })), [...notFound, 2]);
});

test('a dry run also checks a page that is not full', async () => {
  assert.deepEqual(summary(await run({ rows: 5, paging: wrong, isDry: true })), [...notFound, 2]);
  assert.deepEqual(summary(await run({ rows: 5, isDry: true })), ['complete', undefined, 2]);
  assert.deepEqual(
    summary(await run({ rows: 23, isDry: true })),
    ['complete', undefined, 3],
    'its next page was found',
  );
  assert.deepEqual(summary(await run({ rows: 1, paging: wrong, isDry: true })), ['complete', undefined, 1]);
});

test('nothing is reported without proof', async () => {
  const complete = (requests: number) => ['complete', undefined, requests];
  const all = (_asked: Asked): Reply => ({ json: { reservations: bookings(10, week.from, 20) } });
  assert.deepEqual(summary(await run({ rows: 10, answer: all })), complete(2), 'the server ignores the limit');
  const refusing = ({ no }: Asked, correct: Reply): Reply => (no === 1 ? correct : { status: 400, json: {} });
  assert.deepEqual(summary(await run({ rows: 10, answer: refusing })), complete(2), 'the server refuses other limits');
  assert.deepEqual(summary(await run({ rows: 10, paging: wrong, total: 10 })), complete(1), 'the total is the proof');
  const unlimited = { ...wrong, limit: undefined };
  assert.deepEqual(summary(await run({ rows: 10, paging: unlimited })), complete(1), 'no limit can be sent');
});

test('a flag that promises another page is believed if no next page is named', async () => {
  const flagged = (isMore: unknown) =>
    run({
      rows: 3,
      paging: { ...wrong, more: 'more' },
      answer: () => ({ json: { reservations: bookings(3, week.from), more: isMore } }),
    });
  for (const isMore of [true, 'true', 1]) assert.deepEqual(summary(await flagged(isMore)), [...notFound, 1]);
  for (const isMore of [false, null, undefined]) assert.equal((await flagged(isMore)).state, 'complete');
});

test('a short page that comes again is checked: with half the limit, the second page must not begin with the same row', async () => {
  const book = bookings(23, week.from, 20);
  const first = (asked: Asked, name: string, cap: number): Reply => ({
    json: { reservations: book.slice(0, Math.min(Number(asked.query.get(name) ?? cap), cap)) },
  });
  const paging = { page_size: 50 };
  const repeated = (requests: number) => ['incomplete', 'pull.page_repeated', requests];
  const complete = (requests: number) => ['complete', undefined, requests];
  const capped = await run({ rows: 23, style: 'offset', paging, answer: (asked) => first(asked, 'limit', 10) });
  assert.deepEqual(summary(capped), repeated(3), 'the offset is ignored, and 10 of 23 rows are not the list');
  assert.match(capped.message, /ignores query\.offset/);
  const page = await run({ rows: 23, style: 'page', paging, answer: (asked) => first(asked, 'page_size', 10) });
  assert.deepEqual(summary(page), repeated(3));
  const unlimited = { limit: undefined };
  const fixed = await run({ rows: 23, style: 'page', paging: unlimited, answer: (asked) => first(asked, '', 5) });
  assert.deepEqual(summary(fixed), repeated(2), 'without a limit, nothing shows that five rows are the whole list');

  const constant =
    (rows: number, total?: number) =>
    (_asked: Asked): Reply => ({ json: { reservations: book.slice(0, rows), ...(total !== undefined && { total }) } });
  const offset = { style: 'offset', paging } as const;
  assert.deepEqual(summary(await run({ rows: 23, ...offset, answer: constant(23) })), complete(3), 'no pages at all');
  assert.deepEqual(summary(await run({ rows: 9, ...offset, answer: constant(9) })), complete(2), 'too short for a cap');
  assert.deepEqual(summary(await run({ rows: 23, ...offset })), complete(2), 'an empty page is the end');
  assert.deepEqual(summary(await run({ rows: 23, ...offset, answer: constant(23, 23) })), complete(1), 'the total');
  const clamped = (asked: Asked): Reply => {
    const limit = Number(asked.query.get('page_size'));
    const at = Math.min(Number(asked.query.get('page')), Math.ceil(23 / limit)) - 1;
    return { json: { reservations: book.slice(at * limit, (at + 1) * limit) } };
  };
  const last = await run({ rows: 23, style: 'page', paging, answer: clamped });
  assert.deepEqual(summary(last), complete(3), 'the server repeats its last page');
});
