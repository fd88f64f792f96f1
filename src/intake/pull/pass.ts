import type { ErrorCode } from '../../errors.ts';
import type { Page, Row } from './page.ts';
import type { Next, PageState, Paginator } from './paginate/paginator.ts';
import type { Limits, WindowPages } from './ports.ts';
import { firstPass, type PassState } from './run-state.ts';
import { hash53, SeenRows } from './seen.ts';

/** What follows a page. */
export type Follow =
  | { readonly kind: 'page'; readonly pass: PassState }
  | { readonly kind: 'done'; readonly finding?: { readonly code: ErrorCode; readonly message: string } };

export interface Taken {
  readonly follow: Follow;
  /** Rows to take in: not seen before in this window, or seen with other content. */
  readonly rows: readonly Row[];
  readonly fresh: number;
  readonly mark: number;
  /** Identity and content of each row, for a node that resumes. */
  readonly seen: Uint8Array;
  /** A short page of so many rows has just been shown to be the end of its list. */
  readonly uncut?: number;
}

export interface PassRules {
  readonly paginator: Paginator;
  readonly limits: Pick<Limits, 'pages' | 'emptyPages'>;
  /** Short pages up to this size are ends: a larger one has come whole. */
  uncutRows(): number;
}

const mostPasses = 4;
/** Pages that had come before, after which a partner is taken at its word that it has nothing else. */
const mostRepeats = 3;

/**
 * Holds the pages of one window together: which rows came, which pages came twice, when there is nothing more to ask for, and
 * whether that was all. A list that is paged by counting and spans pages is gone through again until a pass brings nothing
 * new: rows that moved from a part not yet read to one already read are found in no other way, and neither an overlap of
 * pages nor the total shows them when something else made up for the count.
 */
export class WindowReader {
  readonly #rules: PassRules;
  readonly #seen = new SeenRows();
  #marks = new Set<number>();
  #fingerprints = new Set<number>();

  constructor(rules: PassRules, earlier?: WindowPages) {
    this.#rules = rules;
    for (const bytes of earlier?.seen ?? []) {
      const pairs = new Float64Array(bytes.slice().buffer);
      for (let i = 0; i + 1 < pairs.length; i += 2) this.#seen.set(pairs[i] ?? 1, pairs[i + 1] ?? 0);
    }
    for (const mark of earlier?.marks ?? []) this.#marks.add(mark);
    for (const fingerprint of earlier?.fingerprints ?? []) this.#fingerprints.add(fingerprint);
  }

  take(pass: PassState, page: Extract<Page, { kind: 'page' }>, next: Next): Taken {
    const state = pass.page ?? this.#rules.paginator.first;
    const mark = markOf(state);
    this.#marks.add(mark);
    const fresh: Row[] = [];
    const changed: Row[] = [];
    for (const row of page.rows) {
      const known = this.#seen.get(row.identity);
      if (known === undefined) fresh.push(row);
      else if (row.content === 0 || known !== row.content) changed.push(row);
    }
    for (const row of page.rows) this.#seen.set(row.identity, row.content);
    const repeated = page.fingerprint !== 0 && this.#fingerprints.has(page.fingerprint);
    this.#fingerprints.add(page.fingerprint);

    const after: PassState = {
      no: pass.no,
      page: null,
      pages: pass.pages + 1,
      fresh: pass.fresh + fresh.length,
      repeats: pass.repeats + (repeated ? 1 : 0),
      emptyPages: page.rows.length === 0 ? pass.emptyPages + 1 : 0,
      distinct: pass.distinct + fresh.length,
      ...((page.total ?? pass.total) !== undefined && { total: page.total ?? pass.total }),
    };
    const confirmed = pass.confirms !== undefined && fresh.length === 0;
    return {
      follow: confirmed ? this.#end(after, after.pages - 1) : this.#follow(state, page, next, after),
      rows: fresh.length + changed.length === page.rows.length ? page.rows : [...fresh, ...changed],
      fresh: fresh.length,
      mark,
      seen: hashesOf(page.rows),
      ...(pass.confirms !== undefined && page.rows.length === 0 && { uncut: pass.confirms }),
    };
  }

  #follow(state: PageState, page: Extract<Page, { kind: 'page' }>, next: Next, after: PassState): Follow {
    const { limits } = this.#rules;
    if (next.kind === 'end') return this.#end(after);
    if (next.kind === 'broken') return this.#brokenOff(after, next.code, next.message);
    if (next.kind === 'short') {
      if (page.count <= this.#rules.uncutRows()) return this.#end(after);
      return { kind: 'page', pass: { ...after, page: next.state, confirms: page.count } };
    }
    if (this.#marks.has(markOf(next.state))) {
      // Some partners hand out the same cursor for good once the list is used up: with no rows, that is an end.
      if (page.rows.length === 0 && markOf(next.state) === markOf(state)) return this.#end(after);
      return this.#brokenOff(
        after,
        'pull.cursor_repeated',
        `page ${after.pages} names a cursor that was followed before`,
      );
    }
    if (after.repeats >= mostRepeats) {
      return this.#brokenOff(after, 'pull.page_repeated', `${after.repeats} of ${after.pages} pages had come before`);
    }
    if (after.pages >= limits.pages || after.emptyPages >= limits.emptyPages) {
      const empty = after.emptyPages >= limits.emptyPages ? ', the last ones without a row' : '';
      return this.#brokenOff(after, 'pull.endless', `the list has not ended after ${after.pages} pages${empty}`);
    }
    return { kind: 'page', pass: { ...after, page: next.state } };
  }

  /** The partner says that this was the last page. `pages` leaves out one that only confirmed a short page. */
  #end(pass: PassState, pages = pass.pages): Follow {
    const { counts } = this.#rules.paginator;
    const short = pass.total !== undefined && pass.distinct < pass.total;
    const doubtful =
      pass.no === 1
        ? (counts && pages > 1 && pass.distinct > 0) || pass.repeats > 0 || (short && pages > 1)
        : pass.fresh > 0 || pass.repeats > 0;
    if (doubtful && pass.no < mostPasses) {
      this.#marks = new Set();
      this.#fingerprints = new Set();
      const { distinct } = pass;
      return { kind: 'page', pass: { ...firstPass, no: pass.no + 1, distinct } };
    }
    if (doubtful && pass.repeats > 0) {
      const message = `${pass.repeats} of ${pass.pages} pages came twice at every pass`;
      return { kind: 'done', finding: { code: 'pull.page_repeated', message } };
    }
    if (doubtful) {
      const message = `pass ${pass.no} over the list still brought ${pass.fresh} new rows`;
      return { kind: 'done', finding: { code: 'pull.list_unstable', message } };
    }
    if (short) {
      const message = `the partner counts ${pass.total}, and ${pass.distinct} came`;
      return { kind: 'done', finding: { code: 'pull.total_not_reached', message } };
    }
    return { kind: 'done' };
  }

  /** Paging went wrong. The count can still show that nothing is missing. */
  #brokenOff(pass: PassState, code: ErrorCode, message: string): Follow {
    const whole = code !== 'pull.endless' && pass.distinct > 0 && pass.distinct === pass.total;
    return whole ? { kind: 'done' } : { kind: 'done', finding: { code, message } };
  }
}

function markOf(state: PageState): number {
  return hash53(JSON.stringify(state));
}

function hashesOf(rows: readonly Row[]): Uint8Array {
  const pairs = new Float64Array(rows.length * 2);
  for (const [i, row] of rows.entries()) {
    pairs[i * 2] = row.identity;
    pairs[i * 2 + 1] = row.content;
  }
  return new Uint8Array(pairs.buffer);
}
