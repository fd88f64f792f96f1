import { z } from 'zod';
import { changed, onlyRow, type Pool, rowsOf, type UnreadRow } from '../../core/store/db/pool.ts';
import type { Json } from '../../terms.ts';
import { type AlertRow, type Concern, concernParameters, concerns } from './alerts.ts';
import { instant, type Row } from './answers.ts';

/** Alerts of one cause: from the first that was raised until the last is resolved. */
export const incidentSchema = z.object({
  incident_id: z.string(),
  cause: z.string().describe('What its alerts have in common, such as destination:crm.'),
  severity: z.enum(['warning', 'critical']),
  message: z.string().describe('Of its newest alert; open ones and critical ones first.'),
  alerts: z.int(),
  integrations: z.array(z.string()),
  started_at: instant,
  ended_at: instant.nullable(),
  acknowledged_at: instant.nullable().describe('Null until all its alerts are acknowledged.'),
  acknowledged_by: z.string().nullable(),
});
export type ListedIncident = Row<typeof incidentSchema>;

/** With the kind and the subject of the alert that the message is of, and how many brands share that alert. */
type FoundIncident = ListedIncident & Pick<AlertRow, 'kind' | 'subject'> & { readonly brands: number | null };

/**
 * Newest first. A caller that is limited to some brands sees the alerts that concern those, and an incident as acknowledged when their own
 * are.
 */
export const listIncidents = (
  db: Pool,
  filter: {
    readonly open: boolean;
    readonly concern: Concern | undefined;
    readonly before: { readonly at: string; readonly id: string } | undefined;
    readonly id?: string;
    /** Only those that were open between these times. */
    readonly during?: { readonly from: Date; readonly to: Date };
    readonly limit: number;
  },
): Promise<FoundIncident[]> =>
  rowsOf(db)(
    `select incident_id, cause, started_at, ended_at, acknowledged_at, case when acknowledged_at is not null then acknowledged_by end as acknowledged_by,
            severity, alerts, integrations, first->>'message' as message, first->>'kind' as kind, first->>'subject' as subject,
            (first->>'brands')::int as brands
       from (select incident_id, min(cause) as cause, min(raised_at) as started_at, count(*)::int as alerts,
               case when bool_and(resolved_at is not null) then max(resolved_at) end as ended_at,
               coalesce(min(severity) filter (where resolved_at is null), min(severity)) as severity, min(acknowledged_by) as acknowledged_by,
               case when coalesce(bool_and(acknowledged_at is not null) filter (where $2::text[] is not null and integration <> ''),
                                  bool_and(acknowledged_at is not null)) then max(acknowledged_at) end as acknowledged_at,
               array(select distinct b.name from alerts x
                      cross join lateral unnest(case when x.integration <> '' then array[x.integration]
                                                     when $2::text[] is not null then x.brands end) as b (name)
                      where x.incident_id = alerts.incident_id and ($2::text[] is null or b.name = any($2)) order by 1) as integrations,
               (array_agg(jsonb_build_object('message', message, 'kind', kind, 'subject', subject, 'brands', cardinality(brands))
                          order by resolved_at is not null, severity, raised_at desc))[1] as first
          from alerts
         where incident_id is not null and ${concerns(2)} and ($4::text is null or incident_id = $4)
           and (not $1 or incident_id in (select incident_id from alerts where resolved_at is null))
         group by incident_id) i
      where (not $1 or ended_at is null)
        and ($5::timestamptz is null or (date_trunc('milliseconds', started_at), incident_id) < ($5, $6))
        and ($8::timestamptz is null or (started_at < $9 and coalesce(ended_at, now()) > $8))
      order by date_trunc('milliseconds', started_at) desc, incident_id desc limit $7`,
    [
      filter.open,
      ...concernParameters(filter.concern),
      filter.id,
      filter.before?.at,
      filter.before?.id ?? '',
      filter.limit,
      filter.during?.from,
      filter.during?.to,
    ],
  );

/** With the number of the brands that share an alert, and the names of those that the caller may see. */
export const alertsOfIncident = (
  db: Pool,
  incidentId: string,
  concern: Concern | undefined,
): Promise<(AlertRow & { readonly brands: number | null; readonly names: readonly string[] })[]> =>
  rowsOf(db)(
    `select alert_id, kind, integration, subject, severity, message, detail, raised_at, seen_at, acknowledged_at,
            acknowledged_by, resolved_at, cardinality(brands) as brands,
            array(select name from unnest(coalesce(brands, array[integration])) as b (name)
                   where name <> '' and ($2::text[] is null or name = any($2))) as names
       from alerts where incident_id = $1 and ${concerns(2)}
      order by resolved_at is not null, raised_at desc limit 200`,
    [incidentId, ...concernParameters(concern)],
  );

/**
 * Acknowledges the alerts of the caller's brands; an earlier acknowledgement stays. False if none is of these brands alone: alerts that others
 * share are not theirs to acknowledge.
 */
export const acknowledgeIncident = async (
  db: Pool,
  incidentId: string,
  by: string,
  within: readonly string[] | undefined,
): Promise<boolean> =>
  (await changed(db)(
    `update alerts set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, $2)
      where incident_id = $1 and ($3::text[] is null or integration = any($3))`,
    [incidentId, by, within],
  )) > 0;

type Counted =
  | 'waiting'
  | 'dead_letters'
  | 'failed_attempts'
  | 'waiting_runs'
  | 'failed_runs'
  | 'complete_runs'
  | 'refused_events';
export type Effect = Readonly<Record<Counted, number>>;

/**
 * What happened between two times to these brands, or to one of their destinations. Until the end, what waits and all open dead letters
 * count: an incident is seen after its first effects.
 */
export async function effectOf(
  db: Pool,
  of: {
    readonly integrations: readonly string[];
    readonly destination: string | undefined;
    readonly from: Date;
    readonly to: Date | null;
  },
): Promise<Effect> {
  return onlyRow(db)<Effect>(
    `select (select count(*)::int from outbox where $4::timestamptz is null and integration = any($1) and due_at is not null
                and ($2::text is null or destination = $2)) as waiting,
            (select count(*)::int from dead_letters where integration = any($1) and ($2::text is null or destination = $2)
                and case when $4 is null then state = 'open' else at >= $3 and at <= $4 end) as dead_letters,
            (select count(*)::int from runs where $4 is null and integration = any($1) and waiting is not null
                and finished_at is null) as waiting_runs,
            (select count(*)::int from attempts where integration = any($1) and at >= $3 and at <= coalesce($4, now())
                and outcome <> 'delivered' and ($2::text is null or destination = $2)) as failed_attempts,
            (select count(*)::int from runs where $2 is null and integration = any($1) and finished_at >= $3
                and finished_at <= coalesce($4, now()) and state in ('failed', 'incomplete')) as failed_runs,
            (select count(*)::int from runs where $2 is null and integration = any($1) and finished_at >= $3
                and finished_at <= coalesce($4, now()) and state = 'complete') as complete_runs,
            (select coalesce(sum(count), 0)::int from rejections where $2 is null and integration = any($1)
                and hour >= date_trunc('hour', $3::timestamptz) and hour <= coalesce($4, now())) as refused_events`,
    [of.integrations, of.destination, of.from, of.to],
  );
}

/** Actions that can change how data flows; reading and signing in are not among them. */
const changing = `action ~ '^(integrations\\.(pause|resume|run|backfill|refetch|resend|release|reprocess)|documents\\.(apply|remove)|dead_letters\\.(replay|drop)|jobs\\.(start|stop)|secrets\\.|endpoint\\.)'`;

/** What operators changed between two times, newest first: for these brands, or for no brand in particular (left out with `isLimited`). */
export const operatorActions = (
  db: Pool,
  of: {
    readonly integrations: readonly string[] | undefined;
    readonly isLimited: boolean;
    readonly from: Date;
    readonly to: Date | null;
    readonly limit: number;
  },
): Promise<(UnreadRow & { readonly target: Json })[]> =>
  rowsOf(db)(
    `select at, actor, action, integration, target from audit
      cross join lateral (select coalesce(integration, case target ->> 'kind' when 'integration' then target ->> 'name' end) as brand) b
      where at >= $2 and at <= coalesce($3, now()) and ${changing} and coalesce(status, 200) < 300
        and target->'preview' is distinct from 'true'
        and ($1::text[] is null or (not $5 and brand is null) or brand = any($1))
      order by at desc limit $4`,
    [of.integrations, of.from, of.to, of.limit, of.isLimited],
  );
