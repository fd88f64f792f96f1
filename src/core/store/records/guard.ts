import { randomId } from '../../../kit/ids.ts';
import type { EpochMs } from '../../../terms.ts';
import type { Brand } from '../../brand/brand.ts';
import { countBatch, type Guard, type Held, heldIn, type Shown, withRows } from '../../reconcile/accidents/guard.ts';
import { type Baseline, bookingsToldApart, evaluate, nothingKnown } from '../../reconcile/accidents/judge.ts';
import type { Decided } from '../../reconcile/accidents/signs.ts';
import { feedOf, type Statement } from '../../reconcile/forms.ts';
import { numberOf, onlyRow, type Tx } from '../db/pool.ts';

/** Judges the changes of a batch before they are written: the values to set aside, by statement. */
export async function judgeSteps(
  tx: Tx,
  { guard, integration }: Brand,
  steps: readonly Decided[],
  shown: Shown,
): Promise<ReadonlyMap<Statement, readonly Held[]>> {
  const feed = feedOf(steps.map(({ statement }) => statement));
  const suspicion = guard && feed && countBatch(guard, steps, shown);
  if (guard === undefined || feed === undefined || suspicion === undefined) return new Map();
  const expected = await expectedIn(tx, integration, guard, shown);
  if (suspicion.isOnlyStrange && expected < guard.limits.rows) return new Map();
  const bookings = feed === 'push' ? await countBookings(tx, integration) : 0;
  const { normal: before, now } = await lockNormal(tx, integration, feed);
  const known = { now, newId: () => randomId('hld'), bookings, expected };
  const verdict = evaluate(before, suspicion.batches, guard.limits, known);
  const held = heldIn(suspicion, steps, verdict, shown);
  const rowsOf = (id: string) => [...held.values()].filter((all) => all.some(({ hold }) => hold === id)).length;
  const counted = verdict.normal.holds.map((hold) => {
    const rows = rowsOf(hold.id);
    return rows === 0 ? hold : withRows(hold, rows, now);
  });
  await saveNormal(tx, integration, feed, { ...verdict.normal, holds: counted });
  return held;
}

/** The bookings that a page's list showed before this run and should show now. Counted once for all pages of a window. */
async function expectedIn(tx: Tx, integration: string, guard: Guard, { window }: Shown): Promise<number> {
  if (window === undefined) return 0;
  const { from, to, runId } = window;
  const of = `${runId} ${from} ${to}`;
  if (guard.expected?.of === of) return guard.expected.bookings;
  const bookings = await numberOf(tx)(
    `select count(*)::int as bookings from records
      where integration = $1 and type = 'reservation' and version > 0 and arrival between $2::date and $3::date
        and listed is not null
        and created_at < (select started_at from runs where integration = $1 and run_id = $4)`,
    [integration, from, to, runId],
  );
  guard.expected = { of, bookings };
  return bookings;
}

/** The brand's bookings that are not over, counted up to the number from which more make no difference. */
const countBookings = (tx: Tx, integration: string): Promise<number> =>
  numberOf(tx)(
    `select count(*)::int as bookings from (
       select from records
        where integration = $1 and type = 'reservation' and version > 0 and arrival >= current_date - 7
          and data ->> 'status' not in ('cancelled', 'no_show', 'checked_out')
        limit $2) as open`,
    [integration, bookingsToldApart],
  );

export async function lockNormal(
  tx: Tx,
  integration: string,
  feed: string,
): Promise<{ normal: Baseline; now: EpochMs }> {
  await tx.query('insert into guards (integration, feed, normal) values ($1, $2, $3) on conflict do nothing', [
    integration,
    feed,
    nothingKnown,
  ]);
  return onlyRow(tx)<{ normal: Baseline; now: EpochMs }>(
    `select normal, (extract(epoch from now()) * 1000)::float8 as now from guards
      where integration = $1 and feed = $2 for update`,
    [integration, feed],
  );
}

export async function saveNormal(tx: Tx, integration: string, feed: string, normal: Baseline): Promise<void> {
  await tx.query('update guards set normal = $3 where integration = $1 and feed = $2', [integration, feed, normal]);
}
