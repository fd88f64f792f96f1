import type { LaneKey } from '../../core/deliver/ports.ts';
import { columnsOf } from '../../core/store/db/columns.ts';
import { type Pool, rowsOf } from '../../core/store/db/pool.ts';
import { percentileMs } from '../../kit/histogram.ts';
import type { Facts, LaneFacts } from '../watch/facts.ts';
import { type AlertRow, type Concern, ofMany } from './alerts.ts';

/** The facts that decide about alerts, one statement each. */

/** Syncs whose last finished run failed or is incomplete, of these brands or of all. Searches the failures, which are few, not the brands. */
export const failedLastRuns = (db: Pool, integrations: readonly string[] | undefined) =>
  rowsOf(db)<Facts['runs'][number]>(
    `select r.integration, r.sync, r.state, r.run_id, r.error_code from runs r
      where r.state in ('incomplete', 'failed') and r.sync <> 'backfill' and r.queued_at > now() - interval '2 days'
        and ($1::text[] is null or r.integration = any($1))
        and not exists (select from runs n where n.integration = r.integration and n.sync = r.sync
                           and n.queued_at > r.queued_at and n.finished_at is not null)
      order by r.integration, r.sync`,
    [integrations],
  );

/** Brands with accepted events that are not processed yet. */
export const pendingEvents = (db: Pool, integrations: readonly string[] | undefined) =>
  rowsOf(db)<Facts['pending'][number]>(
    `select integration, count(*)::int as count,
            (extract(epoch from now() - min(received_at)) * 1000)::float8 as oldest_ms from events
      where state = 'pending' and ($1::text[] is null or integration = any($1)) group by integration`,
    [integrations],
  );

export const authFailures = (db: Pool, integrations: readonly string[]) =>
  rowsOf(db)<Facts['authFailures'][number]>(
    `select integration, auth_message as message from partner_accounts where auth_failed_at is not null and integration = any($1)`,
    [integrations],
  );

/** Below this, a brand's cancellations of an hour are ordinary. */
const fewestCancelled = 10;

/**
 * Brands of whose coming bookings a quarter was cancelled within an hour, or ten times as many as in a usual hour of the last week: a large
 * minority is not held back, but somebody is told, for a day.
 */
export const manyCancelled = (db: Pool) =>
  rowsOf(db)<Facts['cancelled'][number]>(
    `with hour as (
       select integration, count(distinct id)::int as cancelled from history
        where at > now() - interval '1 hour' and outcome = 'cancelled' and type = 'reservation'
        group by integration having count(distinct id) >= ${fewestCancelled}
     ), judged as (
       select h.integration, h.cancelled,
              (select count(*)::int from records r where r.integration = h.integration and r.arrival >= current_date and r.version > 0
                  and (r.event <> 'cancelled' or r.changed_at > now() - interval '1 hour')) as coming,
              (select count(*) / 168.0 from history w where w.integration = h.integration and w.outcome = 'cancelled'
                  and w.at between now() - interval '7 days' and now() - interval '1 hour')::float8 as usual
         from hour h
     ), told as (
       select integration, cancelled, coming, usual from judged
        where cancelled >= coming * 0.25 or (usual >= 1 and cancelled >= usual * 10)
     )
     select * from told
     union all
     select integration, (detail ->> 'cancelled')::int, (detail ->> 'coming')::int, (detail ->> 'usual')::float8 from alerts
      where kind = 'rows_unusual' and subject = 'many cancelled' and resolved_at is null and raised_at > now() - interval '1 day'
        and integration not in (select integration from told)`,
  );

/** A few may lie with their records; with so many and nothing accepted since the first, it is the destination. */
const fewestRefused = 3;

/** What the destination itself said no to, not what a rule of ours did. */
export const refusals = ['deliver.refused', 'deliver.auth_failed', 'deliver.tries_used_up'];

/** Of these destinations, those that have accepted nothing since they began to refuse. */
export const refusingDestinations = (db: Pool, names: readonly string[]): Promise<Facts['refusing']> =>
  rowsOf(db)(
    `select d.destination as name, count(*)::int as records, min(d.last_at) as since,
            (array_agg(d.message order by d.last_at desc))[1] as last_failure
       from dead_letters d left join remotes r on r.kind = 'destination' and r.name = d.destination
      where d.state = 'open' and d.kind = 'delivery' and d.code = any($2) and d.destination = any($1)
        and d.last_at > coalesce(r.delivered_at, '-infinity')
      group by d.destination having count(*) >= ${fewestRefused} order by 1`,
    [names, refusals],
  );

/** Letters of these destinations are not counted: another condition says what is wrong. */
export const deadLetterGrowth = (db: Pool, refusing: readonly string[]) =>
  rowsOf(db)<Facts['deadLetters'][number]>(
    `select integration, count(*) filter (where at > now() - interval '1 hour')::int as last_hour,
            (count(*) filter (where at <= now() - interval '1 hour' and at > now() - interval '25 hours') / 24.0)::float8 as usual,
            count(*) filter (where state = 'open')::int as open
       from dead_letters where (state = 'open' or at > now() - interval '25 hours') and coalesce(destination, '') <> all($1)
      group by integration`,
    [refusing],
  );

export const clockSkews = (db: Pool) =>
  rowsOf(db)<Facts['skews'][number]>(
    `select * from (
       select integration, (count(*) filter (where occurred_at > received_at + interval '1 minute'))::int as ahead, count(*)::int as taken
         from events where received_at > now() - interval '1 hour' group by integration) t
      where ahead > 0`,
  );

interface Habit {
  readonly integration: string;
  readonly feed: 'push' | 'pull';
  readonly last_at: Date;
  readonly hours: readonly { readonly at: number; readonly count: number }[];
}

/** Feeds without data for at least `quietMs`, each with its hourly counts of the last four weeks. */
export const quietFeeds = (
  db: Pool,
  pushing: readonly string[],
  pulling: readonly string[],
  quietMs: number,
): Promise<Habit[]> =>
  rowsOf(db)(
    `with last as (
       select n as integration, 'push' as feed,
              (select e.received_at from events e where e.integration = n order by e.seq desc limit 1) as last_at
         from unnest($1::text[]) as n
       union all
       -- From the counts, not from the runs: a brand has thousands of runs in four weeks.
       select n, 'pull', greatest(
                (select a.at + interval '1 hour' from activity a where a.integration = n and a.step = '1h' and a.pulls > 0
                    and a.at > now() - interval '28 days' order by a.at desc limit 1),
                (select a.at + interval '10 seconds' from activity a where a.integration = n and a.step = '10s' and a.pulls > 0
                  order by a.at desc limit 1))
         from unnest($2::text[]) as n
     )
     select l.integration, l.feed, l.last_at,
            coalesce((select json_agg(json_build_object('at', extract(epoch from a.at) * 1000, 'count', c.count) order by a.at)
               from activity a, lateral (select case when l.feed = 'push' then a.events else a.pulls end as count) c
              where a.integration = l.integration and a.step = '1h' and a.at > now() - interval '28 days' and c.count > 0), '[]') as hours
       from last l where l.last_at < now() - $3 * interval '1 ms'`,
    [pushing, pulling, quietMs],
  );

/** Facts about the health of brands, one statement each. All are cheap enough to read every few seconds. */

/**
 * The lanes with deliveries that wait after a failed attempt. The reason comes from the delivery that is due next, found by the
 * outbox's index.
 */
export const retryingLanes = (db: Pool, lanes: readonly LaneKey[]) =>
  rowsOf(db)<LaneKey & Pick<LaneFacts, 'retrying' | 'last_failure' | 'delivered_since'>>(
    `select l.integration, l.destination, r.retrying, coalesce(f.message, f.code) as last_failure,
            exists (select from remotes where kind = 'destination' and name = l.destination and delivered_at > f.at) as delivered_since
       from unnest($1::text[], $2::text[]) as l (integration, destination)
       cross join lateral (select count(*)::int as retrying from (
           select from outbox o where o.integration = l.integration and o.destination = l.destination
              and o.due_at is not null and not o.leased and (o.attempt > 0 or o.due_at > now())
            order by o.due_at limit 10000) o) r
       left join lateral (select o.type, o.id from outbox o where o.integration = l.integration
           and o.destination = l.destination and o.due_at is not null and not o.leased
           and (o.attempt > 0 or o.due_at > now()) order by o.due_at limit 1) o on true
       left join lateral (select a.at, a.code, a.message from attempts a where a.integration = l.integration
           and a.type = o.type and a.id = o.id and a.destination = l.destination and a.outcome = 'retry'
           order by a.at desc limit 1) f on true
      where r.retrying > 0 and f.at is not null`,
    columnsOf(lanes, 'integration', 'destination'),
  );

/** Runs in progress that wait: parked, or holding their slot. */
export const waitingRuns = (db: Pool, integrations: readonly string[]) =>
  rowsOf(db)<Facts['waitingRuns'][number]>(
    `select integration, sync, waiting from runs
      where integration = any($1) and state in ('queued', 'running') and waiting is not null order by integration, sync`,
    [integrations],
  );

/** The median of the last day's hourly latencies (95th percentile, from intake to delivery). */
export async function usualLatencies(db: Pool, integrations: readonly string[]): Promise<Map<string, number>> {
  const { rows } = await db.query<{ integration: string; latency: number[] }>(
    `select integration, latency from activity
      where integration = any($1) and step = '1h' and at > now() - interval '1 day' and latency is not null`,
    [integrations],
  );
  const hours = Map.groupBy(rows, ({ integration }) => integration);
  return new Map(
    [...hours].map(([integration, own]) => {
      const latencies = own.map(({ latency }) => percentileMs(latency, 0.95) ?? 0).sort((a, b) => a - b);
      return [integration, latencies[Math.floor((latencies.length - 1) / 2)] ?? 0];
    }),
  );
}

export interface OpenAlert extends Pick<AlertRow, 'integration' | 'kind' | 'subject' | 'severity' | 'message'> {
  /** How many brands share it; null for an alert of one brand. */
  readonly brands: number | null;
}

/** Open alerts of these brands and destinations, once for each brand. */
export const openAlertsOf = (db: Pool, { integrations, destinations }: Concern): Promise<OpenAlert[]> =>
  rowsOf(db)(
    `select b.integration, a.kind, a.subject, a.severity, a.message, cardinality(a.brands) as brands from alerts a
      cross join lateral unnest(coalesce(a.brands, array[a.integration])) as b (integration)
      where a.resolved_at is null
        and (b.integration = any($1) or (b.integration = '' and ${ofMany('a', 2)}))
      order by a.raised_at`,
    [integrations, destinations],
  );
