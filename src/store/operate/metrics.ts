import type { Pool } from '../db/pool.ts';

export type MetricRows = Awaited<ReturnType<typeof readMetrics>>;

/** The store's metrics for one scrape, in a few cheap statements; one after another, so that a scrape takes one connection. */
export async function readMetrics(db: Pool, integrations: readonly string[]) {
  const rows = async <Row>(sql: string, values: unknown[] = []): Promise<(Row & { integration: string })[]> =>
    (await db.query(sql, values)).rows;
  const { rows: runs } = await db.query<{ going: number }>(
    `select count(*)::int as going from runs where state in ('queued', 'running')`,
  );
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
    going: runs[0]?.going ?? 0,
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
