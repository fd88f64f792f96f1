import type { LaneKey } from '../../core/deliver/ports.ts';
import { columnsOf } from '../../core/store/db/columns.ts';
import { columnOf, numberOf, onlyRow, type Pool, rowOf, rowsOf, type UnreadRow } from '../../core/store/db/pool.ts';
import type { LaneFacts } from '../watch/facts.ts';
import type { AlertRow } from './alerts.ts';

/** The current state of a brand, read from the tables themselves. */
export interface IntegrationNow {
  readonly integration: string;
  readonly paused_at: Date | null;
  readonly paused_by: string | null;
  readonly auth_failed_at: Date | null;
  readonly auth_message: string | null;
  readonly retry_at: Date | null;
  readonly open_dead_letters: number;
  readonly last_event_at: Date | null;
  readonly last_run_at: Date | null;
  readonly last_run_status: string | null;
  readonly running: number;
  /** Stored bookings, and those with an e-mail address; null if those that came were never counted. */
  readonly bookings: number | null;
  readonly with_email: number;
  /** Deliveries ever, and the last of them (within ten seconds; an hour if it is long ago). */
  readonly delivered: number;
  readonly last_delivered_at: Date | null;
}

/**
 * Counts are grouped and newest rows are found by an index: a subquery for each brand reads the whole table for each brand if PostgreSQL
 * expects most rows to be of one brand.
 */
export const integrationsNow = (db: Pool, names: readonly string[]): Promise<IntegrationNow[]> =>
  rowsOf(db)(
    `select n.name as integration, p.paused_at, p.paused_by, p.auth_failed_at, p.auth_message,
            case when p.retry_at > now() then p.retry_at end as retry_at,
            coalesce(d.open, 0) as open_dead_letters,
            (select e.received_at from events e where e.integration = n.name and e.event <> 'guest.feedback' order by e.seq desc limit 1) as last_event_at,
            r.finished_at as last_run_at, r.state as last_run_status,
            (select count(*)::int from runs g where g.integration = n.name and g.state in ('queued', 'running')) as running,
            coalesce((e.quality ->> 'bookings')::int,
                     case when not exists (select from records r where r.integration = n.name and r.type = 'reservation') then 0 end) as bookings,
            coalesce((e.quality ->> 'with_email')::int, 0) as with_email,
            coalesce(e.delivered, 0)::float8 as delivered,
            coalesce((select at + interval '10 seconds' from activity a where a.integration = n.name and a.step = '10s' and a.delivered > 0
                       order by at desc limit 1),
                     (select at from activity a where a.integration = n.name and a.step = '1h' and a.delivered > 0 order by at desc limit 1)
            ) as last_delivered_at
       from unnest($1::text[]) as n (name)
       left join activity e on e.integration = n.name and e.step = 'ever'
       left join partner_accounts p on p.integration = n.name
       left join (select integration, count(*)::int as open from dead_letters
                   where integration = any($1) and state = 'open' group by integration) d on d.integration = n.name
       left join lateral (select l.finished_at, l.state from unnest(array['pre_stay', 'stay', 'post_stay', 'backfill']) as s (sync)
                           cross join lateral (select finished_at, state, queued_at from runs r
                                where r.integration = n.name and r.sync = s.sync and r.finished_at is not null
                                order by r.queued_at desc limit 1) l
                           order by l.queued_at desc limit 1) r on true
      order by n.name`,
    [names],
  );

export interface LaneNow extends LaneKey, Pick<LaneFacts, 'waiting' | 'late_ms'> {
  /** Records that a dead letter holds back. */
  readonly held: number;
  /** The destination accepted something of any brand in the last minute. */
  readonly moves: boolean;
}

/** The backlog of each lane. Counting stops at one million per lane; its order makes PostgreSQL use the index of due rows. */
export const lanesNow = (db: Pool, lanes: readonly LaneKey[]): Promise<LaneNow[]> =>
  rowsOf(db)(
    `select l.integration, l.destination,
            (select count(*)::int from (select from outbox o where o.integration = l.integration
                and o.destination = l.destination and o.due_at is not null order by o.due_at limit 1000000) w) as waiting,
            (select count(*)::int from dead_letters d where d.integration = l.integration and d.state = 'open'
                and d.kind = 'delivery' and d.destination = l.destination) as held,
            (select greatest(0, extract(epoch from now() - o.due_at) * 1000)::bigint from outbox o
              where o.integration = l.integration and o.destination = l.destination and o.due_at is not null
              order by o.due_at limit 1) as late_ms,
            exists (select from remotes r where r.kind = 'destination' and r.name = l.destination
                       and r.delivered_at > now() - interval '1 minute') as moves
       from unnest($1::text[], $2::text[]) as l (integration, destination)`,
    columnsOf(lanes, 'integration', 'destination'),
  );

/** More would take longer to read than the picture is worth. */
const sampledAges = 2_000;

/**
 * How long accepted events and stored changes have waited that are not delivered yet: of many a sample, the longest due first. What waits
 * in a preview is not late.
 */
export const waitingAges = (
  db: Pool,
  integrations: readonly string[],
  previews: readonly LaneKey[],
): Promise<number[]> =>
  columnOf(db)(
    `with changes as materialized (
       select integration, type, id, next_version from outbox
        where due_at is not null and destination not like 'innbound:%' and integration = any($1)
          and (integration, destination) not in (select * from unnest($2::text[], $3::text[])) order by due_at limit ${sampledAges}
     )
     select (extract(epoch from now() - at) * 1000)::float8 as age_ms
       from ((select received_at as at from events where state = 'pending' and integration = any($1) limit ${sampledAges})
             union all
             select h.at from changes c cross join lateral (
               select at from history h where h.integration = c.integration and h.id = c.id and h.type = c.type
                  and h.version = c.next_version order by h.entry_id limit 1) h) waiting`,
    [integrations, ...columnsOf(previews, 'integration', 'destination')],
  );

/** A second pause changes nothing. */
export async function pauseIntegration(db: Pool, integration: string, by: string, reason: string | null) {
  await db.query(
    `insert into partner_accounts as a (integration, paused_at, paused_by, pause_reason) values ($1, now(), $2, $3)
     on conflict (integration) do update set paused_at = now(), paused_by = $2, pause_reason = $3 where a.paused_at is null`,
    [integration, by, reason],
  );
}

/** Ends the pause. The syncs start now: they may have been due meanwhile. */
export async function resumeIntegration(db: Pool, integration: string): Promise<void> {
  await db.query(
    `with resumed as (
       update partner_accounts set paused_at = null, paused_by = null, pause_reason = null where integration = $1)
     update syncs set next_at = now() where integration = $1 and next_at is not null`,
    [integration],
  );
}

interface ScheduleNow {
  readonly integration: string;
  readonly sync: string;
  readonly next_at: Date;
  readonly skipped: number;
}

export const schedulesNow = (db: Pool, integrations: readonly string[]): Promise<ScheduleNow[]> =>
  rowsOf(db)(
    `select integration, sync, next_at, skipped from syncs where integration = any($1) and next_at is not null
      order by integration, sync`,
    [integrations],
  );

type NewsRow = UnreadRow & { readonly integration: string };

export interface News {
  readonly changes: readonly NewsRow[];
  readonly events: readonly NewsRow[];
  readonly runs: readonly NewsRow[];
  /** With all brands that share one; null if it is not shared. */
  readonly alerts: readonly (NewsRow &
    Pick<AlertRow, 'kind' | 'subject' | 'message'> & { readonly brands: readonly string[] | null })[];
  readonly activity: readonly NewsRow[];
}

/** The most rows shown per kind; the console draws rates from the activity counts. */
const most = 40;

/**
 * The news of the last seconds: ids and counts only. A row carries the time at which its transaction began, but becomes visible only
 * when that transaction commits. Reading from the end of the last read would miss it, so each read goes back 15 seconds.
 */
export async function readNews(db: Pool): Promise<News> {
  return onlyRow(db)<News>(
    `with window_ as (select now() - interval '15 seconds' as since)
     select
       coalesce((select json_agg(t order by t.at) from (
         select integration, type, id, version, outcome as event, cause, at from history
          where at > since and diff is not null order by at desc limit ${most}) t), '[]') as changes,
       coalesce((select json_agg(t order by t.at, t.seq) from (
         select integration, seq, event, event_id, received_at as at from events
          where received_at > since order by received_at desc limit ${most}) t), '[]') as events,
       coalesce((select json_agg(t) from (
         select integration, run_id, sync, kind, state as status, waiting, pages, requests, fetched, changed, unchanged,
                dead as dead_lettered, bytes, started_at, finished_at, error_code from runs
          where queued_at > now() - interval '2 days' and (state in ('queued', 'running') or finished_at > since)
          order by queued_at desc limit 200) t), '[]') as runs,
       coalesce((select json_agg(t) from (
         select alert_id, integration, kind, subject, severity, message, raised_at, acknowledged_at, resolved_at, brands from alerts
          where raised_at > since or acknowledged_at > since or resolved_at > since
          order by raised_at desc limit ${most}) t), '[]') as alerts,
       coalesce((select json_agg(t) from (
         select integration, at, events, pulls, changes, delivered, retried, dead, waiting
           from activity where step = '10s' and at > since - interval '10 seconds'
          order by at limit 2000) t), '[]') as activity
       from window_`,
  );
}

export type MetricRows = Awaited<ReturnType<typeof readMetrics>>;

/** The store's metrics for one scrape, in a few cheap statements; one after another, so that a scrape takes one connection. */
export async function readMetrics(db: Pool, integrations: readonly string[]) {
  const rows = <Row>(sql: string, values?: unknown[]) => rowsOf(db)<Row & { integration: string }>(sql, values);
  return {
    totals: await rows<Record<'events' | 'changes' | 'delivered' | 'retried' | 'dead', number>>(
      "select integration, events, changes, delivered, retried, dead from activity where step = 'ever'",
    ),
    deadLetters: await rows<{ kind: string; open: number }>(
      `select integration, kind, count(*)::int as open from dead_letters where state = 'open' group by 1, 2`,
    ),
    held: await rows<{ rows: number }>(
      `select integration, count(*)::int as rows from records where held is not null group by 1`,
    ),
    alerts: await rows<{ kind: string; severity: string; open: number }>(
      `select integration, kind, severity, count(*)::int as open from alerts where resolved_at is null group by 1, 2, 3`,
    ),
    runs: await rows<{ sync: string; state: string; finished: number }>(
      `select distinct on (integration, sync) integration, sync, state, extract(epoch from finished_at)::float8 as finished
         from runs where integration = any($1) and finished_at is not null and queued_at > now() - interval '2 days'
        order by integration, sync, queued_at desc`,
      [integrations],
    ),
    going: await numberOf(db)(`select count(*)::int as going from runs where state in ('queued', 'running')`),
    pendingEvents: await rows<{ pending: number }>(
      `select integration, count(*)::int as pending from events where state = 'pending' group by 1`,
    ),
    lastEvents: await rows<{ at: number }>(
      `select n as integration, extract(epoch from e.received_at)::float8 as at from unnest($1::text[]) as n,
              lateral (select received_at from events where integration = n order by seq desc limit 1) e`,
      [integrations],
    ),
  };
}

/** Row counts for the demo's screen. Counts whole tables, so only for small stores. */
export const readTotals = (db: Pool) =>
  rowOf(db)<Record<'reservations' | 'events' | 'delivered' | 'waiting' | 'dead', number>>(
    `select (select count(*) from records where type = 'reservation' and version > 0)::int as reservations,
            (select count(*) from events)::int as events,
            (select coalesce(sum(delivered_version), 0) from outbox where destination not like 'innbound:%')::int as delivered,
            (select count(*) from outbox where due_at is not null)::int as waiting,
            (select count(*) from dead_letters where state = 'open')::int as dead`,
  );
