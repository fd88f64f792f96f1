import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { firstPassAfter } from '../../../../src/core/intake/pull/run/pass-end.ts';
import { type ListRequest, pageAt, type ReadOptions, readList } from '../support/read-list.ts';

const ids = (count: number): string[] => Array.from({ length: count }, (_, i) => `R${i}`);
const missing = (list: readonly string[], read: ReadonlySet<string>) => list.filter((id) => !read.has(id));

test('a list at rest is read once, whatever its length and the page size', () => {
  fc.assert(
    fc.property(
      fc.nat(120),
      fc.integer({ min: 4, max: 30 }),
      fc.integer({ min: 4, max: 30 }),
      (count, pageSize, cap) => {
        const list = ids(count);
        const size = Math.min(pageSize, cap);
        const result = readList((request) => pageAt(list, { ...request, limit: size }), { pageSize });
        assert.deepEqual(missing(list, result.read), []);
        assert.deepEqual([result.passes, result.code, result.counted], [1, undefined, count]);
        const step = size - Math.min(3, Math.floor(size / 4));
        // The last full page is followed by a request that shows the end.
        const most = count <= size ? 2 : 2 + Math.ceil((count - size) / step);
        assert.ok(result.requests.length <= most, `${result.requests.length} requests, at most ${most}`);
      },
    ),
  );
});

test('1,000 rows in pages of 100 take 11 requests instead of 22', () => {
  const list = ids(1_000);
  const once = readList((request) => pageAt(list, request), { pageSize: 100 });
  const twice = readList((request) => pageAt(list, request), { pageSize: 100, mayOverlap: false });
  assert.deepEqual([once.requests.length, twice.requests.length], [11, 22]);
});

test('without a total, by page number, with tiny pages, or where absence cancels, a list is read twice', () => {
  const list = ids(40);
  const cases: [string, ReadOptions, boolean][] = [
    ['no total', {}, false],
    ['page number', { type: 'page' }, true],
    ['three rows a page', { pageSize: 3 }, true],
    ['one row a page', { pageSize: 1 }, true],
    ['absence cancels', { mayOverlap: false }, true],
  ];
  for (const [about, options, tells] of cases) {
    const answer = (request: ListRequest) => (tells ? pageAt(list, request) : { rows: pageAt(list, request).rows });
    const { passes, read } = readList(answer, options);
    assert.deepEqual([about, passes, missing(list, read)], [about, 2, []]);
  }
});

test('a server that supports only multiples of the limit costs one more page, once in a run', () => {
  const list = ids(23);
  for (const [about, round] of [
    ['down', Math.floor],
    ['up', Math.ceil],
  ] as const) {
    const answer = (request: ListRequest) => pageAt(list, { ...request, offset: round(request.offset / 10) * 10 });
    const first = readList(answer);
    assert.deepEqual([about, first.requests.length, first.code, missing(list, first.read)], [about, 8, undefined, []]);
    const second = readList(answer, { begin: firstPassAfter(first.last) });
    assert.deepEqual([second.requests.length, second.code], [6, undefined]);
  }
});

test('a server that sends pages of changing size is read to its end', () => {
  const list = ids(60);
  const sizes = [10, 2, 7, 10, 1, 10, 3];
  const answer = (request: ListRequest) =>
    pageAt(list, { ...request, limit: sizes[request.no % sizes.length] as number });
  const { read, code } = readList(answer);
  assert.deepEqual([code, missing(list, read)], [undefined, []]);
});

test('a total that is wrong, changes or disappears proves nothing', () => {
  const list = ids(35);
  const totals: [string, (no: number) => number | undefined, string | undefined][] = [
    ['too low', () => 20, undefined],
    ['too high', () => 40, 'pull.total_not_reached'],
    ['changing', (no) => (no === 3 ? 36 : 35), undefined],
    ['on the first page only', (no) => (no === 1 ? 35 : undefined), undefined],
  ];
  for (const [about, totalAt, code] of totals) {
    const answer = (request: ListRequest) => {
      const total = totalAt(request.no);
      return { rows: pageAt(list, request).rows, ...(total !== undefined && { total }) };
    };
    const result = readList(answer);
    assert.deepEqual([about, result.passes, result.code, missing(list, result.read)], [about, 2, code, []]);
  }
});

test('a boundary with a long wait between its requests proves nothing', () => {
  const list = ids(35);
  const passesWith = (gapMs: number) =>
    readList((request) => pageAt(list, request), { gapMs: (no) => (no === 2 ? gapMs : 100) }).passes;
  assert.deepEqual([passesWith(30_000), passesWith(30_001)], [1, 2]);
});

test('a run that another node resumes at every page comes to the same result', () => {
  const list = ids(50);
  for (const mayOverlap of [true, false]) {
    const options = { mayOverlap };
    const [one, many] = [false, true].map((isResumed) =>
      readList((request) => pageAt(list, request), { ...options, isResumed }),
    );
    assert.deepEqual(many, one);
  }
});

test('the limit of pages allows the same lists as without overlap', () => {
  const list = ids(200);
  const result = readList((request) => pageAt(list, request), { mostPages: 21 });
  assert.deepEqual([result.code, result.passes, result.requests.length > 21], [undefined, 1, true]);
});

/** A change of the list when the third page is requested: rows 0 to 17 are read by then. */
type Change = (list: string[]) => string[];
const without = (list: readonly string[], ...gone: string[]) => list.filter((id) => !gone.includes(id));
const put = (list: readonly string[], at: number, ...rows: string[]) => list.toSpliced(at, 0, ...rows);
const swapped = (list: readonly string[], a: string, b: string) => list.map((id) => (id === a ? b : id === b ? a : id));

function readChanging(change: Change) {
  let list = ids(40);
  const result = readList((request) => {
    if (request.no === 3) list = change(list);
    return pageAt(list, request);
  });
  return { ...result, list };
}

test('every change that can hide a row leads to another pass', () => {
  const changes: Record<string, Change> = {
    'a row leaves the part already read': (list) => without(list, 'R4'),
    'a row of the overlap leaves': (list) => without(list, 'R17'),
    'a row moves from the part already read to the rest': (list) => put(without(list, 'R4'), 30, 'R4'),
    'a row appears in the part already read': (list) => put(list, 4, 'NEW'),
    'a row moves into the part already read': (list) => put(without(list, 'R30'), 4, 'R30'),
    'a row appears in the rest': (list) => put(list, 30, 'NEW'),
    'a row disappears in the rest': (list) => without(list, 'R30'),
    'two rows change places across the boundary': (list) => swapped(list, 'R4', 'R30'),
    'a row moves into the part already read, and another leaves the list': (list) =>
      put(without(list, 'R30', 'R4'), 4, 'R30'),
    'as many rows leave at the start as appear at the end': (list) => [...list.slice(4), 'N1', 'N2', 'N3', 'N4'],
    'the list is reversed': (list) => list.toReversed(),
  };
  for (const [about, change] of Object.entries(changes)) {
    const { passes, read, list, code } = readChanging(change);
    assert.deepEqual([about, passes > 1, code, missing(list, read)], [about, true, undefined, []]);
  }
});

test('changes that hide no row cost no other pass', () => {
  const moves: Record<string, Change> = {
    'a row moves inside the part already read': (list) => put(without(list, 'R2'), 10, 'R2'),
    'a row moves inside the rest': (list) => put(without(list, 'R39'), 20, 'R39'),
    'one row leaves the part already read, and another appears in it': (list) => put(without(list, 'R4'), 4, 'NEW'),
  };
  for (const [about, change] of Object.entries(moves)) {
    const { passes, read, code } = readChanging(change);
    assert.deepEqual([about, passes, code, missing(without(ids(40), 'R4'), read)], [about, 1, undefined, []]);
  }
});

test('the one combination that stays undetected is read by the next run', () => {
  const { passes, read, list } = readChanging((rows) => [...put(without(rows, 'R4', 'R30'), 4, 'R30'), 'NEW']);
  assert.deepEqual([passes, missing(list, read)], [1, ['R30']]);
  const next = readList((request) => pageAt(list, request));
  assert.deepEqual(missing(list, next.read), []);
});

/** Random changes before a request. Places are fractions of the list, so that they fit any length. */
const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true });
const step = fc.oneof(
  fc.record({ kind: fc.constant('appears' as const), to: place }),
  fc.record({ kind: fc.constant('leaves' as const), from: place }),
  fc.record({ kind: fc.constant('moves' as const), from: place, to: place }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Reads a list that changes before each request. Returns what was lost of the rows that never left the list. */
function readLiving(script: readonly (readonly Step[])[], options: ReadOptions) {
  const start = ids(37);
  let list = start;
  let born = 0;
  const result = readList((request) => {
    for (const one of script[request.no - 2] ?? []) {
      const from = 'from' in one ? list[Math.floor(one.from * list.length)] : undefined;
      if (from !== undefined) list = without(list, from);
      const row = one.kind === 'appears' ? `NEW${born++}` : one.kind === 'moves' ? from : undefined;
      if (row !== undefined && 'to' in one) list = put(list, Math.floor(one.to * (list.length + 1)), row);
    }
    return pageAt(list, request);
  }, options);
  const stayed = start.filter((id) => list.includes(id));
  return { ...result, lost: result.code === undefined ? missing(stayed, result.read) : [] };
}
const sizes = fc.integer({ min: 4, max: 12 });

test('where pages cannot overlap, rows removed in every pass do not hide another one', () => {
  const first = fc.record({ kind: fc.constant('leaves' as const), from: fc.constant(0) });
  const script = fc.array(fc.array(first, { maxLength: 2 }), { maxLength: 20 });
  fc.assert(
    fc.property(script, sizes, fc.constantFrom('offset', 'page'), (changes, pageSize, type) => {
      const { lost } = readLiving(changes, { pageSize, type, mayOverlap: false });
      assert.deepEqual(lost, []);
    }),
    { numRuns: 1_000 },
  );
});

test('one change before each request, over all passes, loses no row, with and without overlap', () => {
  const script = fc.array(fc.array(step, { maxLength: 1 }), { maxLength: 20 });
  fc.assert(
    fc.property(script, sizes, fc.boolean(), (changes, pageSize, mayOverlap) =>
      assert.deepEqual(readLiving(changes, { pageSize, mayOverlap }).lost, []),
    ),
    { numRuns: 1_000 },
  );
});

test('a list by modification time that is read once has lost no row, however much it changed', () => {
  const place0 = fc.constant(0);
  const change = fc.oneof(
    fc.record({ kind: fc.constant('appears' as const), to: place0 }),
    fc.record({ kind: fc.constant('leaves' as const), from: place }),
    fc.record({ kind: fc.constant('moves' as const), from: place, to: place0 }),
  );
  const script = fc.array(fc.array(change, { maxLength: 6 }), { maxLength: 8 });
  const lastPlace = 1 - Number.EPSILON;
  fc.assert(
    fc.property(script, sizes, fc.boolean(), (changes, pageSize, isNewestFirst) => {
      const ordered = changes.map((steps) =>
        steps.map((one) => ('to' in one && !isNewestFirst ? { ...one, to: lastPlace } : one)),
      );
      const { passes, lost } = readLiving(ordered, { pageSize });
      if (passes === 1) assert.deepEqual(lost, []);
    }),
    { numRuns: 1_000 },
  );
});
