import type { DeliveryTally } from '../../core/deliver/settle.ts';
import { rowsTable } from '../../core/store/db/columns.ts';
import { cellOf, type Pool, type Tx, transaction } from '../../core/store/db/pool.ts';

/** A transaction that began in a bucket may commit a little after its end. */
const settleMs = 3_000;
/** After a downtime of all nodes, at most this many ten-second buckets are counted late. Hours are counted in full. */
const mostBuckets = 90;

/**
 * Counts the events, pulls and changes of the buckets that ended since the last call, each once, on one node at a time; what was
 * delivered, each node adds itself (`addTally`). Returns the number of buckets. Rows that a very long transaction commits late are missing
 * from the ten-second buckets, but not from the hours, which are counted later.
 */
export async function countActivity(pool: Pool): Promise<number> {
  return transaction(pool, async (tx) => {
    if (!(await cellOf(tx)(`select pg_try_advisory_xact_lock(hashtextextended('activity', 0))`))) return 0;
    const { rows: buckets } = await tx.query<{ from: Date; to: Date; step: '10s' | '1h' }>(
      `with ends as (
         select '10s' as step, interval '10 seconds' as size,
                to_timestamp(floor(extract(epoch from now() - $1 * interval '1 ms') / 10) * 10) as until, $2::int as most
         union all
         select '1h', interval '1 hour', date_trunc('hour', now() - interval '5 minutes'), 800
       ), froms as (
         select e.*, greatest(coalesce(m.at, case when e.step = '10s' then e.until - interval '10 minutes'
                                else date_trunc('hour', least((select min(received_at) from events),
                                                              (select min(queued_at) from runs), e.until)) end),
                              e.until - e.most * e.size) as since
           from ends e left join marks m on m.name = 'activity ' || e.step
       )
       select step, b as "from", b + size as "to" from froms, generate_series(since, until - size, size) as b order by 2`,
      [settleMs, mostBuckets],
    );
    for (const { step, from, to } of buckets) await countBucket(tx, step, from, to);
    for (const step of ['10s', '1h'] as const) {
      const last = buckets.findLast((bucket) => bucket.step === step);
      if (!last) continue;
      await tx.query(`insert into marks (name, at) values ($1, $2) on conflict (name) do update set at = excluded.at`, [
        `activity ${step}`,
        last.to,
      ]);
    }
    return buckets.length;
  });
}

async function countBucket(tx: Tx, step: string, from: Date, to: Date) {
  await tx.query(
    `with counted as (
       select integration, sum(events) as events, sum(pulls) as pulls, sum(changes) as changes, sum(waiting) as waiting,
              sum(rows) as rows, sum(run_ms) as run_ms, sum(dead_rows) as dead_rows, sum(dead_events) as dead_events
         from (
           select integration, count(*)::int as events, 0 as pulls, 0 as changes, 0 as waiting, 0 as rows, 0 as run_ms,
                  0 as dead_rows, count(*) filter (where state = 'dead') as dead_events
             from events where received_at >= $2 and received_at < $3 group by integration
           union all
           select integration, 0, count(*)::int, 0, 0, sum(fetched), sum(extract(epoch from finished_at - started_at) * 1000),
                  sum(dead), 0
             from runs where finished_at >= $2 and finished_at < $3 and fetched > 0 and sync <> 'backfill' group by integration
           union all
           select integration, 0, 0, count(*)::int, 0, 0, 0, 0, 0
             from history where at >= $2 and at < $3 and diff is not null group by integration
           union all
           select integration, 0, 0, 0, count(*)::int, 0, 0, 0, 0 from outbox
            where due_at is not null and destination not like 'innbound:%' and $1 = '10s' and now() - $3 < interval '30 seconds'
            group by integration
           union all
           -- The highest backlog of the hour's ten-second steps.
           select integration, 0, 0, 0, max(waiting), 0, 0, 0, 0
             from activity where $1 = '1h' and step = '10s' and at >= $2 and at < $3 and waiting > 0 group by integration
         ) one group by integration
     ), added as (
       insert into activity as a (integration, step, at, events, pulls, changes, waiting, rows, run_ms, dead_rows, dead_events)
       select integration, $1, $2, events, pulls, changes, waiting, rows, run_ms, dead_rows, dead_events from counted
           on conflict (integration, step, at) do update
          set events = excluded.events, pulls = excluded.pulls, changes = excluded.changes, waiting = excluded.waiting,
              rows = excluded.rows, run_ms = excluded.run_ms, dead_rows = excluded.dead_rows, dead_events = excluded.dead_events)
     insert into activity as a (integration, step, at, events, changes)
     select integration, 'ever', 'epoch', events, changes from counted where $1 = '10s'
         on conflict (integration, step, at) do update set events = a.events + excluded.events, changes = a.changes + excluded.changes`,
    [step, from, to],
  );
}

const newest = rowsTable(1, { text: ['name'], float8: ['ms'] });
const tallied = rowsTable(1, {
  text: ['integration', 'latency'],
  float8: ['ms'],
  int: ['delivered', 'retried', 'dead'],
});

/** Adds what this node delivered to the activity of its brands, for the ten-second steps that have ended and their hours. */
export async function addTally(pool: Pool, tally: DeliveryTally, nowMs: number): Promise<void> {
  const destinations = tally.takeDestinations();
  if (destinations.size > 0) {
    await pool.query(
      `insert into remotes as r (kind, name, delivered_at)
       select 'destination', name, to_timestamp(ms / 1000) from ${newest.sql} order by name
           on conflict (kind, name) do update set delivered_at = greatest(r.delivered_at, excluded.delivered_at)`,
      newest.values([...destinations].map(([name, ms]) => ({ name, ms }))),
    );
  }
  const taken = tally.take(nowMs);
  if (taken.length === 0) return;
  await pool.query(
    `with tallied as (
       select integration, to_timestamp(ms / 1000) as at, delivered, retried, dead, latency::int[] as latency
         from ${tallied.sql}
     )
     insert into activity as a (integration, step, at, delivered, retried, dead, latency)
     select * from (
       select integration, '10s', at, delivered, retried, dead, latency from tallied
       union all
       select integration, '1h', hour, sum(delivered), sum(retried), sum(dead),
              array(select sum(count)::int from tallied same, unnest(latency) with ordinality as l (count, bucket)
                     where same.integration = t.integration and date_trunc('hour', same.at, 'UTC') = hour group by bucket order by bucket)
         from (select *, date_trunc('hour', at, 'UTC') as hour from tallied) t group by integration, hour
       union all
       select integration, 'ever', 'epoch', sum(delivered), sum(retried), sum(dead), null from tallied group by integration
     ) steps order by 1, 2, 3
         on conflict (integration, step, at) do update
        set delivered = a.delivered + excluded.delivered, retried = a.retried + excluded.retried, dead = a.dead + excluded.dead,
            latency = (select array_agg(coalesce(one, 0) + coalesce(other, 0) order by bucket)
                         from unnest(a.latency, excluded.latency) with ordinality as l (one, other, bucket))`,
    tallied.values(taken.map(({ at, latency, ...one }) => ({ ...one, ms: at, latency: `{${latency.join(',')}}` }))),
  );
}
