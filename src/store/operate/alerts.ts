import { randomId } from '../../kit/ids.ts';
import type { Alert as JudgedAlert } from '../../watch/alerts.ts';
import { type Pool, transaction } from '../db/pool.ts';
import type { AlertRow, RoutableAlert } from './alert-row.ts';
import { enqueueSends, type RouteAlert } from './alert-sends.ts';

/** Of any kind. */
export type Alert = Omit<JudgedAlert, 'kind'> & { readonly kind: string };

const columns =
  'alert_id, kind, integration, subject, severity, message, detail, raised_at, seen_at, acknowledged_at, acknowledged_by, resolved_at';

/**
 * Makes the open alerts match the current conditions: raises new ones, refreshes known ones and resolves those whose condition is
 * gone. Alerts of kinds that were not evaluated this time do not change.
 */
export async function settleAlerts(
  pool: Pool,
  alerts: readonly Alert[],
  judged: readonly string[],
  routesFor: RouteAlert = () => [],
): Promise<{ raised: AlertRow[]; resolved: AlertRow[] }> {
  return transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('alerts', 0))`);
    const values = [
      alerts.map(() => randomId('alr')),
      alerts.map(({ kind }) => kind),
      alerts.map(({ integration }) => integration),
      alerts.map(({ subject }) => subject),
      alerts.map(({ severity }) => severity),
      alerts.map(({ message }) => message),
      alerts.map(({ detail }) => JSON.stringify(detail)),
      alerts.map(({ brands }) => (brands === undefined ? null : JSON.stringify(brands))),
    ];
    const { rows: open } = await tx.query<RoutableAlert & { fresh: boolean }>(
      `insert into alerts as a (alert_id, kind, integration, subject, severity, message, detail, brands)
       select distinct on (kind, integration, subject) alert_id, kind, integration, subject, severity, message, detail,
              case when brands is not null then array(select jsonb_array_elements_text(brands)) end
         from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::jsonb[], $8::jsonb[])
           as t (alert_id, kind, integration, subject, severity, message, detail, brands)
       on conflict (kind, integration, subject) where resolved_at is null do update
          set seen_at = now(), severity = excluded.severity, message = excluded.message, detail = excluded.detail, brands = excluded.brands
       returning ${columns}, brands, raised_at = seen_at as fresh`,
      values,
    );
    const { rows: resolved } = await tx.query<AlertRow>(
      `update alerts set resolved_at = now()
        where resolved_at is null and kind = any($4) and not exists (
          select from unnest($1::text[], $2::text[], $3::text[]) as t (kind, integration, subject)
           where t.kind = alerts.kind and t.integration = alerts.integration and t.subject = alerts.subject)
       returning ${columns}`,
      [values[1], values[2], values[3], judged],
    );
    // Includes alerts that were open before: their severity may have risen, or a route may be new.
    await enqueueSends(tx, open, resolved, routesFor);
    return { raised: open.filter(({ fresh }) => fresh).map(({ fresh: _, brands: __, ...row }) => row), resolved };
  });
}

/** The open alerts that many brands share. */
export async function sharedAlerts(db: Pool): Promise<Pick<AlertRow, 'kind' | 'subject'>[]> {
  const { rows } = await db.query<Pick<AlertRow, 'kind' | 'subject'>>(
    'select kind, subject from alerts where resolved_at is null and brands is not null',
  );
  return rows;
}

/** What concerns some brands: their own alerts, alerts that they share with others, and alerts of destinations that they feed. */
export interface Concern {
  readonly integrations: readonly string[];
  readonly destinations: readonly string[];
}

/** Alerts that concern every brand, or every brand that feeds their subject; `at` is the number of the parameter with the destinations. */
export const ofMany = (alert: string, at: number): string =>
  `(${alert}.kind = 'role_missing' or (${alert}.kind in ('destination_away', 'destination_failing') and ${alert}.subject = any($${at}::text[])))`;

/** The condition for an alert; `at` is the number of the first of the two parameters, see `concernParameters`. */
export const concerns = (at: number): string =>
  `($${at}::text[] is null or integration = any($${at}) or brands && $${at}
    or ${ofMany('alerts', at + 1)})`;

/** Nulls for a caller who may see everything. */
export const concernParameters = (concern: Concern | undefined) => [
  concern?.integrations ?? null,
  concern?.destinations ?? null,
];

export async function countOpenAlerts(db: Pool, concern: Concern | undefined): Promise<number> {
  const { rows } = await db.query<{ count: number }>(
    `select count(*)::int as count from alerts where resolved_at is null and ${concerns(1)}`,
    concernParameters(concern),
  );
  return rows[0]?.count ?? 0;
}

export interface AlertFilter {
  readonly open: boolean;
  readonly concern?: Concern | undefined;
  readonly before?: { readonly at: string; readonly id: string } | undefined;
  readonly limit: number;
}

/** Newest first. `brands` is how many share an alert. */
export async function listAlerts(db: Pool, filter: AlertFilter): Promise<(AlertRow & { brands: number | null })[]> {
  const { rows } = await db.query<AlertRow & { brands: number | null }>(
    `select ${columns}, cardinality(brands) as brands from alerts
      where (not $1 or resolved_at is null) and ${concerns(2)}
        and ($4::timestamptz is null or (date_trunc('milliseconds', raised_at), alert_id) < ($4, $5))
      order by date_trunc('milliseconds', raised_at) desc, alert_id desc limit $6`,
    [
      filter.open,
      ...concernParameters(filter.concern),
      filter.before?.at ?? null,
      filter.before?.id ?? '',
      filter.limit,
    ],
  );
  return rows;
}

export async function readAlert(db: Pool, alertId: string): Promise<AlertRow | undefined> {
  const { rows } = await db.query<AlertRow>(`select ${columns} from alerts where alert_id = $1`, [alertId]);
  return rows[0];
}

export async function acknowledgeAlert(db: Pool, alertId: string, by: string): Promise<AlertRow | undefined> {
  const { rows } = await db.query<AlertRow>(
    `update alerts set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, $2)
      where alert_id = $1 returning ${columns}`,
    [alertId, by],
  );
  return rows[0];
}
