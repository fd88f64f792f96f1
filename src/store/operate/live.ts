import type { Pool, UnreadRow } from '../db/pool.ts';
import type { AlertRow } from './alert-row.ts';

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
  const { rows } = await db.query<News>(
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
  return rows[0] as News;
}
