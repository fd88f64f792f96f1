import type { Unreadable } from '../../core/intake/stream/ports.ts';
import { type Pool, rowsOf } from '../../core/store/db/pool.ts';
import type { Remote } from '../../core/store/remotes.ts';
import type { Facts } from '../watch/facts.ts';

/** What health and alerts must know about the ways in and out: circuits, refused webhooks, streams, lists. */

/** Only probes are sent to these. */
export const openCircuits = (pool: Pool, kind: Remote['kind']): Promise<Facts['circuits']> =>
  rowsOf(pool)(
    `select name, opened_at as open_since, last_failure, refused from remotes
      where kind = $1 and state <> 'closed' order by name`,
    [kind],
  );

/** Of the requests of the last hour, this many decide whether a mixture of accepted and refused ones is a fault. */
const window = 20;

/**
 * Brands with refused webhooks in the last 24 hours, of these or of all: how many, and how many of the last requests. Messages of streams
 * have no endpoint, and an event id that comes again is no refusal.
 */
export const refusedBrands = (db: Pool, integrations: readonly string[] | undefined) =>
  rowsOf(db)<Facts['refusals'][number]>(
    `with refused as (
       select integration, sum(count)::int as count from rejections
        where integration <> '' and endpoint_id <> '' and code <> 'push.event_id_reused'
          and hour >= date_trunc('hour', now() - interval '1 day') and ($1::text[] is null or integration = any($1))
        group by integration
     )
     select r.integration, r.count, l.code, l.reason, l.lately, l.accepted as "acceptedLately",
            e.received_at is not null as "everAccepted", l.since
       from refused r
       left join lateral (select received_at from events e where e.integration = r.integration order by seq desc limit 1) e on true
      cross join lateral (
        select (array_agg(code order by at desc) filter (where code is not null))[1] as code,
               (array_agg(reason order by at desc) filter (where code is not null))[1] as reason,
               (count(*) filter (where code is not null and at > coalesce(e.received_at, '-infinity')))::int as since,
               (count(*) filter (where code is not null and no <= ${window} and at > now() - interval '1 hour'))::int as lately,
               (count(*) filter (where code is null and no <= ${window} and at > now() - interval '1 hour'))::int as accepted
          from (select *, row_number() over (order by at desc) as no from (
            (select to_timestamp((one ->> 'at')::float8 / 1000) as at, j.code, j.reason
               from rejections j cross join lateral jsonb_array_elements(newest) as one
              where j.integration = r.integration and j.endpoint_id <> '' and j.code <> 'push.event_id_reused'
                and (one ->> 'at')::float8 > extract(epoch from now() - interval '1 day') * 1000 order by 1 desc limit ${window})
            union all
            (select received_at, null, null from events e where e.integration = r.integration order by seq desc limit ${window})
          ) requests) numbered) l
      where l.code is not null`,
    [integrations],
  );

/** How many reservations of each brand disappeared from its lists during the last day. */
export const recentlyUnlisted = (pool: Pool) =>
  rowsOf(pool)<Facts['unlisted'][number]>(
    `select n.integration, n.count,
            not exists (select from unnest(array['pre_stay', 'stay', 'post_stay']) as s (sync)
                         cross join lateral (select state, fetched from runs r where r.integration = n.integration and r.sync = s.sync
                                                and r.finished_at is not null order by r.queued_at desc limit 1) l
                         where l.fetched > 0 or l.state <> 'complete') as is_empty
       from (select integration, count(*)::int as count from records
              where unlisted is not null and (unlisted ->> 'since')::timestamptz > now() - interval '1 day'
              group by integration) n`,
  );

export type StreamState = Facts['streams'][number] & {
  readonly stream: string;
  /** Since when a node has read it; null while nobody does. */
  readonly connected_since: Date | null;
  readonly last_message_at: Date | null;
  readonly refused: Unreadable | null;
};

/** For health and alerts; one that nobody has read yet has a state without any. */
export const streamStates = (db: Pool, ids: readonly string[]): Promise<StreamState[]> =>
  rowsOf(db)(
    `select stream, coalesce(account, stream) as account, coalesce(failures, 0) as failures, failure, said, refused,
            (extract(epoch from now() - read_to) * 1000)::float8 as behind_ms, message_at as last_message_at,
            case when due_at > now() then connected_at end as connected_since,
            gap_at is not null and not exists (
              select from runs r where r.integration = account and r.state = 'complete' and r.queued_at > gap_at) as has_gap
       from unnest($1::text[]) as wanted (stream) left join streams using (stream)`,
    [ids],
  );
