import type { WindowFinding } from '../../intake/pull/run/run-state.ts';
import type { ShownExchange } from '../../outbound/ask/exchange.ts';
import { cellOf, type Pool, rowOf, rowsOf, type UnreadRow } from '../db/pool.ts';
import { counterColumns } from './row.ts';

type ShownCounter = Exclude<(typeof counterColumns)[keyof typeof counterColumns], 'dead'>;

/** A run as the API and the CLI show it. */
export interface RunSummary extends Readonly<Record<ShownCounter | 'dead_lettered', number>> {
  readonly run_id: string;
  readonly integration: string;
  readonly sync: string;
  readonly kind: string;
  readonly status: string;
  readonly waiting: string | null;
  readonly from: string | null;
  readonly to: string | null;
  readonly requested_by: string;
  readonly queued_at: Date;
  readonly started_at: Date | null;
  readonly finished_at: Date | null;
  readonly node: string | null;
  readonly error_code: string | null;
  /** Our words only. */
  readonly error_message: string | null;
  readonly has_partner_text: boolean;
}

export interface RunDetail extends RunSummary {
  readonly connector_version: number | null;
  readonly integration_version: number | null;
  readonly findings: readonly WindowFinding[];
  /** Without credentials and guest data. */
  readonly last_request: ShownExchange | null;
  readonly windows: readonly WindowSummary[];
}

/** Requests, rows and changes of one window. */
interface WindowSummary
  extends Readonly<
    Record<
      'passes' | 'pages' | 'requests' | 'waited_ms' | 'rows' | 'fresh' | 'changed' | 'bytes' | 'longest_ms',
      number
    >
  > {
  readonly from: string;
  readonly to: string;
  readonly asked_at: Date;
}

interface RunFilter {
  readonly integration?: string | undefined;
  readonly sync?: string | undefined;
  readonly status?: string | undefined;
  /** Limits the list to these brands, for callers with a brand scope. */
  readonly integrations?: readonly string[] | undefined;
  /** For paging: only runs queued before this one. The id decides between runs queued in the same millisecond. */
  readonly before?: { readonly at: string; readonly id: string } | undefined;
  readonly limit: number;
}

const counters = Object.values(counterColumns)
  .filter((column) => column !== 'dead')
  .join(', ');
/** The requested range, or the one fixed in the run's position. */
const columns = `run_id, integration, sync, kind, state as status, waiting,
  coalesce(from_date::text, position->>'from') as "from", coalesce(to_date::text, position->>'to') as "to",
  requested_by, queued_at, started_at, finished_at, node, ${counters}, dead as dead_lettered, error_code, error_message,
  partner_text is not null as has_partner_text`;

/** Newest first. */
export const listRuns = (pool: Pool, filter: RunFilter): Promise<RunSummary[]> =>
  rowsOf(pool)(
    `select ${columns} from runs
      where ($1::text is null or integration = $1) and ($2::text is null or sync = $2) and ($3::text is null or state = $3)
        and ($4::timestamptz is null or queued_at < $4 + interval '1 ms' and (date_trunc('milliseconds', queued_at), run_id) < ($4, $7))
        and ($6::text[] is null or integration = any($6))
      order by queued_at desc, run_id desc limit $5`,
    [
      filter.integration,
      filter.sync,
      filter.status,
      filter.before?.at,
      filter.limit,
      filter.integrations,
      filter.before?.id ?? '',
    ],
  );

export async function runDetail(pool: Pool, runId: string): Promise<RunDetail | undefined> {
  const run = await rowOf(pool)<Omit<RunDetail, 'windows'>>(
    `select ${columns}, connector_version, integration_version, findings, last_request from runs where run_id = $1`,
    [runId],
  );
  if (run === undefined) return undefined;
  const windows = await rowsOf(pool)<WindowSummary>(
    `select window_from as "from", window_to as "to", max(pass) as passes, count(*) as pages, sum(tries) as requests,
            sum(waited_ms) as waited_ms, sum(rows) as rows, sum(fresh) as fresh, sum(changed) as changed, sum(bytes) as bytes,
            max(duration_ms) as longest_ms, min(requested_at) as asked_at
       from run_pages where integration = $1 and run_id = $2
      group by window_from, window_to order by min(page_no)`,
    [run.integration, runId],
  );
  return { ...run, windows };
}

/** The partner's own words about the error that ended the run: payload, as it may quote guest data. */
export async function runPartnerText(pool: Pool, runId: string): Promise<string | undefined> {
  return (await cellOf(pool)<string | null>('select partner_text from runs where run_id = $1', [runId])) ?? undefined;
}

/** What became of the rows of a run. Together they are all that it fetched. */
export type RowOutcome = 'changed' | 'unchanged' | 'superseded' | 'skipped' | 'dropped' | 'dead' | 'held';

export interface RunRow {
  readonly integration: string;
  /** Null for a dead letter without a readable id. */
  readonly id: string | null;
  readonly version: number | null;
  /** The rule that dropped it, why it was superseded, or what is wrong with it. */
  readonly reason: string | null;
  readonly dead_letter_id: string | null;
}

/** The history has no index by run, so it is searched in the time of the run, with a margin for the last commit. */
const during = `at >= $2::timestamptz - interval '1 minute' and at <= coalesce($3::timestamptz, now()) + interval '1 minute'`;
const ofHistory = (outcomes: string) =>
  `select integration, id, version, reason, null as dead_letter_id from history
    where ${during} and cause = 'run' and cause_id = $1 and type = 'reservation' and outcome in (${outcomes})`;

const statements: Readonly<Record<RowOutcome, string>> = {
  changed: ofHistory(`'created', 'updated', 'cancelled', 'erased', 'removed'`),
  superseded: ofHistory(`'superseded'`),
  dropped: ofHistory(`'dropped'`),
  held: ofHistory(`'held'`),
  unchanged: `select s.integration, i.id, null::int as version, null as reason, null as dead_letter_id
                from sightings s cross join unnest(s.ids) as i (id)
               where s.run_id = $1 and s.requested_at >= $2::timestamptz - interval '1 minute'
                 and s.requested_at <= coalesce($3::timestamptz, now()) + interval '1 minute'
               union all ${ofHistory(`'unchanged'`)}`,
  skipped: `select p.integration, i.id, null::int as version, null as reason, null as dead_letter_id
              from run_pages p cross join unnest(p.skipped) as i (id) where p.integration = $4 and p.run_id = $1`,
  // A record that fails again counts for the newest run, so the history knows the older ones.
  dead: `select d.integration, d.id, null::int as version, d.message as reason, d.dead_letter_id::text as dead_letter_id
           from dead_letters d where d.cause = 'run' and d.cause_id = $1
            and d.last_at >= $2::timestamptz - interval '1 minute'
          union all select h.integration, h.id, null, h.reason, null from (${ofHistory(`'dead'`)}) h
           where not exists (select from dead_letters d where d.integration = h.integration and d.type = 'reservation'
                                and d.id = h.id and d.cause_id = $1)`,
};

/** The rows of a run with one outcome, by id; at most `limit`. */
export async function runRows(
  db: Pool,
  { run_id, integration, queued_at, finished_at }: RunSummary,
  outcome: RowOutcome,
  limit: number,
): Promise<RunRow[]> {
  // The condition gives every parameter its type: no outcome needs all of them.
  return rowsOf(db)<RunRow>(
    `select distinct integration, id, version, reason, dead_letter_id from (${statements[outcome]}) t
      where ($1::text, $2::timestamptz, $3::timestamptz, $4::text) is not null or true order by integration, id nulls first, version limit $5`,
    [run_id, queued_at, finished_at, integration, limit],
  );
}

export async function firstEventAt(pool: Pool, integration: string): Promise<Date | null> {
  return (
    (await cellOf(pool)<Date>('select min(received_at) from events where integration = $1', [integration])) ?? null
  );
}

/**
 * Changes that polls found and no event reported, by day in UTC: changes made by a run without an event for the same reservation from an
 * hour before to ten minutes after. Changes from before the brand's first event are not counted.
 */
export const pushGaps = (pool: Pool, integration: string, days: number): Promise<UnreadRow[]> =>
  rowsOf(pool)(
    `with first as (
       select min(received_at) as at from events where integration = $1
     ), missed as (
       select r.id, r.outcome, (r.at at time zone 'UTC')::date as day from history r, first
        where r.integration = $1 and r.type = 'reservation' and r.cause = 'run'
          and r.outcome in ('created', 'updated', 'cancelled')
          and r.at > now() - $2 * interval '1 day' and r.at > first.at and r.at < now() - interval '10 minutes'
          and not exists (
            select from history e
             where e.integration = r.integration and e.type = r.type and e.id = r.id and e.cause = 'event'
               and e.at between r.at - interval '1 hour' and r.at + interval '10 minutes')
          and not exists (
            select from events e
             where e.integration = r.integration and e.type = r.type and e.id = r.id and e.outcome in ('unchanged', 'superseded')
               and e.received_at between r.at - interval '1 hour' and r.at + interval '10 minutes')
     ), taken as (
       select (received_at at time zone 'UTC')::date as day, count(*)::int as events from events
        where integration = $1 and received_at > now() - $2 * interval '1 day' group by 1
     )
     select to_char(coalesce(m.day, t.day), 'YYYY-MM-DD') as day, coalesce(t.events, 0) as events,
            coalesce(m.created, 0) as created, coalesce(m.updated, 0) as updated, coalesce(m.cancelled, 0) as cancelled,
            coalesce(m.examples, '{}') as examples
       from (select day, count(*) filter (where outcome = 'created')::int as created,
                    count(*) filter (where outcome = 'updated')::int as updated,
                    count(*) filter (where outcome = 'cancelled')::int as cancelled,
                    (array_agg(distinct id))[1:5] as examples
               from missed group by day) m
       full join taken t on t.day = m.day
      order by 1 desc`,
    [integration, days],
  );

export const runIntegration = (db: Pool, runId: string): Promise<string | undefined> =>
  cellOf(db)('select integration from runs where run_id = $1', [runId]);
