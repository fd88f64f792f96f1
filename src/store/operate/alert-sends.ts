import type { ClaimedSend, SendStore } from '../../watch/send-alerts.ts';
import { rowsTable } from '../db/columns.ts';
import type { Pool, Tx } from '../db/pool.ts';
import { changeHeld, claimDue, isHeld, type LeasedTable } from '../lease.ts';
import type { AlertRow, RoutableAlert } from './alert-row.ts';

/** Which routes get an alert, and after how long. Decided in the transaction that raises or resolves it. */
export type RouteAlert = (
  alert: RoutableAlert,
  news: 'raised' | 'resolved',
) => readonly { readonly route: string; readonly waitMs: number }[];

const routed = rowsTable(1, { text: ['route', 'alert_id'], float8: ['wait'] });

/** Queues open alerts for the routes that have not sent them yet, and resolved alerts for the routes that have. */
export async function enqueueSends(
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
      const { rows } = await pool.query<ClaimedSend>(
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
      return rows;
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

export interface RouteState {
  readonly route: string;
  readonly waiting: number;
  readonly failing: number;
  readonly failure: string | null;
  readonly last_sent_at: Date | null;
}

/** The state of each route. After three failures in a row it is failing. */
export async function routeStates(db: Pool): Promise<RouteState[]> {
  const { rows } = await db.query<RouteState>(
    `select route, count(*) filter (where due_at is not null)::int as waiting,
            count(*) filter (where due_at is not null and attempt >= 3)::int as failing,
            (array_agg(failure order by due_at desc) filter (where due_at is not null and failure is not null))[1] as failure,
            max(sent_at) as last_sent_at
       from alert_sends group by route`,
  );
  return rows;
}
