import { type Evidence, moved, rowKey, type Walk } from '../evidence.ts';
import { broken, holds, type Rule, unseen, type Verdict } from '../rule.ts';

/** Pages: read in small ones, the list must come whole, once, and to an end. One cause fails one rule: what cannot be told after it is skipped. */
export const pagingRules: readonly Rule<Evidence>[] = [
  {
    id: 'paging.limit',
    level: 'must',
    title: 'A page that is not the last is as long as was asked for',
    change:
      'Honour limit, or say in your description how much you give at most: a page shorter than limit is taken for the last one.',
    judge: (evidence) =>
      walked(evidence, (walk) => {
        if (walk.kind !== 'offset' && walk.kind !== 'page') return unseen(`Does not matter with ${walk.kind} paging.`);
        const [first] = walk.pages;
        if (walk.capped !== undefined && (walk.pages[1]?.listed?.records.length ?? 0) > 0)
          return broken(
            `${walk.capped.got} rows came where ${walk.capped.asked} were asked for, and there are ${walk.expected}.`,
            evidence.list.number,
          );
        const rows = firstRows(walk);
        return rows > walk.limit
          ? broken(`${rows} rows came where ${walk.limit} were asked for.`, first?.seen.number)
          : holds(`${rows} rows for a limit of ${walk.limit}.`, first?.seen.number);
      }),
  },
  {
    id: 'paging.advances',
    level: 'must',
    title: 'The next page brings the next reservations',
    change: 'Apply offset (or page, or the cursor) to the list, in an order that stays the same between requests.',
    judge: (evidence) =>
      walked(evidence, (walk) => {
        if (overlong(walk)) return unseen('Pages are longer than asked for.');
        const again = repeated(walk);
        if (again?.beyond === true) return unseen('All there is came before pages repeat.');
        if (again !== undefined)
          return broken(`Page ${again.page + 1} is page ${again.of + 1} again.`, walk.pages[again.page]?.seen.number);
        return walk.pages.length < 2
          ? unseen('There is only one page; choose a week with more reservations.')
          : holds(`${walk.pages.length} pages, each of its own.`);
      }),
  },
  {
    id: 'paging.ends',
    level: 'must',
    title: 'The list comes to an end',
    change: 'After the last reservation give an empty or shorter page, and no next_cursor.',
    judge: (evidence) =>
      walked(evidence, (walk) => {
        const last = walk.pages.at(-1)?.seen.number;
        const again = repeated(walk);
        if (again?.beyond === true)
          return broken(`Page ${again.page + 1} is page ${again.of + 1} again, after all there is.`, last);
        if (again !== undefined || overlong(walk)) return unseen('Pages could not be followed.');
        if (walk.end === 'ended' && !over(walk)) return holds(`After ${walk.pages.length} pages.`, last);
        if (over(walk))
          return broken(`${rowsOf(walk)} rows came and more were promised, though there are ${walk.expected}.`, last);
        return unseen(`Not read to the end: ${walk.pages.length} pages are the bound.`);
      }),
  },
  {
    id: 'paging.once',
    level: 'must',
    title: 'Each reservation comes once',
    change:
      'Sort by something that is unique and does not change, or offer a cursor: with offsets a booking made meanwhile shifts the list.',
    judge: (evidence) =>
      walked(evidence, (walk) => {
        if (repeated(walk) !== undefined || overlong(walk) || over(walk)) return unseen('Pages could not be followed.');
        const keys = walk.pages.flatMap(({ listed }) => listed?.records.map(rowKey) ?? []);
        const twice = keys.length - new Set(keys).size;
        if (twice > 0 && moved(evidence)) return unseen('The list changed while it was read; check at a quieter hour.');
        return twice > 0
          ? broken(`${twice} of ${keys.length} rows came a second time.`, walk.pages[0]?.seen.number)
          : holds(`${keys.length} rows, each once.`);
      }),
  },
  {
    id: 'paging.total',
    level: 'should',
    title: 'total is the number of reservations that come',
    change:
      'Count with the same filter as the list: the service holds what it read against total to know that nothing is missing.',
    judge: (evidence) =>
      walked(evidence, (walk) => {
        const total = evidence.listed?.envelope?.total;
        if (evidence.listed?.envelope === undefined) return unseen('A bare array has no total.');
        if (total === undefined) return unseen('There is no total; the end of the list is told by its pages.');
        if (typeof total !== 'number' || !Number.isInteger(total))
          return broken('total is no whole number.', evidence.list.number);
        if (walk.end !== 'ended' || repeated(walk) !== undefined || over(walk) || overlong(walk))
          return unseen('The list was not read to its end.');
        const came = new Set(walk.pages.flatMap(({ listed }) => listed?.records.map(rowKey) ?? [])).size;
        if (came !== total && moved(evidence))
          return unseen('The list changed while it was read; check at a quieter hour.');
        return came === total
          ? holds(`${total}, and as many came.`, evidence.list.number)
          : broken(`${total}, but ${came} came.`, evidence.list.number);
      }),
  },
  {
    id: 'paging.envelope',
    level: 'should',
    title: 'page and page_size are whole numbers',
    change: 'Write page and page_size as JSON numbers.',
    judge: ({ listed, list }) => {
      if (listed?.envelope === undefined) return unseen('There is no envelope.');
      const bad = ['page', 'page_size'].filter(
        (key) => listed.envelope?.[key] !== undefined && !Number.isInteger(listed.envelope[key]),
      );
      return bad.length > 0
        ? broken(`${bad.join(' and ')}: of another type.`, list.number)
        : holds('As described.', list.number);
    },
  },
];

function walked(evidence: Evidence, rule: (walk: Walk) => Verdict): Verdict {
  const { walk } = evidence;
  if (walk === undefined) return unseen('There was no list to read in pages.');
  if (walk.pages[0]?.listed === undefined || walk.end === 'failed') return unseen('A page could not be read.');
  return rule(walk);
}

interface Repeat {
  readonly page: number;
  /** The earlier page with the very same rows. */
  readonly of: number;
  /** All that there is had come before: the list does not end. Otherwise it does not advance. */
  readonly beyond: boolean;
}

function repeated(walk: Walk): Repeat | undefined {
  const marks = walk.pages.map(({ listed }) => listed?.records.map(rowKey).join(' ') ?? '');
  let before = 0;
  for (const [page, mark] of marks.entries()) {
    const of = mark === '' ? page : marks.indexOf(mark);
    if (of < page)
      return { page, of, beyond: walk.expected === undefined ? page > 1 && of === 0 : before >= walk.expected };
    before += walk.pages[page]?.listed?.records.length ?? 0;
  }
  return undefined;
}

function rowsOf(walk: Walk): number {
  return walk.pages.reduce((sum, { listed }) => sum + (listed?.records.length ?? 0), 0);
}

/** More came than there is. */
function over(walk: Walk): boolean {
  return walk.end === 'full' && walk.expected !== undefined && rowsOf(walk) > walk.expected;
}

/** Rows of the first page, one that comes twice counted once: that has a rule of its own. */
function firstRows(walk: Walk): number {
  return new Set(walk.pages[0]?.listed?.records.map(rowKey)).size;
}

/** The limit is not applied. */
function overlong(walk: Walk): boolean {
  return firstRows(walk) > walk.limit;
}
