import type { ErrorCode } from '../../../errors.ts';
import { formedAs, stateRows } from '../page/prepare-page.ts';
import { wholeGroups } from './cut-groups.ts';
import { limitsOf } from './limits.ts';
import { otherBrand } from './other-brand.ts';
import { type Counters, noCounts, type Position, type RunEnd, sum } from './run-state.ts';
import { failedEnd } from './turn.ts';
import type { RunContext } from './unlisted.ts';

export type Formed =
  | { readonly kind: 'ok'; readonly counters: Counters; readonly heldBack: number }
  | { readonly kind: 'end'; readonly end: RunEnd }
  | { readonly kind: 'fenced' }
  | { readonly kind: 'stopped' };

const keysAtOnce = 500;

/** Findings under which the lists were still read to their end. */
const readToTheEnd: ReadonlySet<ErrorCode> = new Set(['pull.total_not_reached', 'pull.list_unstable']);

/**
 * Groups staged flat rows into reservations once all pages of all windows are read, because a reservation's rows may be spread
 * over them. A run that was cut short groups nothing: a reservation with rows missing would overwrite a complete one.
 */
export async function formStaged(context: RunContext, position: Position, signal: AbortSignal): Promise<Formed> {
  const { ports, plan, run } = context;
  let counters = noCounts;
  let heldBack = 0;
  if (!plan.brand.shapers.pull.flat || position.findings.some(({ code }) => !readToTheEnd.has(code)))
    return { kind: 'ok', counters, heldBack };
  for (;;) {
    if (signal.aborted) return { kind: 'stopped' };
    const staged = await ports.runs.staged(run, keysAtOnce);
    if (staged.length === 0) return { kind: 'ok', counters, heldBack };
    let counted = noCounts;
    const made = staged.map(({ rows, requestedAt }) => {
      const raws = plan.brand.shapers.pull.group(rows);
      return stateRows({ plan, run, position, requestedAt }, raws, raws.map(formedAs));
    });
    for (const one of made) counted = sum(counted, one.counted);
    const whole = made.flatMap((one) => one.statements);
    const other = await otherBrand(ports, plan, { statements: whole, known: [] });
    if (other !== undefined) return { kind: 'end', end: failedEnd('pull.other_brand', other, position) };
    const { statements, ...cut } = await wholeGroups(context, whole);
    heldBack += cut.heldBack;
    counted = sum(counted, { ...cut.counts, skipped: cut.heldBack });
    const keys = staged.map(({ key }) => key);
    const formed = { keys, statements, counted };
    const tally = await ports.runs.commitFormed(run, limitsOf(ports).leaseMs, formed, plan.brand);
    if (tally === 'fenced') return { kind: 'fenced' };
    counters = sum(sum(counters, counted), tally);
  }
}
