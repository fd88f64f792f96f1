import { cellOf, changed, onlyRow, type Pool, rowsOf, transaction, type UnreadRow } from '../../core/store/db/pool.ts';
import { randomId } from '../../kit/ids.ts';
import type { Json } from '../../terms.ts';
import { type AlertRow, type Concern, concernParameters, concerns } from './alerts.ts';

export interface IncidentRow {
  readonly incident_id: string;
  readonly cause: string;
  readonly started_at: Date;
  readonly ended_at: Date | null;
  readonly acknowledged_at: Date | null;
  readonly acknowledged_by: string | null;
  readonly summary: Json;
}

/** A cause that returns within this time continues its incident. */
const againWithin = `interval '30 minutes'`;

/**
 * Puts each open alert into the incident of its cause, and ends the incidents whose alerts are all resolved. Returns those that ended.
 */
export async function groupIncidents(
  pool: Pool,
  causeOf: (alert: Pick<AlertRow, 'kind' | 'integration' | 'subject'>) => string,
): Promise<readonly IncidentRow[]> {
  return transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('incidents', 0))`);
    const alerts = await rowsOf(tx)<Pick<AlertRow, 'alert_id' | 'kind' | 'integration' | 'subject' | 'raised_at'>>(
      `select alert_id, kind, integration, subject, raised_at from alerts
        where resolved_at is null and incident_id is null order by raised_at`,
    );
    for (const [cause, group] of Map.groupBy(alerts, causeOf)) {
      const incidentId = await cellOf(tx)<string>(
        `with known as (
           update incidents set ended_at = null, summary = null
            where incident_id = (select incident_id from incidents
                                  where cause = $1 and (ended_at is null or ended_at > now() - ${againWithin})
                                  order by started_at desc limit 1)
           returning incident_id), made as (
           insert into incidents (incident_id, cause, started_at)
           select $2, $1, $3 where not exists (select from known) returning incident_id)
         select incident_id from known union all select incident_id from made`,
        [cause, randomId('inc'), group[0]?.raised_at],
      );
      await tx.query('update alerts set incident_id = $1 where alert_id = any($2)', [
        incidentId,
        group.map(({ alert_id }) => alert_id),
      ]);
    }
    return rowsOf(tx)<IncidentRow>(
      `update incidents i set ended_at = now() where ended_at is null
          and not exists (select from alerts a where a.incident_id = i.incident_id and a.resolved_at is null)
       returning i.incident_id, i.cause, i.started_at, i.ended_at, i.acknowledged_at, i.acknowledged_by, i.summary`,
    );
  });
}

export interface ListedIncident extends IncidentRow {
  readonly severity: 'warning' | 'critical';
  readonly alerts: number;
  readonly integrations: readonly string[];
  /** Of its newest alert; open ones and critical ones first. */
  readonly message: string;
}

/** With the kind and the subject of the alert that the message is of, and how many brands share that alert. */
type FoundIncident = ListedIncident & Pick<AlertRow, 'kind' | 'subject'> & { readonly brands: number | null };

/**
 * Newest first. A caller that is limited to some brands sees the incidents that have alerts which concern those: as acknowledged when their
 * own are, and without the summary, which counts all brands.
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
    `select i.incident_id, i.cause, i.started_at, i.ended_at, a.severity, a.alerts, a.integrations,
            a.first->>'message' as message, a.first->>'kind' as kind, a.first->>'subject' as subject,
            (a.first->>'brands')::int as brands,
            case when $2::text[] is null then i.acknowledged_at else a.acknowledged_at end as acknowledged_at,
            case when $2::text[] is null then i.acknowledged_by when a.acknowledged_at is not null then a.acknowledged_by end
              as acknowledged_by,
            case when $2::text[] is null then i.summary end as summary
       from incidents i
      cross join lateral (
        select count(*)::int as alerts, coalesce(min(severity) filter (where resolved_at is null), min(severity)) as severity, min(acknowledged_by) as acknowledged_by,
               case when coalesce(bool_and(acknowledged_at is not null) filter (where integration <> ''),
                                  bool_and(acknowledged_at is not null)) then max(acknowledged_at) end as acknowledged_at,
               array(select distinct b.name from alerts x
                      cross join lateral unnest(case when x.integration <> '' then array[x.integration]
                                                     when $2::text[] is not null then x.brands end) as b (name)
                      where x.incident_id = i.incident_id and ($2::text[] is null or b.name = any($2)) order by 1) as integrations,
               (array_agg(jsonb_build_object('message', message, 'kind', kind, 'subject', subject, 'brands', cardinality(brands))
                          order by resolved_at is not null, severity, raised_at desc))[1] as first
          from alerts where incident_id = i.incident_id and ${concerns(2)}) a
      where (not $1 or i.ended_at is null) and a.alerts > 0 and ($4::text is null or i.incident_id = $4)
        and ($5::timestamptz is null or (date_trunc('milliseconds', i.started_at), i.incident_id) < ($5, $6))
        and ($8::timestamptz is null or (i.started_at < $9 and coalesce(i.ended_at, now()) > $8))
      order by date_trunc('milliseconds', i.started_at) desc, i.incident_id desc limit $7`,
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
 * Acknowledges the alerts of the caller's brands, and the incident once all its alerts are acknowledged. An earlier acknowledgement
 * stays. False if none is of these brands alone: alerts that others share are not theirs to acknowledge.
 */
export async function acknowledgeIncident(
  db: Pool,
  incidentId: string,
  by: string,
  within: readonly string[] | undefined,
): Promise<boolean> {
  return transaction(db, async (tx) => {
    const set =
      'set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, $2)';
    const count = await changed(tx)(
      `update alerts ${set} where incident_id = $1 and ($3::text[] is null or integration = any($3))`,
      [incidentId, by, within],
    );
    await tx.query(
      `update incidents ${set} where incident_id = $1
          and not exists (select from alerts where incident_id = $1 and acknowledged_at is null)`,
      [incidentId, by],
    );
    return count > 0;
  });
}

export async function writeSummary(db: Pool, incidentId: string, summary: Json): Promise<void> {
  await db.query('update incidents set summary = $2 where incident_id = $1 and ended_at is not null', [
    incidentId,
    JSON.stringify(summary),
  ]);
}

type Counted = 'waiting' | 'dead_letters' | 'failed_attempts' | 'failed_runs' | 'complete_runs' | 'refused_events';
export type Effect = Readonly<Record<Counted, number>>;

/** What happened between two times to these brands, or to one of their destinations. */
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
    `select (select count(*)::int from outbox where integration = any($1) and due_at is not null
                and ($2::text is null or destination = $2)) as waiting,
            (select count(*)::int from dead_letters where integration = any($1) and at >= $3 and at <= coalesce($4, now())
                and ($2::text is null or destination = $2)) as dead_letters,
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
