import { hash53, Seen } from '../../kit/seen.ts';
import type { Row, WholePage } from './page.ts';
import type { Next, PageState, Paginator } from './paginate/paginator.ts';
import type { Limits, WindowPages } from './ports.ts';
import type { PassState } from './run-state.ts';
import { afterLastPage, brokenOff, type Verdict } from './verdict.ts';

/** What follows a page: the next one, the list once more, or the end of the window. */
export type Follow = Verdict | { readonly kind: 'page'; readonly pass: PassState };

export interface Taken {
  readonly follow: Follow;
  /** Rows to take in: not seen before in this window, or seen with other content. */
  readonly rows: readonly Row[];
  readonly fresh: number;
  readonly mark: number;
  /** Identity and content of each row, for a node that resumes. */
  readonly seen: Uint8Array;
}

export interface PassRules {
  readonly paginator: Paginator;
  readonly limits: Pick<Limits, 'pages' | 'emptyPages'>;
}

/** Pages that had come before, after which a partner is taken at its word that it has nothing else. */
const mostRepeats = 3;

/** Holds the pages of one window together: which rows came, which pages came twice, and when there is nothing more to ask for. */
export class WindowReader {
  readonly #rules: PassRules;
  /** Of each row the content, and in which pass it came last. */
  readonly #seen = new Seen();
  readonly #inPass = new Seen();
  readonly #marks = new Set<number>();
  readonly #fingerprints = new Set<number>();

  constructor(rules: PassRules, earlier?: WindowPages) {
    this.#rules = rules;
    for (const { bytes, isCurrent } of earlier?.seen ?? []) {
      // Copied: what comes from the store may start anywhere in its memory, and eight-byte numbers may not.
      const pairs = new Float64Array(new Uint8Array(bytes).buffer);
      for (let i = 0; i + 1 < pairs.length; i += 2) {
        this.#seen.set(pairs[i] ?? 1, pairs[i + 1] ?? 0);
        if (isCurrent) this.#inPass.set(pairs[i] ?? 1, 1);
      }
    }
    for (const mark of earlier?.marks ?? []) this.#marks.add(mark);
    for (const fingerprint of earlier?.fingerprints ?? []) this.#fingerprints.add(fingerprint);
  }

  take(pass: PassState, page: WholePage, next: Next): Taken {
    const state = pass.page ?? this.#rules.paginator.first;
    const mark = markOf(state);
    const { fresh, changed, doubles } = this.#sort(page.rows);
    const isRepeat = page.fingerprint !== 0 && this.#fingerprints.has(page.fingerprint);
    // The page after a short one only had to show that nothing follows; the same rows again show that as well.
    const isConfirmed = pass.confirms === true && fresh.length === 0;
    const rows = pass.rows + page.count;
    const total = page.total ?? pass.total;
    const after: PassState = {
      no: pass.no,
      page: null,
      pages: pass.pages + 1,
      rows,
      fresh: pass.fresh + fresh.length,
      doubles: pass.doubles + (isConfirmed ? 0 : doubles),
      repeats: pass.repeats + (isRepeat && !isConfirmed ? 1 : 0),
      emptyPages: page.rows.length === 0 ? pass.emptyPages + 1 : 0,
      distinct: pass.distinct + fresh.length,
      ...(total !== undefined && { total }),
    };
    this.#marks.add(mark);
    this.#fingerprints.add(page.fingerprint);
    const follow = isConfirmed ? this.#end({ ...after, pages: pass.pages }) : this.#follow(state, page, next, after);
    if (follow.kind === 'again') this.#beginPass();
    return {
      follow,
      rows: fresh.length + changed.length === page.rows.length ? page.rows : [...fresh, ...changed],
      fresh: fresh.length,
      mark,
      seen: hashesOf(page.rows),
    };
  }

  #sort(rows: readonly Row[]): { fresh: Row[]; changed: Row[]; doubles: number } {
    const fresh: Row[] = [];
    const changed: Row[] = [];
    let doubles = 0;
    for (const row of rows) {
      const known = this.#seen.get(row.identity);
      if (known === undefined) fresh.push(row);
      else if (known !== row.content) changed.push(row);
      if (this.#inPass.get(row.identity) !== undefined) doubles++;
    }
    for (const row of rows) {
      this.#seen.set(row.identity, row.content);
      this.#inPass.set(row.identity, 1);
    }
    return { fresh, changed, doubles };
  }

  #beginPass(): void {
    this.#marks.clear();
    this.#fingerprints.clear();
    this.#inPass.clear();
  }

  #end(after: PassState): Verdict {
    return afterLastPage(after, this.#rules.paginator.counts);
  }

  #follow(state: PageState, page: WholePage, next: Next, after: PassState): Follow {
    const { limits } = this.#rules;
    if (next.kind === 'end') return this.#end(after);
    if (next.kind === 'broken') return brokenOff(after, next.code, next.message);
    // In a later pass the list is known to go on: that pass 1 had a second page is why there is one.
    if (next.kind === 'short') return { kind: 'page', pass: { ...after, page: next.state, confirms: after.no === 1 } };
    if (this.#marks.has(markOf(next.state))) {
      // Some partners hand out the same cursor for good once the list is used up: with no rows, that is an end.
      if (page.rows.length === 0 && markOf(next.state) === markOf(state)) return this.#end(after);
      return brokenOff(after, 'pull.cursor_repeated', `page ${after.pages} names a cursor that was followed before`);
    }
    if (after.repeats >= mostRepeats) {
      return brokenOff(after, 'pull.page_repeated', `${after.repeats} of ${after.pages} pages had come before`);
    }
    if (after.pages >= limits.pages || after.emptyPages >= limits.emptyPages) {
      const empty = after.emptyPages >= limits.emptyPages ? ', the last ones without a row' : '';
      return brokenOff(after, 'pull.endless', `the list has not ended after ${after.pages} pages${empty}`);
    }
    return { kind: 'page', pass: { ...after, page: next.state } };
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
