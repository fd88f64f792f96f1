import { shortHash } from '../../../../kit/short-hash.ts';
import type { EpochMs } from '../../../../terms.ts';
import type { Row, WholePage } from '../page/page.ts';
import type { Next, PageState, Paginator } from '../page/paginate.ts';
import { type Limits, limitsOf, type WindowPages } from '../ports.ts';
import { asksByDays } from '../request/list-request.ts';
import {
  afterBatch,
  afterLastPage,
  boundaryAt,
  brokenOff,
  continued,
  isRounded,
  mayOverlap,
  type PassEnd,
  withoutOverlap,
} from './pass-end.ts';
import type { PassState, Position } from './run-state.ts';
import type { RunContext } from './run-work.ts';

/** What follows a page: the next page, another pass, or the end of the window. */
type Follow = PassEnd | { readonly kind: 'page'; readonly pass: PassState };

export interface Taken {
  readonly follow: Follow;
  /** Rows to process: new in this window, or with changed content. */
  readonly rows: readonly Row[];
  readonly fresh: number;
  /** Rows as the partner's paging counts them, without the overlap with the page before. */
  readonly count: number;
  readonly mark: number;
  /** Hashes of each row's identity and content, for a node that resumes the run. */
  readonly seen: Uint8Array;
}

interface PassRules {
  readonly paginator: Paginator;
  readonly limits: Pick<Limits, 'pages' | 'emptyPages'>;
  readonly mayOverlap: boolean;
  /** Each page is acknowledged before the next request, so that the list shows others. */
  readonly drains?: { readonly byDays: boolean } | undefined;
}

/** Repeated pages after which the list counts as looping. */
const mostRepeats = 3;

/** At most a quarter of a page is overlap, so a list has at most this many times as many pages. */
const pagesByOverlap = 4 / 3;

/** Tracks the pages of one window: rows seen, pages repeated, and when the list ends. */
export class WindowReader {
  readonly #rules: PassRules;
  /** Identity hash to content hash, over all passes of the window. */
  readonly #seen = new Map<number, number>();
  /** When each reservation changed last, where rows say so. */
  readonly #newest = new Map<number, number>();
  readonly #inPass = new Set<number>();
  readonly #marks = new Set<number>();
  readonly #fingerprints = new Set<number>();
  #passNo: number | undefined;

  constructor(rules: PassRules, earlier?: WindowPages) {
    this.#rules = rules;
    for (const { bytes, isCurrent } of earlier?.seen ?? []) {
      // Copied because a Float64Array needs 8-byte alignment, which a buffer from the store may lack.
      const pairs = new Float64Array(new Uint8Array(bytes).buffer);
      for (let i = 0; i + 1 < pairs.length; i += 2) {
        this.#seen.set(pairs[i] ?? 1, pairs[i + 1] ?? 0);
        if (isCurrent) this.#inPass.add(pairs[i] ?? 1);
      }
    }
    for (const mark of earlier?.marks ?? []) this.#marks.add(mark);
    for (const fingerprint of earlier?.fingerprints ?? []) this.#fingerprints.add(fingerprint);
  }

  take(pass: PassState, page: WholePage, next: Next, requestedAt: EpochMs): Taken {
    const { mayOverlap, drains, paginator } = this.#rules;
    const state = pass.page ?? paginator.first;
    const mark = markOf(state);
    this.#beginPass(pass.no);
    const boundary = boundaryAt(pass, page, requestedAt, mayOverlap && !drains);
    const { fresh, changed, doubles } = this.#classify(page.rows, boundary.overlap);
    const isRepeat = page.fingerprint !== 0 && this.#fingerprints.has(page.fingerprint);
    // This page was requested only to confirm that the short page was the last; the same rows again confirm it too.
    const isConfirmed = pass.confirms === true && doubles === page.rows.length && next.kind !== 'broken';
    const count = page.count - boundary.overlap;
    const total = page.total ?? pass.total;
    const after: PassState = {
      no: pass.no,
      page: null,
      pages: pass.pages + 1,
      rows: pass.rows + count,
      fresh: pass.fresh + fresh.length,
      doubles: pass.doubles + (isConfirmed ? 0 : doubles),
      repeats: pass.repeats + (isRepeat && !isConfirmed ? 1 : 0),
      emptyPages: page.rows.length === 0 ? pass.emptyPages + 1 : 0,
      distinct: pass.distinct + fresh.length,
      ...(total !== undefined && { total }),
      ...(pass.plainFrom !== undefined && { plainFrom: pass.plainFrom }),
      ...(pass.rowsBefore !== undefined && { rowsBefore: pass.rowsBefore }),
      ...(boundary.joint && { joint: { ...boundary.joint, ids: [] } }),
      ...((pass.slips !== undefined || boundary.slipped) && { slips: (pass.slips ?? 0) + Number(boundary.slipped) }),
    };
    this.#marks.add(mark);
    this.#fingerprints.add(page.fingerprint);
    const follow = isRounded(pass, boundary, page, doubles)
      ? ({ kind: 'again', pass: withoutOverlap(after) } as const)
      : isConfirmed
        ? this.#end({ ...after, pages: pass.pages })
        : this.#follow(state, page, next, after);
    return {
      follow,
      rows: (fresh.length + changed.length === page.rows.length ? page.rows : [...fresh, ...changed]).filter(
        (row) => !this.#isOutdated(row),
      ),
      fresh: fresh.length,
      count,
      mark,
      seen: hashesOf(page.rows),
    };
  }

  #classify(rows: readonly Row[], overlap: number): { fresh: Row[]; changed: Row[]; doubles: number } {
    const fresh: Row[] = [];
    const changed: Row[] = [];
    let doubles = 0;
    for (const [i, row] of rows.entries()) {
      const known = this.#seen.get(row.identity);
      if (known === undefined || (this.#rules.drains && known !== row.content)) fresh.push(row);
      else if (known !== row.content) changed.push(row);
      if (i >= overlap && this.#inPass.has(row.identity)) doubles++;
    }
    for (const row of rows) {
      this.#seen.set(row.identity, row.content);
      this.#inPass.add(row.identity);
    }
    return { fresh, changed, doubles };
  }

  /** Whether an earlier page showed a newer row of the reservation: a queue may list its newest rows first. */
  #isOutdated({ identity, changed }: Row): boolean {
    if (changed === undefined) return false;
    const newest = this.#newest.get(identity) ?? changed;
    if (changed >= newest) this.#newest.set(identity, changed);
    return changed < newest;
  }

  #beginPass(no: number): void {
    if (this.#passNo === no) return;
    const isResumed = this.#passNo === undefined;
    this.#passNo = no;
    if (isResumed) return;
    this.#marks.clear();
    this.#fingerprints.clear();
    this.#inPass.clear();
  }

  #end(after: PassState): PassEnd {
    const { drains, limits, paginator, mayOverlap } = this.#rules;
    if (drains) return afterBatch(after, limits.pages, drains.byDays);
    return afterLastPage(after, paginator.counts, !mayOverlap);
  }

  #follow(state: PageState, page: WholePage, next: Next, after: PassState): Follow {
    const { limits } = this.#rules;
    if (next.kind === 'end') return this.#end(after);
    if (next.kind === 'broken') return brokenOff(after, next.code, next.message);
    if (next.kind === 'short') return { kind: 'page', pass: { ...after, page: next.state, confirms: true } };
    const { joint: _joint, ...rest } = after;
    const onward = { ...rest, ...continued(next, page, after) };
    if (this.#marks.has(markOf(onward.page))) {
      // Some partners return the same cursor forever at the end of the list: with no rows, that is the end.
      if (page.rows.length === 0 && markOf(onward.page) === markOf(state)) return this.#end(after);
      return brokenOff(
        after,
        'pull.cursor_repeated',
        `page ${after.pages} returned a cursor that was already followed`,
      );
    }
    if (after.repeats >= mostRepeats) {
      return brokenOff(after, 'pull.page_repeated', `${after.repeats} of ${after.pages} pages were repeated`);
    }
    const mostPages = onward.joint === undefined ? limits.pages : limits.pages * pagesByOverlap;
    if (after.pages >= mostPages || after.emptyPages >= limits.emptyPages) {
      const empty = after.emptyPages >= limits.emptyPages ? ', the last ones empty' : '';
      return brokenOff(after, 'pull.endless', `the list did not end after ${after.pages} pages${empty}`);
    }
    return { kind: 'page', pass: onward };
  }
}

function markOf(state: PageState): number {
  return shortHash(JSON.stringify(state));
}

function hashesOf(rows: readonly Row[]): Uint8Array {
  const pairs = new Float64Array(rows.length * 2);
  for (const [i, row] of rows.entries()) {
    pairs[i * 2] = row.identity;
    pairs[i * 2 + 1] = row.content;
  }
  return new Uint8Array(pairs.buffer);
}

/** One reader per window. A run resumed inside a window loads what its earlier pages showed. */
export function windowReaders(
  { ports, plan: { settings }, run }: RunContext,
  paginator: Paginator,
  acknowledges: boolean,
) {
  const drains = acknowledges ? { byDays: asksByDays(settings, run) } : undefined;
  const rules = { paginator, limits: limitsOf(ports), mayOverlap: mayOverlap(settings), drains };
  let current: { readonly key: string; readonly reader: WindowReader } | undefined;
  return async ({ window, pass, list = 0 }: Position): Promise<WindowReader> => {
    const key = `${list} ${window?.from} ${window?.to}`;
    const isBegun = pass.no > 1 || pass.pages > 0;
    if (current?.key === key && isBegun) return current.reader;
    // The earlier node may have died before it acknowledged what it stored: such rows are new to this one.
    const isKnown = isBegun && drains === undefined;
    const earlier = isKnown && window ? await ports.runs.windowPages(run, window, pass.no) : undefined;
    const reader = new WindowReader(rules, earlier);
    current = { key, reader };
    return reader;
  };
}
