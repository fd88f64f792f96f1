import type { Finding } from '../../intake/pull/run/run-state.ts';
import type { Exchange } from '../../outbound/ask/exchange.ts';
import type { Pool } from '../db/pool.ts';
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
  readonly findings: readonly Finding[];
  /** Without credentials and guest data. */
  readonly last_request: Exchange | null;
  readonly windows: readonly WindowSummary[];
}

/** Requests, rows and changes of one window. */
export interface WindowSummary {
  readonly from: string;
  readonly to: string;
  readonly passes: number;
  readonly pages: number;
  readonly requests: number;
  readonly waited_ms: number;
  readonly rows: number;
  readonly fresh: number;
  readonly changed: number;
  readonly bytes: number;
  readonly longest_ms: number;
  readonly asked_at: Date;
}

export interface RunFilter {
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
export async function listRuns(pool: Pool, filter: RunFilter): Promise<RunSummary[]> {
  const { rows } = await pool.query<RunSummary>(
    `select ${columns} from runs
      where ($1::text is null or integration = $1) and ($2::text is null or sync = $2) and ($3::text is null or state = $3)
        and ($4::timestamptz is null or queued_at < $4 + interval '1 ms' and (date_trunc('milliseconds', queued_at), run_id) < ($4, $7))
        and ($6::text[] is null or integration = any($6))
      order by queued_at desc, run_id desc limit $5`,
    [
      filter.integration ?? null,
      filter.sync ?? null,
      filter.status ?? null,
      filter.before?.at ?? null,
      filter.limit,
      filter.integrations ?? null,
      filter.before?.id ?? '',
    ],
  );
  return rows;
}

export async function runDetail(pool: Pool, runId: string): Promise<RunDetail | undefined> {
  const { rows } = await pool.query<Omit<RunDetail, 'windows'>>(
    `select ${columns}, connector_version, integration_version, findings, last_request from runs where run_id = $1`,
    [runId],
  );
  const [run] = rows;
  if (run === undefined) return undefined;
  const windows = await pool.query<WindowSummary>(
    `select window_from as "from", window_to as "to", max(pass) as passes, count(*) as pages, sum(tries) as requests,
            sum(waited_ms) as waited_ms, sum(rows) as rows, sum(fresh) as fresh, sum(changed) as changed, sum(bytes) as bytes,
            max(duration_ms) as longest_ms, min(requested_at) as asked_at
       from run_pages where integration = $1 and run_id = $2
      group by window_from, window_to order by min(page_no)`,
    [run.integration, runId],
  );
  return { ...run, windows: windows.rows };
}

/** The partner's own words about the error that ended the run: payload, as it may quote guest data. */
export async function runPartnerText(pool: Pool, runId: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ partner_text: string | null }>(
    'select partner_text from runs where run_id = $1',
    [runId],
  );
  return rows[0]?.partner_text ?? undefined;
}
