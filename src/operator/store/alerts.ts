import { z } from 'zod';
import { rowsTable } from '../../core/store/db/columns.ts';
import { numberOf, type Pool, rowOf, rowsOf, type Tx, transaction } from '../../core/store/db/pool.ts';
import { changeHeld, claimDue, isHeld, type LeasedTable } from '../../core/store/lease.ts';
import { randomId } from '../../kit/ids.ts';
import type { Alert as JudgedAlert } from '../watch/alerts.ts';
import { causeOfAlert, causeText } from '../watch/causes.ts';
import type { Facts } from '../watch/facts.ts';
import type { ClaimedSend, SendStore } from '../watch/send-alerts.ts';
import { anyJson, instant, type Row } from './answers.ts';

/** Of any kind. */
export type Alert = Omit<JudgedAlert, 'kind'> & { readonly kind: string };

export const alertSchema = z.object({
  alert_id: z.string(),
  kind: z.string(),
  integration: z.string().describe('Empty when the alert concerns the whole service.'),
  subject: z.string(),
  severity: z.enum(['warning', 'critical']),
  message: z.string(),
  detail: anyJson,
  raised_at: instant,
  seen_at: instant,
  acknowledged_at: instant.nullable(),
  acknowledged_by: z.string().nullable(),
  resolved_at: instant.nullable(),
});
export type AlertRow = Row<typeof alertSchema>;

const columns = Object.keys(alertSchema.shape).join(', ');

const judgedAlerts = rowsTable(1, {
  text: [
    'alert_id',
    'kind',
    'integration',
    'subject',
    'severity',
    'message',
    'detail',
    'brands',
    'cause',
    'incident_id',
  ],
});
const standing = rowsTable(2, { text: ['kind', 'integration', 'subject'] });

/** A cause that returns within this time continues its incident. */
const againWithin = `interval '30 minutes'`;

/**
 * Makes the open alerts match the current conditions: raises new ones, each in the incident of its cause, refreshes known ones and resolves
 * those whose condition is gone. Alerts of kinds that were not evaluated this time do not change.
 */
export async function settleAlerts(
  pool: Pool,
  alerts: readonly Alert[],
  judged: readonly string[],
  routesFor: RouteAlert = () => [],
): Promise<{ raised: AlertRow[]; resolved: AlertRow[] }> {
  return transaction(pool, async (tx) => {
    await tx.query(`select pg_advisory_xact_lock(hashtextextended('alerts', 0))`);
    const begun = new Map<string, string>();
    const values = alerts.map(({ detail, brands, ...one }) => {
      const cause = causeText(causeOfAlert(one));
      return {
        ...one,
        alert_id: randomId('alr'),
        detail: JSON.stringify(detail),
        brands: brands && JSON.stringify(brands),
        cause,
        incident_id: begun.getOrInsertComputed(cause, () => randomId('inc')),
      };
    });
    const { rows: open } = await tx.query<RoutableAlert & { fresh: boolean }>(
      `insert into alerts as a (alert_id, kind, integration, subject, severity, message, detail, brands, cause, incident_id)
       select distinct on (kind, integration, subject) alert_id, kind, integration, subject, severity, message, detail::jsonb,
              case when brands is not null then array(select jsonb_array_elements_text(brands::jsonb)) end, cause,
              coalesce((select o.incident_id from alerts o
                         where o.cause = t.cause and (o.resolved_at is null or o.resolved_at > now() - ${againWithin})
                         order by o.raised_at desc limit 1), incident_id)
         from ${judgedAlerts.sql}
       on conflict (kind, integration, subject) where resolved_at is null do update
          set seen_at = now(), severity = excluded.severity, message = excluded.message, detail = excluded.detail, brands = excluded.brands
       returning ${columns}, brands, raised_at = seen_at as fresh`,
      judgedAlerts.values(values),
    );
    const { rows: resolved } = await tx.query<AlertRow>(
      `update alerts set resolved_at = now()
        where resolved_at is null and kind = any($1) and not exists (
          select from ${standing.sql}
           where t.kind = alerts.kind and t.integration = alerts.integration and t.subject = alerts.subject)
       returning ${columns}`,
      [judged, ...standing.values(values)],
    );
    // Includes alerts that were open before: their severity may have risen, or a route may be new.
    await enqueueSends(tx, open, resolved, routesFor);
    return { raised: open.filter(({ fresh }) => fresh).map(({ fresh: _, brands: __, ...row }) => row), resolved };
  });
}

/** The open alerts that many brands share. */
export const sharedAlerts = (db: Pool): Promise<Facts['shared']> =>
  rowsOf(db)('select kind, subject from alerts where resolved_at is null and brands is not null');

/** What concerns some brands: their own alerts, alerts that they share with others, and alerts of destinations that they feed. */
export interface Concern {
  readonly integrations: readonly string[];
  readonly destinations: readonly string[];
}

/** Alerts that concern every brand, or every brand that feeds their subject; `at` is the number of the parameter with the destinations. */
export const ofMany = (alert: string, at: number): string =>
  `(${alert}.kind = 'role_missing' or (${alert}.kind in ('destination_away', 'destination_failing', 'destination_refusing') and ${alert}.subject = any($${at}::text[])))`;

/** The condition for an alert; `at` is the number of the first of the two parameters, see `concernParameters`. */
export const concerns = (at: number): string =>
  `($${at}::text[] is null or integration = any($${at}) or brands && $${at}
    or ${ofMany('alerts', at + 1)})`;

/** Nulls for a caller who may see everything. */
export const concernParameters = (concern: Concern | undefined) => [concern?.integrations, concern?.destinations];

export const countOpenAlerts = (db: Pool, concern: Concern | undefined): Promise<number> =>
  numberOf(db)(
    `select count(*)::int as count from alerts where resolved_at is null and ${concerns(1)}`,
    concernParameters(concern),
  );

interface AlertFilter {
  readonly open: boolean;
  readonly concern?: Concern | undefined;
  readonly before?: { readonly at: string; readonly id: string } | undefined;
  readonly limit: number;
}

/** Newest first. `brands` is how many share an alert. */
export const listAlerts = (db: Pool, filter: AlertFilter): Promise<(AlertRow & { brands: number | null })[]> =>
  rowsOf(db)(
    `select ${columns}, cardinality(brands) as brands from alerts
      where (not $1 or resolved_at is null) and ${concerns(2)}
        and ($4::timestamptz is null or (date_trunc('milliseconds', raised_at), alert_id) < ($4, $5))
      order by date_trunc('milliseconds', raised_at) desc, alert_id desc limit $6`,
    [filter.open, ...concernParameters(filter.concern), filter.before?.at, filter.before?.id ?? '', filter.limit],
  );

export const readAlert = (db: Pool, alertId: string): Promise<AlertRow | undefined> =>
  rowOf(db)(`select ${columns} from alerts where alert_id = $1`, [alertId]);

export const acknowledgeAlert = (db: Pool, alertId: string, by: string): Promise<AlertRow | undefined> =>
  rowOf(db)(
    `update alerts set acknowledged_at = coalesce(acknowledged_at, now()), acknowledged_by = coalesce(acknowledged_by, $2)
      where alert_id = $1 returning ${columns}`,
    [alertId, by],
  );

/** With all brands that share the alert; null for an alert of one brand or of the service. */
export interface RoutableAlert extends AlertRow {
  readonly brands?: readonly string[] | null;
}

/** Which routes get an alert, and after how long. Decided in the transaction that raises or resolves it. */
type RouteAlert = (
  alert: RoutableAlert,
  news: 'raised' | 'resolved',
) => readonly { readonly route: string; readonly waitMs: number }[];

const routed = rowsTable(1, { text: ['route', 'alert_id'], float8: ['wait'] });

/** Queues open alerts for the routes that have not sent them yet, and resolved alerts for the routes that have. */
async function enqueueSends(
  tx: Tx,
  open: readonly RoutableAlert[],
  resolved: readonly AlertRow[],
  routesFor: RouteAlert,
): Promise<void> {
  const sendsOf = (alerts: readonly RoutableAlert[], news: 'raised' | 'resolved') =>
    alerts.flatMap((alert) =>
      routesFor(alert, news).map(({ route, waitMs }) => ({ route, alert_id: alert.alert_id, wait: waitMs })),
    );
  const raised = sendsOf(open, 'raised');
  if (raised.length > 0) {
    await tx.query(
      `insert into alert_sends (route, alert_id, due_at)
       select route, alert_id, now() + wait * interval '1 ms' from ${routed.sql}
       on conflict do nothing`,
      routed.values(raised),
    );
  }
  if (resolved.length === 0) return;
  const ended = sendsOf(resolved, 'resolved');
  // A route that has not sent the alert yet is not queued again: it finds the alert resolved at its next claim.
  await tx.query(
    `update alert_sends s set due_at = now() + t.wait * interval '1 ms'
       from ${routed.sql}
      where s.route = t.route and s.alert_id = t.alert_id and s.sent = 'raised' and s.due_at is null`,
    routed.values(ended),
  );
}

const sendTable: LeasedTable = { name: 'alert_sends', key: ['route', 'alert_id'] };

export function sendStore(pool: Pool): SendStore {
  return {
    claim: async (limit, leaseMs) => {
      return rowsOf(pool)<ClaimedSend>(
        `with ${claimDue(sendTable, {
          set: 'leased = true',
          returning: 't.route, t.alert_id, t.sent, t.fence, t.attempt, due.leased or t.attempt > 0 as tried',
        })}
         select c.route, c.sent, c.fence, c.attempt, c.tried,
                json_build_object('alert_id', a.alert_id, 'kind', a.kind, 'integration', a.integration, 'subject', a.subject,
                                  'severity', a.severity, 'message', a.message, 'detail', a.detail) as alert,
                a.raised_at, a.resolved_at, a.raised_at < now() - interval '1 day' and a.resolved_at is null as stale
           from claimed c join alerts a using (alert_id) order by a.raised_at`,
        [limit, leaseMs],
      );
    },
    settle: async ({ route, alert, fence }, outcome) => {
      const held = [route, alert.alert_id, fence] as const;
      const change = (set: string, ...values: unknown[]) => changeHeld(pool, sendTable, held, set, values);
      if (outcome.kind === 'retry') {
        const set = `due_at = now() + $4 * interval '1 ms', leased = false, attempt = attempt + 1, failure = $5`;
        await change(set, outcome.delayMs, outcome.message);
        return;
      }
      if (outcome.kind === 'rest') {
        await change('due_at = null, leased = false');
        return;
      }
      if (outcome.kind === 'dropped') {
        await pool.query(`delete from alert_sends where ${isHeld(sendTable)}`, [...held]);
        return;
      }
      // An alert that ended meanwhile is due again at once.
      await change(
        `sent = $4, sent_at = now(), leased = false, attempt = 0, failure = null,
         due_at = case when $4 = 'raised' and
                            (select a.resolved_at from alerts a where a.alert_id = alert_sends.alert_id) is not null then now() end`,
        outcome.news,
      );
    },
  };
}

type RouteState = Facts['alertRoutes'][number] & { readonly failing: number; readonly last_sent_at: Date | null };

/** The state of each route. After three failures in a row it is failing. */
export const routeStates = (db: Pool): Promise<RouteState[]> =>
  rowsOf(db)(
    `select route, count(*) filter (where due_at is not null)::int as waiting,
            count(*) filter (where due_at is not null and attempt >= 3)::int as failing,
            (array_agg(failure order by due_at desc) filter (where due_at is not null and failure is not null))[1] as failure,
            max(sent_at) as last_sent_at
       from alert_sends group by route`,
  );
