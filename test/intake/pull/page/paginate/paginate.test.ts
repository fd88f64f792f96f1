import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { nextLink, paginatorFor, readTotal } from '../../../../../src/core/intake/pull/page/paginate.ts';
import type { Json } from '../../../../../src/terms.ts';

test('the next link is found among others in any notation', () => {
  const cases: [string, string | undefined][] = [
    ['</a?page=2>; rel="next"', '/a?page=2'],
    ['</a?page=2>;rel=next', '/a?page=2'],
    ['<x>; rel="prev", <y>; rel="next"', 'y'],
    ['<x,y>; title="a, b; rel=next"; rel=prev, <z>; rel="last NEXT"', 'z'],
    ['<x>; rel="nextish"', undefined],
    ['<x>; foo', undefined],
    ['not a link', undefined],
    ['', undefined],
  ];
  for (const [header, expected] of cases) assert.equal(nextLink(header), expected, header);
});

test('any malformed link header ends the search', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.constantFrom('<', '>', ';', ',', '"', '=', 'rel', 'next', ' ', 'x', '\\') }),
      (header) => void nextLink(header),
    ),
  );
});

test('which totals are readable', () => {
  const cases: [Json | undefined, number | undefined][] = [
    [450, 450],
    ['450', 450],
    [' 450 ', 450],
    [0, 0],
    [-1, undefined],
    [4.5, undefined],
    ['many', undefined],
    ['', undefined],
    [null, undefined],
    [[450], undefined],
    [undefined, undefined],
    ['99999999999999999999', undefined],
  ];
  for (const [value, expected] of cases) assert.equal(readTotal(value), expected);
});

/** A list of any length, in pages of any size, by a server with a usual cap, or one that sends the total. */
test('counted paging reaches every row of any list, whatever the cap', () => {
  fc.assert(
    fc.property(
      fc.nat(120),
      fc.integer({ min: 1, max: 30 }),
      fc.oneof(
        fc.record({ cap: fc.integer({ min: 1, max: 40 }), tells: fc.constant(true) }),
        fc.record({ cap: fc.constantFrom(10, 15, 16, 20, 25, 30, 32, 40), tells: fc.boolean() }),
      ),
      fc.constantFrom('offset', 'page'),
      (rows, pageSize, { cap, tells }, type) => {
        const list = Array.from({ length: rows }, (_, i) => i);
        const paginator = paginatorFor(
          type === 'offset'
            ? { type: 'offset', offset: 'query.o', limit: 'query.l', page_size: pageSize, first: 0, total: 'total' }
            : { type: 'page', page: 'query.p', limit: 'query.l', page_size: pageSize, first: 1, total: 'total' },
        );
        const seen: number[] = [];
        let state = paginator.first;
        for (let requests = 0; ; requests++) {
          assert.ok(requests < rows + 3);
          const limit = Math.min(pageSize, cap);
          const placed = Number(paginator.placements(state)[0]?.value);
          const start = type === 'offset' ? placed : (placed - 1) * limit;
          const page = list.slice(start, start + limit);
          seen.push(...page);
          const next = paginator.after(state, {
            rows: page.length,
            ...(tells && { total: rows }),
            body: null,
            headers: {},
            url: 'https://x.example/',
          });
          if (next.kind === 'end' || next.kind === 'broken') break;
          state = next.state;
        }
        assert.deepEqual(seen, list);
      },
    ),
  );
});
