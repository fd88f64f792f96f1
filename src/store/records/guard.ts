import type { Brand } from '../../brand/brand.ts';
import { randomId } from '../../kit/ids.ts';
import { countBatch, feedOf, type Held, heldIn, type Shown, withRows } from '../../reconcile/accidents/guard.ts';
import { judge, type Normal, nothingKnown } from '../../reconcile/accidents/judge.ts';
import type { Step } from '../../reconcile/accidents/signs.ts';
import type { Statement } from '../../reconcile/forms.ts';
import type { EpochMs } from '../../terms.ts';
import type { Tx } from '../db/pool.ts';

/** Judges the changes of a batch before they are written: the values to set aside, by statement. */
export async function judgeSteps(
  tx: Tx,
  { guard, integration }: Brand,
  steps: readonly Step[],
  shown: Shown,
): Promise<ReadonlyMap<Statement, readonly Held[]>> {
  const feed = feedOf(steps.map(({ statement }) => statement));
  const suspicion = guard && feed && countBatch(guard, steps, shown);
  if (guard === undefined || feed === undefined || suspicion === undefined) return new Map();
  const counts = await countBookings(tx, integration, shown);
  if (suspicion.isOnlyStrange && counts.expected < guard.limits.rows) return new Map();
  const { normal: before, now } = await lockNormal(tx, integration, feed);
  const known = { now, newId: () => randomId('hld'), ...counts };
  const verdict = judge(before, suspicion.batches, guard.limits, known);
  const held = heldIn(suspicion, steps, verdict, shown);
  const rowsOf = (id: string) => [...held.values()].filter((all) => all.some(({ hold }) => hold === id)).length;
  const counted = verdict.normal.holds.map((hold) => {
    const rows = rowsOf(hold.id);
    return rows === 0 ? hold : withRows(hold, rows, now);
  });
  await saveNormal(tx, integration, feed, { ...verdict.normal, holds: counted });
  return held;
}

/** The brand's bookings that are not over, and those that a page's list showed before this run and should show now. */
async function countBookings(
  tx: Tx,
  integration: string,
  { window }: Shown,
): Promise<{ readonly bookings: number; readonly expected: number }> {
  const { rows } = await tx.query<{ bookings: number; expected: number }>(
    `select (select count(*)::int from records
              where integration = $1 and type = 'reservation' and version > 0 and arrival >= current_date - 7
                and data ->> 'status' not in ('cancelled', 'no_show', 'checked_out')) as bookings,
            (select count(*)::int from records
              where integration = $1 and type = 'reservation' and version > 0 and arrival between $2::date and $3::date
                and listed is not null
                and created_at < (select started_at from runs where integration = $1 and run_id = $4)) as expected`,
    [integration, window?.from ?? null, window?.to ?? null, window?.runId ?? null],
  );
  return rows[0] ?? { bookings: 0, expected: 0 };
}

export async function lockNormal(tx: Tx, integration: string, feed: string): Promise<{ normal: Normal; now: EpochMs }> {
  await tx.query('insert into guards (integration, feed, normal) values ($1, $2, $3) on conflict do nothing', [
    integration,
    feed,
    nothingKnown,
  ]);
  const { rows } = await tx.query<{ normal: Normal; now: EpochMs }>(
    `select normal, (extract(epoch from now()) * 1000)::float8 as now from guards
      where integration = $1 and feed = $2 for update`,
    [integration, feed],
  );
  return rows[0] ?? { normal: nothingKnown, now: 0 };
}

export async function saveNormal(tx: Tx, integration: string, feed: string, normal: Normal): Promise<void> {
  await tx.query('update guards set normal = $3 where integration = $1 and feed = $2', [integration, feed, normal]);
}
