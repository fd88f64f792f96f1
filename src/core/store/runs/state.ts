import { type Pool, rowsOf } from '../db/pool.ts';
import { daysOfRun } from './days.ts';

/** How fresh and complete a brand is, for warehouses. */
export interface BrandState {
  readonly integration: string;
  readonly last_event_at: Date | null;
  readonly last_run_at: Date | null;
  /** The nights around today that complete runs asked for, without a gap. */
  readonly complete_from: string | null;
  readonly complete_until: string | null;
}

export const brandStates = (pool: Pool, integrations: readonly string[]): Promise<BrandState[]> =>
  rowsOf(pool)<BrandState>(
    `select b.integration, e.received_at as last_event_at, r.last_run_at, lower(d.days)::text as complete_from, (upper(d.days) - 1)::text as complete_until
       from unnest($1::text[]) as b (integration)
       left join lateral (select received_at from events where integration = b.integration order by seq desc limit 1) e on true
       left join lateral (select max(finished_at) as last_run_at, range_agg(${daysOfRun}) as asked
                            from runs where integration = b.integration and state = 'complete') r on true
       left join hotels h on h.integration = b.integration
       left join lateral (select days from unnest(coalesce(r.asked, '{}') + coalesce(h.asked, '{}')) as days
                           where lower(days) <= current_date order by days desc limit 1) d on true`,
    [integrations],
  );

export interface FinishedRun {
  readonly integration: string;
  readonly run_id: string;
  readonly kind: string;
  readonly sync: string;
  readonly state: string;
  readonly from_date: string | null;
  readonly to_date: string | null;
  readonly fetched: number;
  readonly changed: number;
  readonly unchanged: number;
  readonly held: number;
  readonly dead_lettered: number;
  /** By code. */
  readonly dead_letters: Readonly<Record<string, number>> | null;
  readonly began_at: Date | null;
  readonly ended_at: Date;
}

/** Runs that ended after this time, the oldest first. */
export const finishedRuns = (
  pool: Pool,
  integrations: readonly string[],
  sinceMs: number,
  most: number,
): Promise<FinishedRun[]> =>
  rowsOf(pool)<FinishedRun>(
    `select r.integration, r.run_id, r.kind, r.sync, r.state, r.from_date::text, r.to_date::text, r.fetched, r.changed, r.unchanged, r.held,
            r.dead as dead_lettered, d.codes as dead_letters, r.started_at as began_at, r.finished_at as ended_at
       from runs r left join lateral (
              select jsonb_object_agg(code, n) as codes from (
                select code, count(*) as n from dead_letters
                 where integration = r.integration and cause = 'run' and cause_id = r.run_id group by code) c
            ) d on r.dead > 0
      where r.integration = any($1) and date_trunc('milliseconds', r.finished_at) > to_timestamp($2 / 1000.0) and r.state in ('complete', 'incomplete', 'failed')
      order by r.finished_at limit $3`,
    [integrations, sinceMs, most],
  );
