import type { PullSettings } from '../../../documents/pull.ts';
import type { EpochMs } from '../../../terms.ts';
import { firstPass, type Joint, type PassState } from '../run/run-state.ts';
import type { WholePage } from './page.ts';
import type { Next, PageState } from './paginate/paginator.ts';

/**
 * Proves that an offset list was read completely in one pass. Each page begins a few rows before the end of the last one. The pass
 * is proven if every page begins with exactly those rows, every page reports the same total, no row appears twice elsewhere, and
 * there are as many rows as the total says. Otherwise the list is read again (verdict.ts).
 *
 * What can happen between two requests, and what shows it:
 *
 *   a row leaves the part already read, or moves from it to the rest     other rows at the boundary
 *   a row appears in the part already read, or moves into it             other rows at the boundary
 *   a row appears or disappears in the rest                              the total
 *   one row leaves the part already read, and another appears in it      nothing. No row of the rest is missed
 *   two rows change places across the boundary                           the one that moved to the rest appears twice
 *   a row moves to the part already read, and another leaves the list    the total
 *
 * One combination stays undetected, and the row that moved is missed: between the same two requests, one row moves from the rest to
 * the part already read, another leaves that part, and a third appears in the rest. (The same in two steps: two rows change places
 * across the boundary, and before its page is read the second one disappears while a third appears.) This needs an order in which
 * rows appear and move in both directions, such as by name. It cannot happen in a list by creation or modification time, where new
 * and changed rows all go to the same end. It is accepted because the next run over the same window reads the row. It must not have
 * a lasting effect: where absence from the list alone cancels a reservation, lists are not overlapped (`mayOverlap`), and a boundary
 * with more than 30 seconds between its requests proves nothing.
 */
export function mayOverlap({ gone, single }: Pick<PullSettings, 'gone' | 'single'>): boolean {
  return gone !== 'cancelled' || single !== undefined;
}

const longestGapMs = 30_000;

/** What one page shows about the boundary before it. */
export interface Boundary {
  /** The rows at the start of the page that the last page showed too. */
  readonly overlap: number;
  /** The page does not begin with the last rows of the page before. */
  readonly slipped: boolean;
  /** Absent if the pass does not overlap its pages. */
  readonly joint?: Pick<Joint, 'at' | 'proves'>;
}

export function boundaryAt(pass: PassState, page: WholePage, at: EpochMs, overlaps: boolean): Boundary {
  // Only where each counted row is one row of the page can rows be compared by position.
  const isComparable = page.count === page.rows.length;
  if (pass.pages === 0) {
    const begins = overlaps && pass.plainFrom === undefined && page.total !== undefined && isComparable;
    return { overlap: 0, slipped: false, ...(begins && { joint: { at, proves: true } }) };
  }
  const { joint } = pass;
  if (joint === undefined) return { overlap: 0, slipped: false };
  const { ids } = joint;
  // Everything was read before; this page only shows that the list ends.
  if (ids.length === 0 && page.count === 0) return { overlap: 0, slipped: false, joint };
  const slipped = !ids.every((id, i) => page.rows[i]?.identity === id);
  const isCertain = !slipped && isComparable && page.total === pass.total && at - joint.at <= longestGapMs;
  return { overlap: slipped ? 0 : ids.length, slipped, joint: { at, proves: joint.proves && isCertain } };
}

/**
 * Whether the second page shows that the server supports only multiples of the page size as offset: it is the first page again, or
 * the next page without the overlap. A list that moved shows some of the rows. `again`: the rows that the first page showed too.
 */
export function isRounded(pass: PassState, { slipped }: Boundary, page: WholePage, again: number): boolean {
  return slipped && pass.no === 1 && pass.pages === 1 && (again === 0 || again === page.rows.length);
}

/** Where to continue, and the joint with it. */
export function continued(
  { state, overlapping }: Extract<Next, { kind: 'next' }>,
  { rows }: WholePage,
  { joint, ...after }: PassState,
): { readonly page: PageState; readonly joint?: Joint } {
  if (joint !== undefined && overlapping !== undefined) {
    const ids = rows.slice(-Number(overlapping.overlap)).map(({ identity }) => identity);
    return { page: overlapping, joint: { ...joint, ids } };
  }
  const isAll = after.total !== undefined && after.rows >= after.total;
  return { page: state, ...(joint && isAll && { joint: { ...joint, ids: [] } }) };
}

/** Whether the pass, read to its end, proves by itself that the list is complete. */
export function isProven({ joint, rows, total, doubles, repeats }: PassState): boolean {
  return joint?.proves === true && rows === total && doubles === 0 && repeats === 0;
}

/** The pass that begins the list again, without overlap. */
export function withoutOverlap({ no, distinct }: PassState): PassState {
  return { ...firstPass, no: no + 1, distinct, plainFrom: no + 1 };
}

/** The first pass of the next window: a server that does not support overlaps is not asked for another in the same run. */
export function firstPassAfter({ plainFrom }: PassState): PassState {
  return plainFrom === undefined ? firstPass : { ...firstPass, plainFrom: 1 };
}
