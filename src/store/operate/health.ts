import type { LaneKey } from '../../deliver/queued-lanes.ts';
import { percentileMs } from '../../kit/histogram.ts';
import type { Pool } from '../db/pool.ts';
import type { AlertRow } from './alert-row.ts';
import { type Concern, ofMany } from './alerts.ts';

/** Facts about the health of brands, one statement each. All are cheap enough to read every few seconds. */

export interface RetryingLane extends LaneKey {
  readonly retrying: number;
  readonly last_failure: string | null;
  readonly delivered_since: boolean;
}

/**
 * The lanes with deliveries that wait after a failed attempt. The reason comes from the delivery that is due next, found by the
 * outbox's index.
 */
export async function retryingLanes(db: Pool, lanes: readonly LaneKey[]): Promise<RetryingLane[]> {
  const { rows } = await db.query<RetryingLane>(
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
    [lanes.map(({ integration }) => integration), lanes.map(({ destination }) => destination)],
  );
  return rows;
}

export interface WaitingRun {
  readonly integration: string;
  readonly sync: string;
  readonly waiting: string;
}

/** Runs in progress that wait: parked, or holding their slot. */
export async function waitingRuns(db: Pool, integrations: readonly string[]): Promise<WaitingRun[]> {
  const { rows } = await db.query<WaitingRun>(
    `select integration, sync, waiting from runs
      where integration = any($1) and state in ('queued', 'running') and waiting is not null order by integration, sync`,
    [integrations],
  );
  return rows;
}

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
export async function openAlertsOf(db: Pool, { integrations, destinations }: Concern): Promise<OpenAlert[]> {
  const { rows } = await db.query<OpenAlert>(
    `select b.integration, a.kind, a.subject, a.severity, a.message, cardinality(a.brands) as brands from alerts a
      cross join lateral unnest(coalesce(a.brands, array[a.integration])) as b (integration)
      where a.resolved_at is null
        and (b.integration = any($1) or (b.integration = '' and ${ofMany('a', 2)}))
      order by a.raised_at`,
    [integrations, destinations],
  );
  return rows;
}
