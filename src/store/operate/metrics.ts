import type { Pool } from '../db/pool.ts';

interface Totals {
  readonly integration: string;
  readonly events: number;
  readonly changes: number;
  readonly delivered: number;
  readonly retried: number;
  readonly dead: number;
}

export interface MetricRows {
  readonly totals: readonly Totals[];
  readonly held: readonly { readonly integration: string; readonly rows: number }[];
  readonly deadLetters: readonly { readonly integration: string; readonly kind: string; readonly open: number }[];
  readonly alerts: readonly {
    readonly integration: string;
    readonly kind: string;
    readonly severity: string;
    readonly open: number;
  }[];
  readonly runs: readonly {
    readonly integration: string;
    readonly sync: string;
    readonly state: string;
    readonly finished: number;
  }[];
  readonly going: number;
  readonly pendingEvents: readonly { readonly integration: string; readonly pending: number }[];
  readonly lastEvents: readonly { readonly integration: string; readonly at: number }[];
}

/** The store's metrics for one scrape, in a few cheap statements; one after another, so that a scrape takes one connection. */
export async function readMetrics(db: Pool, integrations: readonly string[]): Promise<MetricRows> {
  const rows = async <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    (await db.query(sql, values)).rows as Row[];
  const [running] = await rows<{ going: number }>(
    `select count(*)::int as going from runs where state in ('queued', 'running')`,
  );
  return {
    totals: await rows(
      "select integration, events, changes, delivered, retried, dead from activity where step = 'ever'",
    ),
    deadLetters: await rows(
      `select integration, kind, count(*)::int as open from dead_letters where state = 'open' and code <> 'record.held' group by 1, 2`,
    ),
    held: await rows(
      `select integration, count(*)::int as rows from dead_letters where state = 'open' and code = 'record.held' group by 1`,
    ),
    alerts: await rows(
      `select integration, kind, severity, count(*)::int as open from alerts where resolved_at is null group by 1, 2, 3`,
    ),
    runs: await rows(
      `select distinct on (integration, sync) integration, sync, state, extract(epoch from finished_at)::float8 as finished
         from runs where integration = any($1) and finished_at is not null and queued_at > now() - interval '2 days'
        order by integration, sync, queued_at desc`,
      [integrations],
    ),
    going: running?.going ?? 0,
    pendingEvents: await rows(
      `select integration, count(*)::int as pending from events where state = 'pending' group by 1`,
    ),
    lastEvents: await rows(
      `select n as integration, extract(epoch from e.received_at)::float8 as at from unnest($1::text[]) as n,
              lateral (select received_at from events where integration = n order by seq desc limit 1) e`,
      [integrations],
    ),
  };
}
