import { type Evidence, moved, rowKey, type Walk } from '../evidence.ts';
import { broken, holds, ruleTable, unseen, type Verdict } from '../rule.ts';

/** Rules about paging: the list must be complete, without repetition, and end. One cause fails one rule; rules that depend on it are skipped. */
export const pagingRules = ruleTable<Evidence>({
  'paging.limit': {
    title: 'Every page except the last has as many rows as requested',
    change: 'Honour limit, or document your maximum: we treat a page shorter than limit as the last one.',
    judge: walked((walk, evidence) => {
      if (walk.kind !== 'offset' && walk.kind !== 'page') return unseen(`Not relevant for ${walk.kind} paging.`);
      const [first] = walk.pages;
      if (walk.capped !== undefined && (walk.pages[1]?.listed?.records.length ?? 0) > 0)
        return broken(
          `${walk.capped.got} rows for a limit of ${walk.capped.asked}, although there are ${walk.expected}.`,
          evidence.list.number,
        );
      const rows = firstRows(walk);
      return rows > walk.limit
        ? broken(`${rows} rows for a limit of ${walk.limit}.`, first?.seen.number)
        : holds(`${rows} rows for a limit of ${walk.limit}.`, first?.seen.number);
    }),
  },
  'paging.advances': {
    title: 'The next page has the next reservations',
    change: 'Apply offset (or page, or the cursor) to the list, in an order that is stable between requests.',
    judge: walked((walk) => {
      if (overlong(walk)) return unseen('Pages are longer than requested.');
      const again = repeated(walk);
      if (again?.beyond === true) return unseen('Everything was read before pages repeated.');
      if (again !== undefined)
        return broken(`Page ${again.page + 1} is page ${again.of + 1} again.`, walk.pages[again.page]?.seen.number);
      const filled = walk.pages.filter(({ listed }) => listed !== undefined && listed.records.length > 0).length;
      return filled < 2
        ? unseen('There is only one page; choose a week with more reservations.')
        : holds(`${filled} different pages.`);
    }),
  },
  'paging.ends': {
    title: 'The list ends',
    change: 'After the last reservation return an empty or shorter page, and no next_cursor.',
    judge: walked((walk) => {
      const last = walk.pages.at(-1)?.seen.number;
      const again = repeated(walk);
      if (again?.beyond === true)
        return broken(`Page ${again.page + 1} is page ${again.of + 1} again, after everything was read.`, last);
      if (again !== undefined || overlong(walk)) return unseen('Pages could not be followed.');
      if (walk.end === 'ended' && !over(walk)) return holds(`After ${walk.pages.length} pages.`, last);
      if (over(walk))
        return broken(
          `${rowsOf(walk)} rows were received and more announced, although there are ${walk.expected}.`,
          last,
        );
      return unseen(`Not read to the end: the limit is ${walk.pages.length} pages.`);
    }),
  },
  'paging.once': {
    title: 'Each reservation appears once',
    change:
      'Sort by something that is unique and does not change, or offer a cursor: with offsets, a booking made in the meantime shifts the list.',
    judge: walked((walk, evidence) => {
      if (repeated(walk) !== undefined || overlong(walk) || over(walk)) return unseen('Pages could not be followed.');
      const keys = walk.pages.flatMap(({ listed }) => listed?.records.map(rowKey) ?? []);
      const twice = keys.length - new Set(keys).size;
      if (twice > 0 && moved(evidence))
        return unseen('The list changed while it was read; run the check at a quieter time.');
      return twice > 0
        ? broken(`${twice} of ${keys.length} rows appeared twice.`, walk.pages[0]?.seen.number)
        : holds(`${keys.length} rows, each once.`);
    }),
  },
  'paging.total': {
    level: 'should',
    title: 'total is the number of reservations in the list',
    change:
      'Count with the same filter as the list: the service compares total with what it read, to know that nothing is missing.',
    judge: walked((walk, evidence) => {
      const total = evidence.listed?.envelope?.total;
      if (evidence.listed?.envelope === undefined) return unseen('A bare array has no total.');
      if (total === undefined) return unseen('There is no total; the pages show the end of the list.');
      if (typeof total !== 'number' || !Number.isInteger(total))
        return broken('total is not a whole number.', evidence.list.number);
      if (walk.end !== 'ended' || repeated(walk) !== undefined || over(walk) || overlong(walk))
        return unseen('The list was not read to its end.');
      const came = new Set(walk.pages.flatMap(({ listed }) => listed?.records.map(rowKey) ?? [])).size;
      if (came !== total && moved(evidence))
        return unseen('The list changed while it was read; run the check at a quieter time.');
      return came === total
        ? holds(`${total}, and as many were read.`, evidence.list.number)
        : broken(`${total}, but ${came} were received.`, evidence.list.number);
    }),
  },
  'paging.envelope': {
    level: 'should',
    title: 'page and page_size are whole numbers',
    change: 'Write page and page_size as JSON numbers.',
    judge: ({ listed, list }) => {
      if (listed?.envelope === undefined) return unseen('There is no envelope.');
      const bad = ['page', 'page_size'].filter(
        (key) => listed.envelope?.[key] !== undefined && !Number.isInteger(listed.envelope[key]),
      );
      return bad.length > 0
        ? broken(`${bad.join(' and ')}: wrong type.`, list.number)
        : holds('As described.', list.number);
    },
  },
});

function walked(rule: (walk: Walk, evidence: Evidence) => Verdict) {
  return (evidence: Evidence): Verdict => {
    const { walk } = evidence;
    if (walk === undefined) return unseen('There was no list to read in pages.');
    if (walk.pages[0]?.listed === undefined || walk.end === 'failed') return unseen('A page could not be read.');
    return rule(walk, evidence);
  };
}

interface Repeat {
  readonly page: number;
  /** The earlier page with the same rows. */
  readonly of: number;
  /** Whether everything had been read before: then the list does not end; otherwise it does not advance. */
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

/** More rows were received than exist. */
function over(walk: Walk): boolean {
  return walk.end === 'full' && walk.expected !== undefined && rowsOf(walk) > walk.expected;
}

/** Distinct rows of the first page; another rule reports duplicates. */
function firstRows(walk: Walk): number {
  return new Set(walk.pages[0]?.listed?.records.map(rowKey)).size;
}

/** The API ignores the limit. */
function overlong(walk: Walk): boolean {
  return firstRows(walk) > walk.limit;
}
