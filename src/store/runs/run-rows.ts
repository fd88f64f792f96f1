import type { Pool } from '../db/pool.ts';
import type { RunSummary } from './list.ts';

/** What became of the rows of a run. Together they are all that it fetched. */
export type RowOutcome = 'changed' | 'unchanged' | 'superseded' | 'skipped' | 'dropped' | 'dead' | 'held';

export interface RunRow {
  readonly integration: string;
  /** Null for a dead letter without a readable id. */
  readonly id: string | null;
  readonly version: number | null;
  /** The rule that dropped it, why it was superseded, or what is wrong with it. */
  readonly reason: string | null;
  readonly dead_letter_id: string | null;
}

/** The history has no index by run, so it is searched in the time of the run, with a margin for the last commit. */
const during = `at >= $2::timestamptz - interval '1 minute' and at <= coalesce($3::timestamptz, now()) + interval '1 minute'`;
const ofHistory = (outcomes: string) =>
  `select integration, id, version, reason, null as dead_letter_id from history
    where ${during} and cause = 'run' and cause_id = $1 and type = 'reservation' and outcome in (${outcomes})`;

const statements: Readonly<Record<RowOutcome, string>> = {
  changed: ofHistory(`'created', 'updated', 'cancelled', 'erased', 'removed'`),
  superseded: ofHistory(`'superseded'`),
  dropped: ofHistory(`'dropped'`),
  held: ofHistory(`'held'`),
  unchanged: `select s.integration, i.id, null::int as version, null as reason, null as dead_letter_id
                from sightings s cross join unnest(s.ids) as i (id)
               where s.run_id = $1 and s.requested_at >= $2::timestamptz - interval '1 minute'
                 and s.requested_at <= coalesce($3::timestamptz, now()) + interval '1 minute'
               union all ${ofHistory(`'unchanged'`)}`,
  skipped: `select p.integration, i.id, null::int as version, null as reason, null as dead_letter_id
              from run_pages p cross join unnest(p.skipped) as i (id) where p.integration = $4 and p.run_id = $1`,
  // A record that fails again counts for the newest run, so the history knows the older ones.
  dead: `select d.integration, d.id, null::int as version, d.message as reason, d.dead_letter_id::text as dead_letter_id
           from dead_letters d where d.cause = 'run' and d.cause_id = $1
            and d.last_at >= $2::timestamptz - interval '1 minute'
          union all select h.integration, h.id, null, h.reason, null from (${ofHistory(`'dead'`)}) h
           where not exists (select from dead_letters d where d.integration = h.integration and d.type = 'reservation'
                                and d.id = h.id and d.cause_id = $1)`,
};

/** The rows of a run with one outcome, by id; at most `limit`. */
export async function runRows(
  db: Pool,
  { run_id, integration, queued_at, finished_at }: RunSummary,
  outcome: RowOutcome,
  limit: number,
): Promise<RunRow[]> {
  // The condition gives every parameter its type: no outcome needs all of them.
  const { rows } = await db.query<RunRow>(
    `select distinct integration, id, version, reason, dead_letter_id from (${statements[outcome]}) t
      where ($1::text, $2::timestamptz, $3::timestamptz, $4::text) is not null or true order by integration, id nulls first, version limit $5`,
    [run_id, queued_at, finished_at, integration, limit],
  );
  return rows;
}
